//go:build line_1_37

package main

const release = "1.37"

// selectorsKnowLists: stored selectors read list-typed attributes whatever the gate says. The alpha of the line still
// asked the gate; the recorded cases were made right after that changed.
const selectorsKnowLists = true
