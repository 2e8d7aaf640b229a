//go:build line_1_34 || line_1_35 || line_1_36 || line_1_37

package oracletable

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured/internal"
)

// slice is what the allocator reads: what is published.
type slice = resourceapi.ResourceSlice

// stableOrders: the channel tries pools as they come.
const stableOrders = false

func published(slices []*slice) ([]*slice, error) {
	return slices, nil
}

// stableState: the channel looks at exclusively held devices only.
func stableState(state internal.AllocatedState) sets.Set[internal.DeviceID] {
	return state.AllocatedDevices
}

func shareOf(id internal.SharedDeviceID) string {
	return id.ShareID.String()
}

func amounts(consumed internal.ConsumedCapacity) internal.ConsumedCapacity {
	return consumed
}
