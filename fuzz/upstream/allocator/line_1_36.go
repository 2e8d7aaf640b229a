//go:build line_1_36

package main

import dracel "k8s.io/dynamic-resource-allocation/cel"

const release = "1.36"

func selectorFeatures(list bool) (dracel.Features, error) {
	return dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: list}, nil
}
