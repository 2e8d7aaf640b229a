package oracletable

import (
	"encoding/json"
	"reflect"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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

// lossy tells whether JSON cannot hold the objects: some quantities print as others (10^21 prints as 1), and an attribute
// with an empty list loses it and then has no value at all.
func lossy(claims []*resourceapi.ResourceClaim, slices []*resourceapi.ResourceSlice) bool {
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			for _, attribute := range device.Attributes {
				if hasEmptyList(attribute) {
					return true
				}
			}
		}
	}
	return changed(claims, &[]*resourceapi.ResourceClaim{}) || changed(slices, &[]*resourceapi.ResourceSlice{})
}

func hasEmptyList(attribute resourceapi.DeviceAttribute) bool {
	value := reflect.ValueOf(attribute)
	for i := range value.NumField() {
		field := value.Field(i)
		if field.Kind() == reflect.Slice && !field.IsNil() && field.Len() == 0 {
			return true
		}
	}
	return false
}

func changed[T any](objects []T, back *[]T) bool {
	text, err := json.Marshal(objects)
	if err != nil || json.Unmarshal(text, back) != nil {
		return true
	}
	return !equality.Semantic.DeepEqual(objects, *back)
}
