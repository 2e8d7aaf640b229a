package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

func quantity(raw map[string]json.RawMessage) (answer, error) {
	var value *string
	if err := decode(raw, "value", &value); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, fmt.Errorf("value: missing")
	}
	parsed, err := resource.ParseQuantity(*value)
	if err != nil {
		return answer{"err": err.Error()}, nil
	}
	return answer{"canonical": parsed.String(), "value": parsed.Value()}, nil
}
