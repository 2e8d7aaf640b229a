//go:build !line_1_34 && !line_1_35

package oracletable

import (
	"testing"

	"k8s.io/dynamic-resource-allocation/structured/internal"
	"k8s.io/dynamic-resource-allocation/structured/internal/allocatortesting"
)

func incubatingState(state internal.AllocatedState) internal.AllocatedState {
	return state
}

func testOrder(t *testing.T, supported internal.Features, create newAllocator) {
	allocatortesting.TestLexicographicalAllocator(t, supported, create)
}
