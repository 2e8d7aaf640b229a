"""
Write the slices of the example cluster: two nodes of eight H100 GPUs, each GPU whole or in MIG partitions.

A partition takes counters from its GPU's counter set: compute and media engines,
memory, and the memory slices that it covers, which is what makes two
placements exclude each other. One ResourceSlice holds the counter sets of a node,
and one more each GPU's devices, because a slice that uses counters may hold 64.

Run ``python docs/examples/generate.py`` to write the file again, or give
``--check`` to fail where it differs from what is on disk.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "cluster" / "slices.yaml"
DRIVER = "gpu.nvidia.com"
NODES = ("h100-a", "h100-b")
GPUS_PER_NODE = 8
MEMORY_SLICES = 8
ENGINES = ("copy-engines", "decoders", "encoders", "jpeg-engines", "ofa-engines")
PCI_BUSES = ("1b", "2c", "43", "5d", "9a", "ab", "bc", "db")
PCI_ROOTS = ("15", "26", "37", "51", "8e", "a0", "b2", "c9")
FAULTY = ("h100-b", 7)


@dataclass(frozen=True)
class Profile:
    """A MIG profile: where it may start, how many memory slices it covers, and what else it takes."""

    name: str
    instance: int
    starts: tuple[int, ...]
    covers: int
    memory: str
    multiprocessors: int
    engines: tuple[int, int, int, int, int]


PROFILES = (
    Profile("1g.10gb", 19, (0, 1, 2, 3, 4, 5, 6), 1, "9984Mi", 16, (1, 1, 0, 1, 0)),
    Profile("1g.10gb+me", 20, (0, 1, 2, 3, 4, 5, 6), 1, "9984Mi", 16, (1, 1, 0, 1, 1)),
    Profile("1g.20gb", 15, (0, 2, 4, 6), 2, "20096Mi", 26, (1, 1, 0, 1, 0)),
    Profile("2g.20gb", 14, (0, 2, 4), 2, "20096Mi", 32, (2, 2, 0, 2, 0)),
    Profile("3g.40gb", 9, (0, 4), 4, "40448Mi", 60, (3, 3, 0, 3, 0)),
    Profile("4g.40gb", 5, (0,), 4, "40448Mi", 64, (4, 4, 0, 4, 0)),
    Profile("7g.80gb", 0, (0,), 8, "81152Mi", 132, (8, 7, 0, 7, 1)),
)
WHOLE = PROFILES[-1]


def counters(profile: Profile, start: int) -> dict[str, Any]:
    """What a partition that starts at this memory slice takes from its GPU's counter set."""
    values = dict(zip(ENGINES, map(str, profile.engines), strict=True))
    values |= {"memory": profile.memory, "multiprocessors": str(profile.multiprocessors)}
    values |= {f"memory-slice-{place}": "1" for place in range(start, start + profile.covers)}
    return {name: {"value": value} for name, value in values.items()}


def capacity(profile: Profile) -> dict[str, Any]:
    """The same amounts as a device's capacity; names are camel case there, and memory slices don't count."""
    return {_camel(name): value for name, value in counters(profile, 0).items() if "slice" not in name}


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(word.title() for word in rest)


def device(node: str, gpu: int, profile: Profile, start: int | None) -> dict[str, Any]:
    """One device: the whole GPU (no start), or one placement of one profile."""
    uuid = f"GPU-{NODES.index(node) + 1:08d}-0000-4000-8000-{gpu:012d}"
    attributes: dict[str, Any] = {
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "580.105.8"},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "resource.kubernetes.io/numaNode": {"int": gpu * 2 // GPUS_PER_NODE},
        "resource.kubernetes.io/pciBusID": {"string": f"0000:{PCI_BUSES[gpu]}:00.0"},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{PCI_ROOTS[gpu]}"},
    }
    if start is None:
        name = f"gpu-{gpu}"
        attributes |= {"type": {"string": "gpu"}, "uuid": {"string": uuid}}
    else:
        short = profile.name.replace(".", "").replace("+", "-")
        name = f"gpu-{gpu}-mig-{short}-{profile.instance}-{start}"
        attributes |= {
            "type": {"string": "mig"},
            "profile": {"string": profile.name},
            "parentUUID": {"string": uuid},
        }
    made: dict[str, Any] = {
        "name": name,
        "attributes": attributes,
        "capacity": capacity(profile),
        "consumesCounters": [{"counterSet": f"gpu-{gpu}-counter-set", "counters": counters(profile, start or 0)}],
    }
    if (node, gpu) == FAULTY:
        made["taints"] = [{"key": f"{DRIVER}/xid", "value": "79", "effect": "NoSchedule"}]
    return made


def devices(node: str, gpu: int) -> list[dict[str, Any]]:
    """Every device of one GPU, in the order in which the driver publishes them: by name."""
    parts = [device(node, gpu, profile, start) for profile in PROFILES for start in profile.starts]
    return sorted([device(node, gpu, WHOLE, None), *parts], key=lambda made: str(made["name"]))


def flow(value: object) -> str:
    """JSON, which YAML contains, with names and plain words bare."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(member) for member in value) + "]"
    text = str(value)
    if isinstance(value, int) or (text.replace("-", "").isalnum() and text[0].isalpha()):
        return text
    return json.dumps(text)


def render() -> Iterator[str]:
    """The lines of the file: for each node the slice of counter sets, then a slice for each GPU."""
    yield "# Written by docs/examples/generate.py; what `kubectl get resourceslices -o yaml` shows, in fewer lines."
    for node in NODES:
        yield from _head(node, "counters")
        yield "  sharedCounters:"
        for gpu in range(GPUS_PER_NODE):
            yield f"  - name: gpu-{gpu}-counter-set"
            yield f"    counters: {flow(counters(WHOLE, 0))}"
        for gpu in range(GPUS_PER_NODE):
            yield from _head(node, f"gpu-{gpu}")
            yield "  devices:"
            for made in devices(node, gpu):
                yield f"  - name: {made.pop('name')}"
                yield from (f"    {field}: {flow(value)}" for field, value in made.items())


def _head(node: str, part: str) -> Iterator[str]:
    yield "---"
    yield "apiVersion: resource.k8s.io/v1"
    yield "kind: ResourceSlice"
    yield f"metadata: {{name: {node}-{DRIVER}-{part}}}"
    yield "spec:"
    yield f"  driver: {DRIVER}"
    yield f"  nodeName: {node}"
    yield f"  pool: {{name: {node}, generation: 1, resourceSliceCount: {GPUS_PER_NODE + 1}}}"


def main(arguments: list[str]) -> int:
    """Write the file, or with ``--check`` compare it; 1 where it differs."""
    text = "\n".join(render()) + "\n"
    if arguments == ["--check"]:
        same = FILE.read_text() == text
        print(f"{FILE.name} is {'up to date' if same else 'out of date: run docs/examples/generate.py'}")
        return 0 if same else 1
    FILE.write_text(text)
    print(f"wrote {FILE.name}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
