// Command quota answers what a ResourceQuota charges a ResourceClaim as one Kubernetes release does.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"

	"dra-alloc/upstream/harness"
)

const uid = "u"

type charge struct {
	Claim                 resourceapi.ResourceClaim
	ExtendedResourceNames map[string]string
	PodUsage              map[string]resource.Quantity
	DRAExtendedResource   bool
}

func main() {
	harness.Main("k8s.io/kubernetes", map[string]harness.Operation{
		"rule": {Keys: []string{"rule", "in"}, Handle: rule},
	})
}

func rule(raw map[string]json.RawMessage) (harness.Answer, error) {
	var name string
	if err := harness.Decode(raw, "rule", &name); err != nil {
		return nil, err
	}
	if name != "resourcequota/claim-usage" {
		return nil, fmt.Errorf("unknown rule %q", name)
	}
	var given charge
	if err := harness.Decode(raw, "in", &given); err != nil {
		return nil, err
	}
	if enabled := utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource); enabled != given.DRAExtendedResource {
		gates := map[string]bool{string(features.DRAExtendedResource): given.DRAExtendedResource}
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
			return nil, err
		}
	}
	return usage(given)
}

func usage(given charge) (harness.Answer, error) {
	names := extendedresourcecache.NewExtendedResourceCache(klog.Background())
	for class, called := range given.ExtendedResourceNames {
		meta := metav1.ObjectMeta{Name: class}
		names.OnAdd(&resourceapi.DeviceClass{ObjectMeta: meta, Spec: resourceapi.DeviceClassSpec{ExtendedResourceName: &called}}, true)
	}
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	claim := given.Claim
	if len(given.PodUsage) > 0 {
		owner := paying(claim, given.PodUsage)
		if err := pods.Add(owner); err != nil {
			return nil, err
		}
		owned := true
		reference := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: uid, Controller: &owned}
		claim.OwnerReferences = []metav1.OwnerReference{reference}
		claim.Annotations = map[string]string{resourceapi.ExtendedResourceClaimAnnotation: "true"}
	}
	claims := func(string, types.UID) ([]*resourceapi.ResourceClaim, error) {
		return []*resourceapi.ResourceClaim{&claim}, nil
	}
	charged, err := core.NewResourceClaimEvaluator(nil, names, corev1listers.NewPodLister(pods), claims).Usage(&claim)
	if err != nil {
		return nil, err
	}
	told := map[string]string{}
	for key, amount := range charged {
		told[string(key)] = amount.String()
	}
	return harness.Answer{"out": map[string]any{"usage": told}}, nil
}

// paying is the pod that a claim for extended resources was made for, charged by the names of its containers' requests.
func paying(claim resourceapi.ResourceClaim, charged map[string]resource.Quantity) *corev1.Pod {
	requests := corev1.ResourceList{}
	for key, amount := range charged {
		requests[corev1.ResourceName(strings.TrimPrefix(key, corev1.DefaultResourceRequestsPrefix))] = amount
	}
	needs := corev1.ResourceRequirements{Requests: requests, Limits: requests}
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: needs}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: claim.Namespace, UID: uid}, Spec: spec}
}
