//go:build line_1_36

package main

const release = "1.36"

// selectorsKnowLists: stored selectors read list-typed attributes only with the gate.
const selectorsKnowLists = false
