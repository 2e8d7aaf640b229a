package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	kjson "sigs.k8s.io/json"

	"dra-alloc/upstream/harness"
)

// question is one request: the cluster's slices and rules; classes matter to the rules of 1.34 only.
type question struct {
	slices  []*resourceapi.ResourceSlice
	classes []*resourceapi.DeviceClass
	rules   []*deviceTaintRule
}

func merge(raw map[string]json.RawMessage) (harness.Answer, error) {
	asked := &question{}
	for key, target := range map[string]any{"slices": &asked.slices, "classes": &asked.classes, "taintRules": &asked.rules} {
		if text := raw[key]; len(text) > 0 {
			if err := kjson.UnmarshalCaseSensitivePreserveInts(text, target); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	merged, err := mergeTaintRules(asked)
	if err != nil {
		return nil, fmt.Errorf("taintRules: %w", err)
	}
	return harness.Answer{"slices": merged}, nil
}

// mergeSeconds bounds the wait for the tracker to have seen every object.
const mergeSeconds = 20

// mergeTaintRules lets the release's own tracker add the rules' taints to copies of the slices.
func mergeTaintRules(asked *question) ([]*resourceapi.ResourceSlice, error) {
	objects, err := trackedObjects(asked)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), mergeSeconds*time.Second)
	defer cancel()
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	options := trackerOptions(factory, client)
	defer factory.Shutdown()
	defer cancel() // before Shutdown waits for the informers
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	merged, err := tracker.StartTracker(ctx, options)
	if err != nil {
		return nil, err
	}
	defer merged.Stop()
	for !merged.HasSynced() {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the tracker did not finish")
		case <-time.After(time.Millisecond):
		}
	}
	patched, err := listed(merged)
	if err != nil {
		return nil, err
	}
	return inInputOrder(asked.slices, patched)
}

func trackedObjects(asked *question) ([]runtime.Object, error) {
	var objects []runtime.Object
	for number, rule := range asked.rules {
		if rule.Name == "" {
			rule.Name = fmt.Sprintf("rule-%d", number)
		}
		objects = append(objects, rule)
	}
	for _, class := range asked.classes {
		objects = append(objects, class)
	}
	names := map[string]bool{}
	for _, slice := range asked.slices {
		if slice.Name == "" || names[slice.Name] {
			return nil, fmt.Errorf("slices need names of their own, %q is not", slice.Name)
		}
		names[slice.Name] = true
		objects = append(objects, slice)
	}
	return objects, nil
}

// inInputOrder undoes the random order in which the tracker lists slices.
func inInputOrder(slices, patched []*resourceapi.ResourceSlice) ([]*resourceapi.ResourceSlice, error) {
	byName := map[string]*resourceapi.ResourceSlice{}
	for _, slice := range patched {
		byName[slice.Name] = slice
	}
	var ordered []*resourceapi.ResourceSlice
	for _, slice := range slices {
		if byName[slice.Name] == nil {
			return nil, fmt.Errorf("the tracker lost slice %q", slice.Name)
		}
		ordered = append(ordered, byName[slice.Name])
	}
	return ordered, nil
}
