//go:build !line_1_34

package main

import (
	"context"
	"errors"

	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// newAllocator has upstream pick the channel by features, or only among the one asked for.
func newAllocator(ctx context.Context, call *allocation, cache *dracel.Cache) (structured.Allocator, error) {
	if call.channel == "auto" {
		structured.EnableAllocators()
	} else {
		structured.EnableAllocators(call.channel)
	}
	return structured.NewAllocator(ctx, call.features, call.state, call.classes, call.slices, cache)
}

func onNode(err error) bool {
	return errors.Is(err, structured.ErrFailedAllocationOnNode)
}

func featureFields(name string) []string {
	return []string{name}
}
