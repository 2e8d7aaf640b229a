// Package oracletable runs upstream's own allocator test table with an allocator that writes down each case's input and
// answer. The module's path is below upstream's, so that Go lets it import the internal packages of the pinned module.
package oracletable

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured/internal"
	"k8s.io/dynamic-resource-allocation/structured/internal/allocatortesting"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

type newAllocator = func(context.Context, internal.Features, internal.AllocatedState, internal.DeviceClassLister,
	[]*slice, *cel.Cache) (internal.Allocator, error)

// channel is one of upstream's variants. Not all are tested for the order of pools.
type channel struct {
	name      string
	supported internal.Features
	create    newAllocator
	ordered   bool
}

func TestRecord(t *testing.T) {
	path := os.Getenv("ORACLE_TABLE")
	if path == "" {
		t.Skip("ORACLE_TABLE names no file")
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	for _, channel := range channels {
		t.Run(channel.name, func(t *testing.T) {
			record := recording(channel, encoder)
			allocatortesting.TestAllocator(t, channel.supported, record)
			if channel.ordered {
				testOrder(t, channel.supported, record)
			}
		})
	}
}

// recording wraps a channel's constructor.
func recording(channel channel, encoder *json.Encoder) newAllocator {
	return func(ctx context.Context, features internal.Features, state internal.AllocatedState,
		classes internal.DeviceClassLister, slices []*slice, cache *cel.Cache) (internal.Allocator, error) {
		real, err := channel.create(ctx, features, state, classes, slices, cache)
		if err != nil {
			return nil, err
		}
		objects, err := published(slices)
		if err != nil {
			return nil, err
		}
		input, err := describe(channel.name, features, state, classes, objects)
		if err != nil {
			return nil, err
		}
		recorder := &recorder{Allocator: real, name: caseName(ctx), input: input, encoder: encoder, slices: objects}
		if _, ok := real.(internal.AllocatorExtended); ok {
			return &countingRecorder{recorder}, nil
		}
		return recorder, nil
	}
}

type recorder struct {
	internal.Allocator
	name    string
	input   map[string]any
	encoder *json.Encoder
	slices  []*resourceapi.ResourceSlice
}

type countingRecorder struct{ *recorder }

func (r *countingRecorder) GetStats() internal.Stats {
	return r.Allocator.(internal.AllocatorExtended).GetStats()
}

func (r *recorder) Allocate(ctx context.Context, node *v1.Node, claims []*resourceapi.ResourceClaim) ([]resourceapi.AllocationResult, error) {
	r.input["node"] = node
	r.input["claims"] = claims
	input, err := json.Marshal(r.input)
	if err != nil {
		return nil, err
	}
	results, failure := r.Allocator.Allocate(ctx, node, claims)
	expected := map[string]any{"results": results}
	if failure != nil {
		expected["err"] = failure.Error()
		if onNode(failure) {
			expected["onNode"] = true
		}
	}
	if extended, ok := r.Allocator.(internal.AllocatorExtended); ok {
		expected["n"] = extended.GetStats().NumAllocateOneInvocations
	}
	row := map[string]any{"name": r.name, "input": json.RawMessage(input), "answer": expected}
	if ctx.Err() != nil {
		row["interrupted"] = true
	}
	if lossy(claims, r.slices) {
		row["lossy"] = true
	}
	return results, errors.Join(r.encoder.Encode(row), failure)
}

func describe(channel string, features internal.Features, state internal.AllocatedState,
	lister internal.DeviceClassLister, slices []*resourceapi.ResourceSlice) (map[string]any, error) {
	classes, err := lister.List()
	if err != nil {
		return nil, err
	}
	exclusive, shared, aggregated := []any{}, []any{}, []any{}
	for id := range state.AllocatedDevices {
		exclusive = append(exclusive, []string{id.Driver.String(), id.Pool.String(), id.Device.String()})
	}
	for id := range state.AllocatedSharedDeviceIDs {
		shared = append(shared, []string{id.Driver.String(), id.Pool.String(), id.Device.String(), shareOf(id)})
	}
	for id, consumed := range state.AggregatedCapacity {
		device := []string{id.Driver.String(), id.Pool.String(), id.Device.String()}
		aggregated = append(aggregated, map[string]any{"id": device, "cap": amounts(consumed)})
	}
	return map[string]any{
		"channel": channel, "features": switches(features), "classes": classes, "slices": slices,
		"allocated": exclusive, "allocatedShared": shared, "aggregated": aggregated,
	}, nil
}

// caseName is the name of the subtest, which the context's logger knows.
func caseName(ctx context.Context) string {
	if sink, ok := klog.FromContext(ctx).GetSink().(ktesting.Underlier); ok {
		if named, ok := sink.GetUnderlying().(interface{ Name() string }); ok {
			return named.Name()
		}
	}
	return ""
}
