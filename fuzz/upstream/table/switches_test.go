package oracletable

import (
	"reflect"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured/internal"
)

// switches gives the features by upstream's names; 1.34's pair of gates has the protocol's name if both agree.
func switches(features internal.Features) map[string]bool {
	on := map[string]bool{}
	value := reflect.ValueOf(features)
	for i := range value.NumField() {
		on[value.Type().Field(i).Name] = value.Field(i).Bool()
	}
	binding, old := on["DeviceBinding"]
	if status := on["DeviceStatus"]; old && binding == status {
		delete(on, "DeviceBinding")
		delete(on, "DeviceStatus")
		on["DeviceBindingAndStatus"] = binding
	}
	return on
}

// lossy tells whether an attribute has an empty list, which JSON leaves out: the attribute would have no value at all.
func lossy(slices []*resourceapi.ResourceSlice) bool {
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			for _, attribute := range device.Attributes {
				value := reflect.ValueOf(attribute)
				for i := range value.NumField() {
					field := value.Field(i)
					if field.Kind() == reflect.Slice && !field.IsNil() && field.Len() == 0 {
						return true
					}
				}
			}
		}
	}
	return false
}
