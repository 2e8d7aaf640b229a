"""
Write a cluster dump of ResourceSlices, the same bytes on every run.

    python benchmarks/generate.py --slices 5000 --devices 8 --format json dump.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

MODELS = ("Example H100 80GB HBM3", "Example A100-SXM4-40GB")


def slices(count: int, devices: int) -> Iterator[dict[str, Any]]:
    """Yield `count` slices of one node each: 15 attributes and 1 capacity for each device, UUIDs unique."""
    for node in range(count):
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {
                "creationTimestamp": "2026-01-15T10:00:00Z",
                "generateName": f"node-{node:05d}-gpu.example.com-",
                "generation": 1,
                "name": f"node-{node:05d}-gpu.example.com-{node % 97:05x}",
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "controller": True,
                        "kind": "Node",
                        "name": f"node-{node:05d}",
                        "uid": f"00000000-0000-4000-8000-{node:012d}",
                    }
                ],
                "resourceVersion": str(1_000_000 + node),
                "uid": f"00000000-0000-4000-9000-{node:012d}",
            },
            "spec": {
                "devices": [_device(node, position) for position in range(devices)],
                "driver": "gpu.example.com",
                "nodeName": f"node-{node:05d}",
                "pool": {"generation": 1, "name": f"node-{node:05d}", "resourceSliceCount": 1},
            },
        }


def _device(node: int, position: int) -> dict[str, Any]:
    model = MODELS[node % len(MODELS)]
    attributes = {
        "architecture": {"string": "Example"},
        "brand": {"string": "Example"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "cudaDriverVersion": {"version": "13.0.0"},
        "driverVersion": {"version": "580.105.8"},
        "index": {"int": position},
        "healthy": {"bool": True},
        "minor": {"int": position},
        "productName": {"string": model},
        "resource.kubernetes.io/numaNode": {"int": position // 4},
        "resource.kubernetes.io/pciBusID": {"string": f"0000:{position + 16:02x}:00.0"},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{position // 2 + 16:02x}"},
        "rack": {"string": f"rack-{node // 32}"},
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-00000000-0000-4000-{position:04d}-{node:012d}"},
    }
    return {
        "attributes": attributes,
        "capacity": {"memory": {"value": "81559Mi" if model == MODELS[0] else "40Gi"}},
        "name": f"gpu-{position}",
    }


def dump(count: int, devices: int) -> dict[str, Any]:
    """Return the list as ``kubectl get resourceslices -o json`` prints it."""
    return {
        "apiVersion": "v1",
        "items": list(slices(count, devices)),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def write(path: Path, count: int, devices: int, form: str) -> None:
    """Write a dump as ``json`` (compact), ``kubectl`` (JSON with its indentation) or ``yaml``."""
    content = dump(count, devices)
    if form == "yaml":
        text = yaml.dump(content, Dumper=yaml.CSafeDumper, default_flow_style=False)
    elif form == "kubectl":
        text = json.dumps(content, indent=4) + "\n"
    else:
        text = json.dumps(content, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--slices", type=int, default=5_000)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--format", choices=("json", "kubectl", "yaml"), default="json")
    given = parser.parse_args()
    write(given.path, given.slices, given.devices, given.format)


if __name__ == "__main__":
    main()
