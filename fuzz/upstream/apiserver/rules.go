//go:build !line_1_34

package main

import "k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"

var taintRuleStatus strategy = devicetaintrule.StatusStrategy
