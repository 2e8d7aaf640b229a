package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/structured"
)

// share is what one allocation consumes of a device.
type share struct {
	Device   [3]string                                       `json:"device"`
	Capacity map[resourceapi.QualifiedName]resource.Quantity `json:"capacity"`
}

// addShare notes a share that is held from the start; the identity of shares is their number.
func (r *run) addShare(held share, number int) {
	id := types.UID(fmt.Sprintf("share-%d", number))
	r.share(structured.MakeDeviceID(held.Device[0], held.Device[1], held.Device[2]), &id, held.Capacity)
}

func (r *run) share(device structured.DeviceID, id *types.UID, capacity map[resourceapi.QualifiedName]resource.Quantity) {
	r.state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device, id))
	r.state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device, capacity))
}

// take notes what an allocation holds.
func (r *run) take(results []resourceapi.AllocationResult) {
	for _, result := range results {
		for _, device := range result.Devices.Results {
			id := structured.MakeDeviceID(device.Driver, device.Pool, device.Device)
			if device.ShareID != nil {
				r.share(id, device.ShareID, device.ConsumedCapacity)
			} else {
				r.state.AllocatedDevices.Insert(id)
			}
		}
	}
}

// deviceNames returns the devices in order, each with what is consumed of it.
func deviceNames(results []resourceapi.AllocationResult) string {
	var text strings.Builder
	for _, result := range results {
		for _, device := range result.Devices.Results {
			text.WriteString(device.Pool + "/" + device.Device)
			for _, name := range slices.Sorted(maps.Keys(device.ConsumedCapacity)) {
				amount := device.ConsumedCapacity[name]
				text.WriteString("," + string(name) + "=" + amount.String())
			}
			text.WriteString(" ")
		}
	}
	return text.String()
}

// peakMB returns the most memory of this process: what the system counts besides includes who started it.
func peakMB() int64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(text)) {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes / 1024
		}
	}
	return 0
}
