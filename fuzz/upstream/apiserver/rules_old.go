//go:build line_1_34

package main

// taintRuleStatus is nothing yet: rules have no status.
var taintRuleStatus strategy
