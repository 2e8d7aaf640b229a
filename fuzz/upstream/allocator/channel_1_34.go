//go:build line_1_34

package main

import (
	"context"
	"fmt"
	_ "unsafe" // for go:linkname

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type newChannel func(context.Context, structured.Features, structured.AllocatedState, structured.DeviceClassLister,
	[]*resourceapi.ResourceSlice, *dracel.Cache) (structured.Allocator, error)

// channels is the release's own list, most stable first. It has no public way yet to force one of them.
//
//go:linkname channels k8s.io/dynamic-resource-allocation/structured.availableAllocators
var channels []struct {
	supported structured.Features
	create    newChannel
}

var channelIndex = map[string]int{"stable": 0, "incubating": 1, "experimental": 2}

func newAllocator(ctx context.Context, call *allocation, cache *dracel.Cache) (structured.Allocator, error) {
	if call.channel == "auto" {
		return structured.NewAllocator(ctx, call.features, call.state, call.classes, call.slices, cache)
	}
	channel := channels[channelIndex[call.channel]]
	if !channel.supported.Set().IsSuperset(call.features.Set()) {
		return nil, fmt.Errorf("internal error: no allocator available for feature set %v", call.features)
	}
	return channel.create(ctx, call.features, call.state, call.classes, call.slices, cache)
}

// onNode is false: the release has no errors that concern one node only.
func onNode(error) bool {
	return false
}

// featureFields maps the one switch of later releases to the two gates that it stands for.
func featureFields(name string) []string {
	if name == "DeviceBindingAndStatus" {
		return []string{"DeviceBinding", "DeviceStatus"}
	}
	return []string{name}
}
