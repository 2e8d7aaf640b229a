//go:build line_1_34 || line_1_35 || line_1_36 || line_1_37

package main

import (
	"encoding/json"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// slice is what the allocator reads.
type slice = resourceapi.ResourceSlice

func decodeSlices(text json.RawMessage) (slices []*slice, err error) {
	err = decodeObject(text, &slices)
	return slices, err
}

// asSelected is the only device of the slice as selectors see it.
func asSelected(published *resourceapi.ResourceSlice) (dracel.Device, error) {
	device := published.Spec.Devices[0]
	return dracel.Device{
		Driver:                   published.Spec.Driver,
		AllowMultipleAllocations: device.AllowMultipleAllocations,
		Attributes:               device.Attributes,
		Capacity:                 device.Capacity,
	}, nil
}

func noShares() sets.Set[structured.SharedDeviceID] {
	return sets.New[structured.SharedDeviceID]()
}

func addShare(state structured.AllocatedState, device structured.DeviceID, share *types.UID) {
	state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device, share))
}
