//go:build !line_1_34 && !line_1_35

package main

import (
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// cacheFeatures are the selector features that kube-scheduler derives from the allocator's.
func cacheFeatures(features structured.Features) dracel.Features {
	return dracel.Features{
		EnableConsumableCapacity: features.ConsumableCapacity,
		EnableListTypeAttributes: features.ListTypeAttributes || selectorsKnowLists,
	}
}

func selectorFeatures(gates celGates) (dracel.Features, error) {
	return dracel.Features{
		EnableConsumableCapacity: gates.consumableCapacity,
		EnableListTypeAttributes: gates.list,
	}, nil
}
