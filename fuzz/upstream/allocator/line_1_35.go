//go:build line_1_35

package main

const release = "1.35"
