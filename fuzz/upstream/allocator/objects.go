package main

import (
	"encoding/json"

	kjson "sigs.k8s.io/json"
)

// decodeObject reads a Kubernetes object as the API server of the release does: case-sensitive, and fields that the
// release does not know are dropped.
func decodeObject(text json.RawMessage, target any) error {
	if len(text) == 0 {
		return nil
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, target)
}
