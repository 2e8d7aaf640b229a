//go:build line_1_34 || line_1_35 || line_1_36 || line_1_37

package main

import (
	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// selected are the devices of a slice as selectors see them.
func selected(published *resourceapi.ResourceSlice) []dracel.Device {
	var devices []dracel.Device
	for _, each := range published.Spec.Devices {
		devices = append(devices, dracel.Device{
			Driver:     published.Spec.Driver,
			Attributes: each.Attributes,
			Capacity:   each.Capacity,
		})
	}
	return devices
}
