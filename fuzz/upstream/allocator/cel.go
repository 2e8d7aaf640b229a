package main

import (
	"context"
	"encoding/json"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

var celKeys = []string{"expr", "mode", "list", "consumableCapacity", "device"}

type celDevice struct {
	Driver     string                     `json:"driver"`
	Attributes json.RawMessage            `json:"attributes"`
	Capacity   map[string]json.RawMessage `json:"capacity"`
	Multi      *bool                      `json:"multi"`
}

// celGates matter to new expressions only; stored ones may use whatever the release knows. List-typed attributes are the
// exception: they change both.
type celGates struct {
	consumableCapacity bool
	list               bool
}

func evaluate(raw map[string]json.RawMessage) (answer, error) {
	var expression *string
	mode, gates := "stored", celGates{}
	input := celDevice{}
	for key, target := range map[string]any{
		"expr": &expression, "mode": &mode, "device": &input,
		"list": &gates.list, "consumableCapacity": &gates.consumableCapacity,
	} {
		if err := decode(raw, key, target); err != nil {
			return nil, err
		}
	}
	if expression == nil {
		return nil, fmt.Errorf("expr: missing")
	}
	envType, ok := map[string]environment.Type{
		"stored": environment.StoredExpressions,
		"new":    environment.NewExpressions,
	}[mode]
	if !ok {
		return nil, fmt.Errorf("mode: %q is neither stored nor new", mode)
	}
	device, err := input.upstream()
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	features, err := selectorFeatures(gates)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	compiled := dracel.GetCompiler(features).CompileCELExpression(*expression, dracel.Options{EnvType: &envType})
	if compiled.Error != nil {
		return answer{"compile": compiled.Error.Error()}, nil
	}
	result := answer{"type": compiled.OutputType.String(), "maxcost": compiled.MaxCost}
	match, details, err := compiled.DeviceMatches(context.Background(), device)
	if details != nil {
		if cost := details.ActualCost(); cost != nil {
			result["cost"] = *cost
		}
	}
	if err != nil {
		result["err"] = err.Error()
	} else {
		result["match"] = match
	}
	return result, nil
}

func (d celDevice) upstream() (dracel.Device, error) {
	device := resourceapi.Device{AllowMultipleAllocations: d.Multi}
	if err := decodeObject(d.Attributes, &device.Attributes); err != nil {
		return dracel.Device{}, fmt.Errorf("attributes: %w", err)
	}
	device.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}
	for name, text := range d.Capacity {
		var value resource.Quantity
		if err := decodeObject(text, &value); err != nil {
			return dracel.Device{}, fmt.Errorf("capacity %s: %w", name, err)
		}
		device.Capacity[resourceapi.QualifiedName(name)] = resourceapi.DeviceCapacity{Value: value}
	}
	return asSelected(&resourceapi.ResourceSlice{Spec: resourceapi.ResourceSliceSpec{Driver: d.Driver, Devices: []resourceapi.Device{device}}})
}
