package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	resourceapi "k8s.io/api/resource/v1"
)

// ask asks the question of every pod of every node, one allocator a pod; with `take` the first node that fits is taken,
// and the digest has the names of the others only.
// `seconds` ends it between two pods.
func (r *run) ask(take bool) answer {
	result := answer{Finished: true}
	digest := sha256.New()
	deadline := time.Now().Add(time.Duration(r.asked.Seconds * float64(time.Second)))
	for _, claims := range r.asked.Pods {
		if r.asked.Seconds > 0 && time.Now().After(deadline) {
			result.Finished = false
			break
		}
		allocator := r.allocator()
		var first []resourceapi.AllocationResult
		for _, node := range r.asked.Nodes {
			found, err := allocator.Allocate(context.Background(), node, claims)
			check(err)
			result.Filters++
			if found == nil {
				fmt.Fprintln(digest, "-")
				continue
			}
			result.Placed++
			names := ""
			if !take || first == nil {
				names = deviceNames(found)
			}
			fmt.Fprintln(digest, node.Name, names)
			if first == nil {
				first = found
			}
		}
		if take && first != nil {
			r.take(first)
		}
		result.Pods++
	}
	result.Digest = hex.EncodeToString(digest.Sum(nil))[:16]
	return result
}
