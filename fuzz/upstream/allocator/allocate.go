package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"dra-alloc/upstream/harness/named"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

var allocateKeys = []string{
	"aggregated", "allocated", "allocatedShared", "channel", "claims", "classes", "engine",
	"features", "node", "selectorLists", "semantics", "slices", "taintRules", "timeoutMs",
}

// celCacheSize is the number of compiled selectors that kube-scheduler keeps.
const celCacheSize = 10

type consumed struct {
	ID  [3]string                  `json:"id"`
	Cap map[string]json.RawMessage `json:"cap"`
}

type allocation struct {
	channel  string
	features structured.Features
	node     *v1.Node
	claims   []*resourceapi.ResourceClaim
	lists    *bool
	classes  named.Objects[resourceapi.DeviceClass]
	slices   []*slice
	state    structured.AllocatedState
	timeout  time.Duration
}

// unknownClass has the text that the recorded cases carry.
func unknownClass(string) error {
	return apierrors.NewNotFound(schema.GroupResource{}, "not found")
}

func allocate(raw map[string]json.RawMessage) (answer, error) {
	call, err := readAllocation(raw)
	if err != nil {
		return nil, err
	}
	features, err := call.selectorFeatures()
	if err != nil {
		return nil, err
	}
	result, _ := call.ask(dracel.NewCache(celCacheSize, features))
	return result, nil
}

// selectorFeatures are what kube-scheduler derives from the allocator's switches, unless the request says it itself.
func (call *allocation) selectorFeatures() (dracel.Features, error) {
	if call.lists == nil {
		return cacheFeatures(call.features), nil
	}
	features, err := selectorFeatures(celGates{consumableCapacity: call.features.ConsumableCapacity, list: *call.lists})
	if err != nil {
		return features, fmt.Errorf("selectorLists: %w", err)
	}
	return features, nil
}

// ask makes an allocator, as the scheduler does for each pod, and asks it once.
func (call *allocation) ask(cache *dracel.Cache) (answer, []resourceapi.AllocationResult) {
	ctx := context.Background()
	if call.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, call.timeout)
		defer cancel()
	}
	allocator, err := newAllocator(ctx, call, cache)
	if err != nil {
		return answer{"results": nil, "err": err.Error(), "verdict": "error"}, nil
	}
	results, err := allocator.Allocate(ctx, call.node, call.claims)
	result := answer{"results": results, "n": steps(allocator), "verdict": verdict(results, err)}
	if err != nil {
		result["err"] = err.Error()
		if onNode(err) {
			result["onNode"] = true
		}
	}
	return result, results
}

func verdict(results []resourceapi.AllocationResult, err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "undecided"
	case err != nil && onNode(err):
		return "unsatisfiable"
	case err != nil:
		return "error"
	case results == nil:
		return "unsatisfiable"
	default:
		return "allocated"
	}
}

// steps reads the statistics by reflection, because their type is internal to upstream.
func steps(allocator structured.Allocator) any {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return nil
	}
	stats := reflect.Indirect(method.Call(nil)[0])
	if !stats.IsValid() {
		return nil
	}
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}

func readAllocation(raw map[string]json.RawMessage) (*allocation, error) {
	call := &allocation{channel: "auto"}
	call.classes = named.Objects[resourceapi.DeviceClass]{ByName: map[string]*resourceapi.DeviceClass{}, Missing: unknownClass}
	if err := refuseUnsupported(raw); err != nil {
		return nil, err
	}
	if err := decode(raw, "channel", &call.channel); err != nil {
		return nil, err
	}
	switch call.channel {
	case "auto", "stable", "incubating", "experimental":
	default:
		return nil, fmt.Errorf("channel: unknown channel %q", call.channel)
	}
	var err error
	if call.features, err = readFeatures(raw); err != nil {
		return nil, err
	}
	if err := decode(raw, "selectorLists", &call.lists); err != nil {
		return nil, err
	}
	var timeout int64
	if err := decode(raw, "timeoutMs", &timeout); err != nil {
		return nil, err
	}
	call.timeout = time.Duration(timeout) * time.Millisecond
	if call.state, err = readState(raw); err != nil {
		return nil, err
	}
	if err := call.readObjects(raw); err != nil {
		return nil, err
	}
	if err := refuseTaintRules(raw["taintRules"]); err != nil {
		return nil, err
	}
	return call, nil
}

// refuseUnsupported accepts the keys that only say how others search, as long as they ask for upstream's own answer.
func refuseUnsupported(raw map[string]json.RawMessage) error {
	semantics, engine := "upstream", "auto"
	if err := decode(raw, "semantics", &semantics); err != nil {
		return err
	}
	if semantics != "upstream" {
		return fmt.Errorf("semantics: %q is not upstream's", semantics)
	}
	if err := decode(raw, "engine", &engine); err != nil {
		return err
	}
	if engine != "auto" && engine != "first-fit" {
		return fmt.Errorf("engine: %q is not upstream's", engine)
	}
	return nil
}

// readFeatures sets upstream's switches by their names; what the release does not have is accepted when off.
func readFeatures(raw map[string]json.RawMessage) (structured.Features, error) {
	features := structured.Features{}
	wanted := map[string]bool{}
	if err := decode(raw, "features", &wanted); err != nil {
		return features, err
	}
	target := reflect.ValueOf(&features).Elem()
	for name, on := range wanted {
		fields := featureFields(name)
		for _, field := range fields {
			if value := target.FieldByName(field); value.IsValid() {
				value.SetBool(value.Bool() || on)
			} else if on {
				return features, fmt.Errorf("features: %s has no %s", release, name)
			}
		}
	}
	return features, nil
}

func (call *allocation) readObjects(raw map[string]json.RawMessage) error {
	call.node = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if text, ok := raw["node"]; ok && string(text) != "null" {
		call.node = &v1.Node{}
		if err := decodeObject(text, call.node); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	if err := decodeObject(raw["claims"], &call.claims); err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	var err error
	if call.slices, err = decodeSlices(raw["slices"]); err != nil {
		return fmt.Errorf("slices: %w", err)
	}
	var classes []*resourceapi.DeviceClass
	if err := decodeObject(raw["classes"], &classes); err != nil {
		return fmt.Errorf("classes: %w", err)
	}
	for _, class := range classes {
		call.classes.ByName[class.Name] = class
	}
	return nil
}

func readState(raw map[string]json.RawMessage) (structured.AllocatedState, error) {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: noShares(),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	var exclusive [][3]string
	var shared [][4]string
	var aggregated []consumed
	for key, target := range map[string]any{"allocated": &exclusive, "allocatedShared": &shared, "aggregated": &aggregated} {
		if err := decode(raw, key, target); err != nil {
			return state, err
		}
	}
	for _, id := range exclusive {
		state.AllocatedDevices.Insert(structured.MakeDeviceID(id[0], id[1], id[2]))
	}
	for _, id := range shared {
		shareID := types.UID(id[3])
		device := structured.MakeDeviceID(id[0], id[1], id[2])
		addShare(state, device, &shareID)
	}
	for _, entry := range aggregated {
		amounts := map[resourceapi.QualifiedName]resource.Quantity{}
		for name, text := range entry.Cap {
			var value resource.Quantity
			if err := decodeObject(text, &value); err != nil {
				return state, fmt.Errorf("aggregated: %s: %w", name, err)
			}
			amounts[resourceapi.QualifiedName(name)] = value
		}
		device := structured.MakeDeviceID(entry.ID[0], entry.ID[1], entry.ID[2])
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device, amounts))
	}
	return state, nil
}
