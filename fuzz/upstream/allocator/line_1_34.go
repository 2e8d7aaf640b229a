//go:build line_1_34

package main

const release = "1.34"
