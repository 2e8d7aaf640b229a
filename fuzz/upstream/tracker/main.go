// Command tracker merges DeviceTaintRules into ResourceSlices as the scheduler of one Kubernetes release does.
package main

import "dra-alloc/upstream/harness"

func main() {
	harness.Main("k8s.io/dynamic-resource-allocation", map[string]harness.Operation{
		"merge": {Keys: []string{"slices", "classes", "taintRules"}, Handle: merge},
	})
}
