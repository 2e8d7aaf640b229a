package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
)

// namespaces says of every namespace whether it may use admin access.
type namespaces struct {
	typedv1.NamespaceInterface
	admin bool
}

func (n namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Namespace, error) {
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if n.admin {
		namespace.Labels = map[string]string{resource.DRAAdminNamespaceLabelKey: "true"}
	}
	return namespace, nil
}

func strategyFor(object runtime.Object, subresource string, admin bool) (strategy, error) {
	space := namespaces{admin: admin}
	switch object.(type) {
	case *resource.ResourceClaim, *resource.DeviceTaintRule:
		if subresource != "" && subresource != "status" {
			return nil, fmt.Errorf("subresource: only status")
		}
	default:
		if subresource != "" {
			return nil, fmt.Errorf("subresource: not of a %T", object)
		}
	}
	switch object.(type) {
	case *resource.ResourceClaim:
		main, status := claimStrategies(space)
		if subresource == "status" {
			return status, nil
		}
		return main, nil
	case *resource.ResourceClaimTemplate:
		return resourceclaimtemplate.NewStrategy(space), nil
	case *resource.DeviceClass:
		return deviceclass.Strategy, nil
	case *resource.ResourceSlice:
		return resourceslice.Strategy, nil
	case *resource.DeviceTaintRule:
		if subresource == "" {
			return devicetaintrule.Strategy, nil
		}
		if taintRuleStatus == nil {
			return nil, fmt.Errorf("subresource: rules have no status yet")
		}
		return taintRuleStatus, nil
	default:
		return nil, fmt.Errorf("object: no validation for %T", object)
	}
}
