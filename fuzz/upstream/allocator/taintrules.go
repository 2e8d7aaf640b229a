package main

import (
	"encoding/json"
	"fmt"
)

// refuseTaintRules: the program in ../tracker merges them, which needs far more of upstream than the allocator does.
func refuseTaintRules(text json.RawMessage) error {
	var rules []json.RawMessage
	if len(text) > 0 {
		if err := json.Unmarshal(text, &rules); err != nil {
			return fmt.Errorf("taintRules: %w", err)
		}
	}
	if len(rules) > 0 {
		return fmt.Errorf("taintRules: not merged into the slices")
	}
	return nil
}
