//go:build !(line_1_34 || line_1_35 || line_1_36 || line_1_37)

package main

import (
	resourceapi "k8s.io/api/resource/v1"
	draapi "k8s.io/dynamic-resource-allocation/api"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// selected are the devices of a slice as selectors see them: names are converted once, with the slice.
func selected(published *resourceapi.ResourceSlice) []dracel.Device {
	converted := &draapi.ResourceSlice{}
	check(draapi.Convert_v1_ResourceSlice_To_api_ResourceSlice(published, converted, nil))
	var devices []dracel.Device
	for _, each := range converted.Spec.Devices {
		devices = append(devices, dracel.Device{
			Driver:             published.Spec.Driver,
			LookupUniqueString: converted.LookupUniqueString,
			Attributes:         each.Attributes,
			Capacity:           each.Capacity,
		})
	}
	return devices
}
