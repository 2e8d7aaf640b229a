//go:build line_1_34 || line_1_35

package main

import (
	"fmt"

	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// cacheFeatures are the selector features that kube-scheduler derives from the allocator's.
func cacheFeatures(features structured.Features) dracel.Features {
	return dracel.Features{EnableConsumableCapacity: features.ConsumableCapacity}
}

func selectorFeatures(gates celGates) (dracel.Features, error) {
	if gates.list {
		return dracel.Features{}, fmt.Errorf("%s has no list-typed attributes", release)
	}
	return dracel.Features{EnableConsumableCapacity: gates.consumableCapacity}, nil
}
