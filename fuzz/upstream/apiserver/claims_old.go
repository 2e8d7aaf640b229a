//go:build line_1_34 || line_1_35

package main

import "k8s.io/kubernetes/pkg/registry/resource/resourceclaim"

func claimStrategies(space namespaces) (main, status strategy) {
	claims := resourceclaim.NewStrategy(space)
	return claims, resourceclaim.NewStatusStrategy(claims)
}
