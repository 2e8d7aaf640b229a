package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// firstNode returns the first node, in order, on which the claims fit, and how many nodes were asked.
func firstNode(
	allocator structured.Allocator, nodes []*v1.Node, claims []*resourceapi.ResourceClaim,
) (*v1.Node, []resourceapi.AllocationResult, int) {
	workers := runtime.GOMAXPROCS(0)
	var next, filters atomic.Int64
	var lock sync.Mutex
	best, found := int64(len(nodes)), []resourceapi.AllocationResult(nil)
	ask := func() {
		for {
			index := next.Add(1) - 1
			lock.Lock()
			past := index >= best
			lock.Unlock()
			if past {
				return
			}
			filters.Add(1)
			results, err := allocator.Allocate(context.Background(), nodes[index], claims)
			check(err)
			if results == nil {
				continue
			}
			lock.Lock()
			if index < best {
				best, found = index, results
			}
			lock.Unlock()
		}
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(ask)
	}
	group.Wait()
	if found == nil {
		return nil, nil, int(filters.Load())
	}
	return nodes[best], found, int(filters.Load())
}
