package main

import "runtime/debug"

// buildVersion is the version of the allocator module that was linked in.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == "k8s.io/dynamic-resource-allocation" {
			return module.Version
		}
	}
	return "unknown"
}
