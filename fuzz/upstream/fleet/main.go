// Command fleet times what the scheduler's allocator of one Kubernetes release does for pods and nodes of a case file.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"dra-alloc/upstream/harness/named"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	kjson "sigs.k8s.io/json"
)

// celCacheSize is the number of compiled selectors that kube-scheduler keeps.
const celCacheSize = 10

// question is one case: what is there, what is allocated, and what is asked for. Pods come one after the other.
type question struct {
	Mode      string                         `json:"mode"`
	Slices    []*resourceapi.ResourceSlice   `json:"slices"`
	Classes   []*resourceapi.DeviceClass     `json:"classes"`
	Nodes     []*v1.Node                     `json:"nodes"`
	Pods      [][]*resourceapi.ResourceClaim `json:"pods"`
	Allocated [][3]string                    `json:"allocated"`
	Shares    []share                        `json:"shares"`
	Seconds   float64                        `json:"seconds"`
	Repeats   int                            `json:"repeats"`
}

type answer struct {
	Case     string  `json:"case"`
	Runner   string  `json:"runner"`
	WallS    float64 `json:"wall_s"`
	CPUS     float64 `json:"cpu_s"`
	P50US    float64 `json:"p50_us,omitempty"`
	P95US    float64 `json:"p95_us,omitempty"`
	Pods     int     `json:"pods"`
	Placed   int     `json:"placed"`
	Filters  int     `json:"filters"`
	Finished bool    `json:"finished"`
	PeakMB   int64   `json:"peak_mb"`
	Digest   string  `json:"digest"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fleet CASE FILE")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[2])
	check(err)
	var asked question
	check(kjson.UnmarshalCaseSensitivePreserveInts(text, &asked))
	run := newRun(&asked)
	before, start := processorTime(), time.Now()
	var result answer
	switch asked.Mode {
	case "filter":
		result = run.filter()
	case "ask", "loop":
		result = run.ask(asked.Mode == "loop")
	default:
		result = run.place()
	}
	result.WallS, result.CPUS = time.Since(start).Seconds(), processorTime()-before
	result.Case, result.Runner = os.Args[1], fmt.Sprintf("upstream-%dproc", runtime.GOMAXPROCS(0))
	result.PeakMB = peakMB()
	check(json.NewEncoder(os.Stdout).Encode(result))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

type run struct {
	asked   *question
	classes named.Objects[resourceapi.DeviceClass]
	state   structured.AllocatedState
	cache   *dracel.Cache
}

func newRun(asked *question) *run {
	made := &run{asked: asked, cache: dracel.NewCache(celCacheSize, dracel.Features{EnableConsumableCapacity: true})}
	made.classes = named.Objects[resourceapi.DeviceClass]{ByName: map[string]*resourceapi.DeviceClass{}, Missing: unknownClass}
	for _, class := range asked.Classes {
		made.classes.ByName[class.Name] = class
	}
	made.state = structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, id := range asked.Allocated {
		made.state.AllocatedDevices.Insert(structured.MakeDeviceID(id[0], id[1], id[2]))
	}
	for number, held := range asked.Shares {
		made.addShare(held, number)
	}
	return made
}

func unknownClass(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclasses"}, name)
}

// allocator is made anew for each pod, as the scheduler does when it starts on one.
func (r *run) allocator() structured.Allocator {
	features := structured.Features{
		AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true, DeviceTaints: true,
		PartitionableDevices: true, PrioritizedList: true,
	}
	made, err := structured.NewAllocator(context.Background(), features, r.state, r.classes, r.asked.Slices, r.cache)
	check(err)
	return made
}

// place puts each pod on the first node that fits; with several processors nodes are tried at the same time.
func (r *run) place() answer {
	result := answer{Finished: true}
	digest := sha256.New()
	deadline := time.Now().Add(time.Duration(r.asked.Seconds * float64(time.Second)))
	for _, claims := range r.asked.Pods {
		if r.asked.Seconds > 0 && time.Now().After(deadline) {
			result.Finished = false
			break
		}
		node, found, filters := firstNode(r.allocator(), r.asked.Nodes, claims)
		result.Pods++
		result.Filters += filters
		if found == nil {
			fmt.Fprintln(digest, "-")
			continue
		}
		result.Placed++
		r.take(found)
		fmt.Fprintln(digest, node.Name, deviceNames(found))
	}
	result.Digest = hex.EncodeToString(digest.Sum(nil))[:16]
	return result
}

// filter asks the first pod's question of every node, again and again, with one allocator.
func (r *run) filter() answer {
	allocator, claims := r.allocator(), r.asked.Pods[0]
	var times []float64
	placed, digest := 0, sha256.New()
	for repeat := 0; repeat < r.asked.Repeats; repeat++ {
		placed = 0
		digest.Reset()
		for _, node := range r.asked.Nodes {
			start := time.Now()
			results, err := allocator.Allocate(context.Background(), node, claims)
			times = append(times, float64(time.Since(start).Nanoseconds())/1e3)
			check(err)
			if results == nil {
				fmt.Fprintln(digest, "-")
				continue
			}
			placed++
			fmt.Fprintln(digest, node.Name, deviceNames(results))
		}
	}
	slices.Sort(times)
	return answer{
		Finished: true, Pods: 1, Placed: placed, Filters: len(times),
		P50US: times[len(times)/2], P95US: times[len(times)*95/100],
		Digest: hex.EncodeToString(digest.Sum(nil))[:16],
	}
}

func processorTime() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
