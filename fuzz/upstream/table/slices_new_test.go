//go:build !(line_1_34 || line_1_35 || line_1_36 || line_1_37)

package oracletable

import (
	resourceapi "k8s.io/api/resource/v1"
	draapi "k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/structured/internal"
)

// slice is what the allocator reads, converted from what is published.
type slice = draapi.ResourceSlice

// stableOrders: every channel tries pools by name.
const stableOrders = true

func published(slices []*slice) ([]*resourceapi.ResourceSlice, error) {
	found := make([]*resourceapi.ResourceSlice, len(slices))
	for index, each := range slices {
		found[index] = &resourceapi.ResourceSlice{}
		if err := draapi.Convert_api_ResourceSlice_To_v1_ResourceSlice(each, found[index], nil); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func stableState(state internal.AllocatedState) internal.AllocatedState {
	return state
}

// shareOf stands for the shares of a device: by which it is held is not kept.
func shareOf(internal.DeviceID) string {
	return "share"
}

func amounts(consumed internal.ConsumedCapacity) map[string]any {
	found := map[string]any{}
	for name, amount := range consumed {
		found[name.String()] = amount
	}
	return found
}
