package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"

	"dra-alloc/upstream/harness"
)

type quota struct {
	Flavor, Resource   string
	Nominal            int64
	Borrowing, Lending *int64
}

type node struct {
	Name, Parent string
	Cohort       bool
	Quotas       []quota
	Usage        map[string]int64
	Weight       *json.Number
}

type asked struct {
	Queue, Flavor, Resource string
	Amount                  int64
}

type tree struct {
	Nodes    []node
	Requests []asked
}

// nothing is a cluster without an object.
type nothing struct{ client.Client }

func (nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func quotaTree(raw map[string]json.RawMessage) (any, error) {
	var given tree
	if err := harness.Decode(raw, "in", &given); err != nil {
		return nil, err
	}
	snapshot, err := loaded(given.Nodes)
	if err != nil {
		return nil, err
	}
	told := map[string]map[string]any{}
	for _, each := range given.Nodes {
		local := map[string]any{}
		for _, granted := range keys(snapshot, each) {
			local[string(granted.Resource)] = map[string]any{"localQuota": localAvailable(snapshot, each, granted)}
		}
		told[each.Name] = map[string]any{"resources": local}
	}
	for _, each := range given.Nodes {
		if !each.Cohort {
			used := resources.FlavorResourceQuantities{}
			for name, amount := range each.Usage {
				used[key(given.flavor(), name)] = amount
			}
			snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Name)).AddUsage(workload.Usage{Quota: used})
		}
	}
	for _, each := range given.Nodes {
		state(snapshot, each, told[each.Name])
	}
	return map[string]any{"nodes": told, "requests": fits(snapshot, given.Requests)}, nil
}

func (t tree) flavor() string {
	for _, each := range t.Nodes {
		for _, granted := range each.Quotas {
			return granted.Flavor
		}
	}
	return ""
}

func key(flavor, name string) resources.FlavorResource {
	return resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(flavor), Resource: corev1.ResourceName(name)}
}

// loaded has the queues and cohorts in Kueue's own cache.
func loaded(nodes []node) (*scheduler.Snapshot, error) {
	ctx, cache := context.Background(), scheduler.New(nothing{})
	log := ctrl.LoggerFrom(ctx)
	for _, each := range nodes {
		for _, granted := range each.Quotas {
			cache.AddOrUpdateResourceFlavor(log, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: granted.Flavor}})
		}
	}
	for _, each := range nodes {
		weight, err := fairSharing(each.Weight)
		if err != nil {
			return nil, err
		}
		meta := metav1.ObjectMeta{Name: each.Name}
		if each.Cohort {
			spec := kueue.CohortSpec{ParentName: kueue.CohortReference(each.Parent), ResourceGroups: groups(each.Quotas), FairSharing: weight}
			if err := cache.AddOrUpdateCohort(&kueue.Cohort{ObjectMeta: meta, Spec: spec}); err != nil {
				return nil, err
			}
			continue
		}
		spec := kueue.ClusterQueueSpec{CohortName: kueue.CohortReference(each.Parent), ResourceGroups: groups(each.Quotas), FairSharing: weight}
		spec.NamespaceSelector = &metav1.LabelSelector{}
		if err := cache.AddClusterQueue(ctx, &kueue.ClusterQueue{ObjectMeta: meta, Spec: spec}); err != nil {
			return nil, err
		}
	}
	snapshot, err := cache.Snapshot(ctx)
	if err == nil && len(snapshot.InactiveClusterQueueSets) > 0 {
		err = fmt.Errorf("inactive: %v", snapshot.InactiveClusterQueueSets)
	}
	return snapshot, err
}

func fairSharing(weight *json.Number) (*kueue.FairSharing, error) {
	if weight == nil {
		return nil, nil
	}
	parsed, err := resource.ParseQuantity(weight.String())
	return &kueue.FairSharing{Weight: &parsed}, err
}

// groups puts every quota into a group of its own: which group it is in does not matter to a tree.
func groups(quotas []quota) []kueue.ResourceGroup {
	made := make([]kueue.ResourceGroup, 0, len(quotas))
	for _, each := range quotas {
		name := corev1.ResourceName(each.Resource)
		granted := kueue.ResourceQuota{Name: name, NominalQuota: *resource.NewQuantity(each.Nominal, resource.DecimalSI)}
		granted.BorrowingLimit, granted.LendingLimit = limit(each.Borrowing), limit(each.Lending)
		flavor := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(each.Flavor), Resources: []kueue.ResourceQuota{granted}}
		made = append(made, kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{name}, Flavors: []kueue.FlavorQuotas{flavor}})
	}
	return made
}

func limit(amount *int64) *resource.Quantity {
	if amount == nil {
		return nil
	}
	return resource.NewQuantity(*amount, resource.DecimalSI)
}

// keys are what a node has quota of, with those below it.
func keys(snapshot *scheduler.Snapshot, each node) []resources.FlavorResource {
	subtree := snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Name))
	found := []resources.FlavorResource{}
	if each.Cohort {
		for granted := range snapshot.Cohort(kueue.CohortReference(each.Name)).ResourceNode.SubtreeQuota {
			found = append(found, granted)
		}
		return found
	}
	for granted := range subtree.ResourceNode.SubtreeQuota {
		found = append(found, granted)
	}
	return found
}

// localAvailable is what a node keeps of its quota, as long as nothing is used.
func localAvailable(snapshot *scheduler.Snapshot, each node, granted resources.FlavorResource) int64 {
	if each.Cohort {
		return scheduler.LocalAvailable(snapshot.Cohort(kueue.CohortReference(each.Name)), granted)
	}
	return scheduler.LocalAvailable(snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Name)), granted)
}

// state adds what is public of a node; what is available to a cohort, and could be, Kueue does not say.
func state(snapshot *scheduler.Snapshot, each node, told map[string]any) {
	amounts := told["resources"].(map[string]any)
	var share scheduler.DRS
	for name, amount := range amounts {
		granted := amount.(map[string]any)
		if each.Cohort {
			cohort := snapshot.Cohort(kueue.CohortReference(each.Name))
			at := found(keys(snapshot, each), name)
			granted["subtreeQuota"], granted["usage"] = cohort.ResourceNode.SubtreeQuota[at], cohort.ResourceNode.Usage[at]
			continue
		}
		queue := snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Name))
		at := found(keys(snapshot, each), name)
		granted["subtreeQuota"], granted["usage"] = queue.ResourceNode.SubtreeQuota[at], queue.ResourceNode.Usage[at]
		granted["available"], granted["potentialAvailable"] = queue.Available(at), queue.PotentialAvailable(at)
	}
	if each.Cohort {
		share = snapshot.Cohort(kueue.CohortReference(each.Name)).DominantResourceShare()
	} else {
		share = snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Name)).DominantResourceShare()
	}
	told["borrowing"], told["weightedShare"] = share.IsBorrowing(), rounded(share.PreciseWeightedShare())
}

func found(granted []resources.FlavorResource, name string) resources.FlavorResource {
	for _, each := range granted {
		if string(each.Resource) == name {
			return each
		}
	}
	return resources.FlavorResource{}
}

func rounded(share float64) int64 {
	if math.IsInf(share, 1) {
		return math.MaxInt64
	}
	return int64(math.Ceil(share))
}

func fits(snapshot *scheduler.Snapshot, requests []asked) []map[string]any {
	told := []map[string]any{}
	for _, each := range requests {
		queue, at := snapshot.ClusterQueue(kueue.ClusterQueueReference(each.Queue)), key(each.Flavor, each.Resource)
		mode := "OverAvailable"
		if each.Amount > queue.PotentialAvailable(at) {
			mode = "NoFit"
		} else if queue.Fits(workload.Usage{Quota: resources.FlavorResourceQuantities{at: each.Amount}}) {
			mode = "Fit"
		}
		told = append(told, map[string]any{"amount": each.Amount, "mode": mode, "queue": each.Queue})
	}
	return told
}
