//go:build line_1_34 || line_1_35

package oracletable

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured/internal"
)

// incubatingState: the channel looks at exclusively held devices only.
func incubatingState(state internal.AllocatedState) sets.Set[internal.DeviceID] {
	return state.AllocatedDevices
}

// testOrder has nothing to run: the release does not order pools and slices by name.
func testOrder(*testing.T, internal.Features, newAllocator) {}
