//go:build !(line_1_34 || line_1_35 || line_1_36 || line_1_37)

package main

import (
	api "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	draapi "k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

type deviceTaintRule = api.DeviceTaintRule

// trackerOptions also makes the factory aware of the informers that it has to start.
func trackerOptions(factory informers.SharedInformerFactory, client kubernetes.Interface) tracker.Options {
	slices := draapi.NewInformerForResourceSlice(factory)
	options := tracker.Options{
		EnableDeviceTaintRules: true,
		SliceLister:            draapi.NewResourceSliceLister(slices.GetIndexer()),
		SliceInformer:          slices,
		TaintInformer:          factory.Resource().V1().DeviceTaintRules(),
		KubeClient:             client,
	}
	options.TaintInformer.Informer()
	return options
}

// listed gives the slices as they are published; the tracker keeps them converted.
func listed(merged *tracker.Tracker) ([]*api.ResourceSlice, error) {
	kept, err := merged.ListPatchedResourceSlices()
	if err != nil {
		return nil, err
	}
	found := make([]*api.ResourceSlice, len(kept))
	for index, each := range kept {
		found[index] = &api.ResourceSlice{}
		if err := draapi.Convert_api_ResourceSlice_To_v1_ResourceSlice(each, found[index], nil); err != nil {
			return nil, err
		}
	}
	return found, nil
}
