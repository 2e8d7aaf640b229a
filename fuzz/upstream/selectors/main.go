// Command selectors times what one Kubernetes release takes to compile CEL selectors and to match devices with them.
//
// It serves its standard input line by line, so that a benchmark can let it take turns with others.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// question is one line: devices to keep for later lines, or an expression to compile and to ask of them.
type question struct {
	Devices []device `json:"devices"`
	Expr    string   `json:"expr"`
	Compile int      `json:"compile"`
	Rounds  int      `json:"rounds"`
}

type device struct {
	Driver     string                                                    `json:"driver"`
	Attributes map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[resourceapi.QualifiedName]resource.Quantity           `json:"capacity"`
}

type answer struct {
	CompileUS float64 `json:"compile_us"`
	DeviceUS  float64 `json:"device_us"`
	Matching  int     `json:"matching"`
	Failing   int     `json:"failing"`
}

func main() {
	var devices []dracel.Device
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder, encoder := json.NewDecoder(lines), json.NewEncoder(os.Stdout)
	for decoder.More() {
		var asked question
		check(decoder.Decode(&asked))
		if asked.Devices != nil {
			devices = kept(asked.Devices)
			check(encoder.Encode(map[string]int{"devices": len(devices)}))
			continue
		}
		check(encoder.Encode(timed(asked, devices)))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "selectors:", err)
		os.Exit(1)
	}
}

// kept are devices as the scheduler has them, each of a slice of its own.
func kept(given []device) []dracel.Device {
	devices := make([]dracel.Device, 0, len(given))
	for _, each := range given {
		made := resourceapi.Device{Attributes: each.Attributes}
		made.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}
		for name, value := range each.Capacity {
			made.Capacity[name] = resourceapi.DeviceCapacity{Value: value}
		}
		spec := resourceapi.ResourceSliceSpec{Driver: each.Driver, Devices: []resourceapi.Device{made}}
		devices = append(devices, selected(&resourceapi.ResourceSlice{Spec: spec})...)
	}
	return devices
}

func timed(asked question, devices []dracel.Device) answer {
	stored := environment.StoredExpressions
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	options := dracel.Options{EnvType: &stored, DisableCostEstimation: true}
	compiled := compiler.CompileCELExpression(asked.Expr, options)
	if compiled.Error != nil {
		check(compiled.Error)
	}
	before := processorTime()
	for range asked.Compile {
		compiler.CompileCELExpression(asked.Expr, options)
	}
	result := answer{CompileUS: perCall(before, asked.Compile)}
	before = processorTime()
	for range asked.Rounds {
		result.Matching, result.Failing = 0, 0
		for _, each := range devices {
			matches, _, err := compiled.DeviceMatches(context.Background(), each)
			if err != nil {
				result.Failing++
			} else if matches {
				result.Matching++
			}
		}
	}
	result.DeviceUS = perCall(before, asked.Rounds*len(devices))
	return result
}

func perCall(before time.Duration, calls int) float64 {
	if calls == 0 {
		return 0
	}
	return float64(processorTime()-before) / float64(time.Microsecond) / float64(calls)
}

// processorTime is that of all threads: the garbage collector's is part of the price.
func processorTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
