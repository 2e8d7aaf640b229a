package main

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/dra"

	"dra-alloc/upstream/harness"
)

type charge struct {
	DeviceClassMappings           []config.DeviceClassMapping
	DeviceClasses                 []resourcev1.DeviceClass
	ResourceClaimTemplates        []resourcev1.ResourceClaimTemplate
	ResourceSlices                []resourcev1.ResourceSlice
	PodResourceClaimTemplateNames []string
}

// templates is a cluster that has claim templates.
type templates struct {
	client.Client
	items []resourcev1.ResourceClaimTemplate
}

func (t templates) Get(_ context.Context, wanted client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	for _, each := range t.items {
		if each.Name == wanted.Name && each.Namespace == wanted.Namespace {
			each.DeepCopyInto(into.(*resourcev1.ResourceClaimTemplate))
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "resourceclaimtemplates"}, wanted.Name)
}

// deviceCharge is what Kueue charges a pod. Up to 0.17 it charges by the number of devices alone.
func deviceCharge(raw map[string]json.RawMessage) (any, error) {
	var given charge
	if err := harness.Decode(raw, "in", &given); err != nil {
		return nil, err
	}
	if err := dra.CreateMapperFromConfiguration(given.DeviceClassMappings); err != nil {
		return nil, err
	}
	set := kueue.PodSet{Name: "main", Count: 1}
	for _, name := range given.PodResourceClaimTemplateNames {
		entry := corev1.PodResourceClaim{Name: name, ResourceClaimTemplateName: &name}
		set.Template.Spec.ResourceClaims = append(set.Template.Spec.ResourceClaims, entry)
	}
	asked := kueue.Workload{Spec: kueue.WorkloadSpec{PodSets: []kueue.PodSet{set}}}
	asked.Namespace = "ns"
	charged, wrong := dra.GetResourceRequestsForResourceClaimTemplates(context.Background(), templates{items: given.ResourceClaimTemplates}, &asked)
	if len(wrong) > 0 {
		retryable := wrong[0].Type == field.ErrorTypeInternal
		return map[string]any{"error": map[string]any{"type": string(wrong[0].Type), "retryable": retryable}}, nil
	}
	told := map[string]string{}
	for name, amount := range charged["main"] {
		told[string(name)] = amount.String()
	}
	return map[string]any{"perPod": told}, nil
}
