package oracletable

import (
	"context"

	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured/internal"
	"k8s.io/dynamic-resource-allocation/structured/internal/experimental"
	"k8s.io/dynamic-resource-allocation/structured/internal/incubating"
	"k8s.io/dynamic-resource-allocation/structured/internal/stable"
)

var channels = []channel{
	{
		name:      "stable",
		supported: stable.SupportedFeatures,
		create: func(ctx context.Context, features internal.Features, state internal.AllocatedState,
			classes internal.DeviceClassLister, slices []*slice, cache *cel.Cache) (internal.Allocator, error) {
			return stable.NewAllocator(ctx, features, stableState(state), classes, slices, cache)
		},
		ordered: stableOrders,
	},
	{
		name:      "incubating",
		supported: incubating.SupportedFeatures,
		create: func(ctx context.Context, features internal.Features, state internal.AllocatedState,
			classes internal.DeviceClassLister, slices []*slice, cache *cel.Cache) (internal.Allocator, error) {
			return incubating.NewAllocator(ctx, features, incubatingState(state), classes, slices, cache)
		},
		ordered: true,
	},
	{
		name:      "experimental",
		supported: experimental.SupportedFeatures,
		create: func(ctx context.Context, features internal.Features, state internal.AllocatedState,
			classes internal.DeviceClassLister, slices []*slice, cache *cel.Cache) (internal.Allocator, error) {
			return experimental.NewAllocator(ctx, features, state, classes, slices, cache)
		},
		ordered: true,
	},
}
