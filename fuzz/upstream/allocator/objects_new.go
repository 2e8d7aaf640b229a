//go:build !(line_1_34 || line_1_35 || line_1_36 || line_1_37)

package main

import (
	"encoding/json"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	draapi "k8s.io/dynamic-resource-allocation/api"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// slice is what the allocator reads: converted once, when the scheduler sees it.
type slice = draapi.ResourceSlice

func decodeSlices(text json.RawMessage) ([]*slice, error) {
	var published []*resourceapi.ResourceSlice
	if err := decodeObject(text, &published); err != nil {
		return nil, err
	}
	slices := make([]*slice, len(published))
	for index, each := range published {
		converted, err := convert(each)
		if err != nil {
			return nil, err
		}
		slices[index] = converted
	}
	return slices, nil
}

func convert(published *resourceapi.ResourceSlice) (*slice, error) {
	converted := &slice{}
	if err := draapi.Convert_v1_ResourceSlice_To_api_ResourceSlice(published, converted, nil); err != nil {
		return nil, fmt.Errorf("slice %s: %w", published.Name, err)
	}
	return converted, nil
}

// asSelected is the only device of the slice as selectors see it.
func asSelected(published *resourceapi.ResourceSlice) (dracel.Device, error) {
	converted, err := convert(published)
	if err != nil {
		return dracel.Device{}, err
	}
	device := converted.Spec.Devices[0]
	return dracel.Device{
		Driver:                   published.Spec.Driver,
		AllowMultipleAllocations: device.AllowMultipleAllocations,
		LookupUniqueString:       converted.LookupUniqueString,
		Attributes:               device.Attributes,
		Capacity:                 device.Capacity,
	}, nil
}

func noShares() sets.Set[structured.DeviceID] {
	return sets.New[structured.DeviceID]()
}

// addShare notes that the device is shared; by which shares is not kept.
func addShare(state structured.AllocatedState, device structured.DeviceID, _ *types.UID) {
	state.AllocatedSharedDeviceIDs.Insert(device)
}
