//go:build line_1_38

package main

const release = "1.38"

// selectorsKnowLists: stored selectors read list-typed attributes whatever the gate says.
const selectorsKnowLists = true
