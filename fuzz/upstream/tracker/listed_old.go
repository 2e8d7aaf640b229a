//go:build line_1_34 || line_1_35 || line_1_36 || line_1_37

package main

import (
	api "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

func listed(merged *tracker.Tracker) ([]*api.ResourceSlice, error) {
	return merged.ListPatchedResourceSlices()
}
