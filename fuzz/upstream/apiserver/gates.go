package main

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// setGates sets feature gates for one request; the returned function puts the release's defaults back.
//
// What cannot be set is refused beforehand: the gate would keep it and refuse every later request.
func setGates(gates map[string]bool) (func(), error) {
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	before := map[string]bool{}
	for name, on := range gates {
		spec, ok := known[featuregate.Feature(name)]
		if !ok {
			return nil, fmt.Errorf("unrecognized feature gate: %s", name)
		}
		if spec.LockToDefault && spec.Default != on {
			return nil, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, spec.Default)
		}
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	restore := func() {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(before); err != nil {
			panic(err)
		}
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}
