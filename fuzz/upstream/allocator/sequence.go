package main

import (
	"encoding/json"
	"fmt"
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

var sequenceKeys = append(slices.DeleteFunc(slices.Clone(allocateKeys), func(key string) bool { return key == "claims" }), "pods")

// pod asks for claims of its own, or once more for those of an earlier pod, which are the same objects then.
type pod struct {
	Claims json.RawMessage `json:"claims"`
	Again  *int            `json:"again"`
	// Drop says that what the pod gets is not kept, as for a pod that is bound elsewhere.
	Drop bool `json:"drop"`
}

// sequence asks for one pod after the other as the scheduler does: with a new allocator each, on the same slices and
// classes, which it holds by reference; what a pod got is allocated for the next.
func sequence(raw map[string]json.RawMessage) (answer, error) {
	call, err := readAllocation(raw)
	if err != nil {
		return nil, err
	}
	features, err := call.selectorFeatures()
	if err != nil {
		return nil, err
	}
	var pods []pod
	if err := decode(raw, "pods", &pods); err != nil {
		return nil, err
	}
	asked := make([][]*resourceapi.ResourceClaim, len(pods))
	cache := dracel.NewCache(celCacheSize, features)
	answers := []answer{}
	for index, each := range pods {
		if each.Again != nil {
			if *each.Again < 0 || *each.Again >= index {
				return nil, fmt.Errorf("pods[%d].again: no earlier pod", index)
			}
			asked[index] = asked[*each.Again]
		} else if err := decodeObject(each.Claims, &asked[index]); err != nil {
			return nil, fmt.Errorf("pods[%d].claims: %w", index, err)
		}
		call.claims = asked[index]
		given, results := call.ask(cache)
		// Written down at once: what the results share with claims and slices may still change.
		text, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		kept := answer{}
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, err
		}
		answers = append(answers, kept)
		if !each.Drop {
			take(call.state, results)
		}
	}
	return answer{"answers": answers}, nil
}

// take counts what a pod got as allocated; admin access holds nothing.
func take(state structured.AllocatedState, results []resourceapi.AllocationResult) {
	for _, result := range results {
		for _, device := range result.DeepCopy().Devices.Results {
			id := structured.MakeDeviceID(device.Driver, device.Pool, device.Device)
			switch {
			case device.AdminAccess != nil && *device.AdminAccess:
			case device.ShareID == nil:
				state.AllocatedDevices.Insert(id)
			default:
				addShare(state, id, device.ShareID)
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, device.ConsumedCapacity))
			}
		}
	}
}
