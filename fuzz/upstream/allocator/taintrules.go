package main

import (
	"encoding/json"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
)

func readTaintRules(text json.RawMessage) ([]json.RawMessage, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var rules []json.RawMessage
	return rules, json.Unmarshal(text, &rules)
}

func mergeTaintRules(*allocation, []json.RawMessage) ([]*resourceapi.ResourceSlice, error) {
	return nil, fmt.Errorf("unsupported")
}
