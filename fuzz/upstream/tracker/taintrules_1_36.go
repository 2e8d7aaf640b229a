//go:build line_1_36 || (line_1_37 && prerelease)

package main

import (
	api "k8s.io/api/resource/v1beta2"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

type deviceTaintRule = api.DeviceTaintRule

// trackerOptions also makes the factory aware of the informers that it has to start.
func trackerOptions(factory informers.SharedInformerFactory, client kubernetes.Interface) tracker.Options {
	resource := factory.Resource()
	options := tracker.Options{
		EnableDeviceTaintRules: true,
		SliceInformer:          resource.V1().ResourceSlices(),
		TaintInformer:          resource.V1beta2().DeviceTaintRules(),
		ClassInformer:          resource.V1().DeviceClasses(),
		KubeClient:             client,
	}
	options.SliceInformer.Informer()
	options.TaintInformer.Informer()
	options.ClassInformer.Informer()
	return options
}
