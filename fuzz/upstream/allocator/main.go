// Command allocator answers with what the scheduler's allocator and selectors of one Kubernetes release do.
package main

import "dra-alloc/upstream/harness"

type answer = harness.Answer

var decode = harness.Decode

func main() {
	harness.Main("k8s.io/dynamic-resource-allocation", map[string]harness.Operation{
		"allocate": {Keys: allocateKeys, Handle: allocate},
		"sequence": {Keys: sequenceKeys, Handle: sequence},
		"cel":      {Keys: celKeys, Handle: evaluate},
		"quantity": {Keys: []string{"value"}, Handle: quantity},
	})
}
