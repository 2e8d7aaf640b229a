//go:build !line_1_34

package oracletable

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured/internal"
)

func onNode(err error) bool {
	return errors.Is(err, internal.ErrFailedAllocationOnNode)
}
