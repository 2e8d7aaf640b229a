package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
)

// convert is the object in another version of its group, without defaults.
func convert(raw map[string]json.RawMessage) (answer, error) {
	var version string
	if err := decode(raw, "to", &version); err != nil {
		return nil, err
	}
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw["object"], nil, nil)
	if err != nil {
		return answer{"err": err.Error()}, nil
	}
	hub, err := legacyscheme.Scheme.ConvertToVersion(object, resource.SchemeGroupVersion)
	if err != nil {
		return answer{"err": err.Error()}, nil
	}
	target := schema.GroupVersion{Group: resource.GroupName, Version: version}
	converted, err := legacyscheme.Scheme.ConvertToVersion(hub, target)
	if err != nil {
		return answer{"err": err.Error()}, nil
	}
	return answer{"converted": converted}, nil
}
