// Command apiserver answers with what the API server of one Kubernetes release says, and makes, of an object.
package main

import "dra-alloc/upstream/harness"

type answer = harness.Answer

var decode = harness.Decode

func main() {
	harness.Main("k8s.io/kubernetes", map[string]harness.Operation{
		"validate": {
			Keys:   []string{"object", "old", "gates", "subresource", "adminNamespace"},
			Handle: validate,
		},
		"convert": {Keys: []string{"object", "to"}, Handle: convert},
	})
}
