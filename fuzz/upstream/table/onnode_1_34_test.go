//go:build line_1_34

package oracletable

// onNode is false: the release has no errors that concern one node only.
func onNode(error) bool {
	return false
}
