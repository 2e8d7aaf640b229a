// Command kueue answers the rules of Kueue's quotas and charges as one release of Kueue does.
package main

import (
	"encoding/json"
	"fmt"

	"dra-alloc/upstream/harness"
)

func main() {
	harness.Main("sigs.k8s.io/kueue", map[string]harness.Operation{
		"rule": {Keys: []string{"rule", "in"}, Handle: rule},
	})
}

func rule(raw map[string]json.RawMessage) (harness.Answer, error) {
	var name string
	if err := harness.Decode(raw, "rule", &name); err != nil {
		return nil, err
	}
	answers := map[string]func(map[string]json.RawMessage) (any, error){
		"kueue/quota-tree": quotaTree,
		"kueue/dra-charge": deviceCharge,
	}
	answer, known := answers[name]
	if !known {
		return nil, fmt.Errorf("unknown rule %q", name)
	}
	out, err := answer(raw)
	if err != nil {
		return nil, err
	}
	return harness.Answer{"out": out}, nil
}
