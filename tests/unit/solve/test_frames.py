"""What rules look at in a slice, found by comparing slices: never coarser than working it out device by device."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from dra_alloc.api import ResourceSlice
from dra_alloc.manifest.make.records import slice_from_json
from dra_alloc.problem.devices import SliceRow
from dra_alloc.solve.frames import Frames

POLICY = {"default": "1", "validValues": ["1", "2"]}
USE = {"counterSet": "s", "counters": {"c": {"value": "1"}}}
DEVICES: list[dict[str, Any]] = [
    {},
    {"allowMultipleAllocations": True},
    {"taints": [{"key": "k", "effect": "NoSchedule"}]},
    {"taints": [{"key": "k", "effect": "NoExecute"}]},
    {"consumesCounters": [USE]},
    {"consumesCounters": [{**USE, "counterSet": "t"}]},
    {"consumesCounters": [{**USE, "counters": {"c": {"value": "2"}}}]},
    {"consumesCounters": [{**USE, "counters": {"d": {"value": "1"}}}]},
    {"consumesCounters": [USE], "capacity": {"m": {"value": "1Ki"}}},
    {"consumesCounters": [USE], "capacity": {"m": {"value": "1024"}}},
    {"consumesCounters": [USE], "capacity": {"m": {"value": "0.5Gi"}}},
    {"consumesCounters": [USE], "capacity": {"m": {"value": "512Mi"}}},
    {"consumesCounters": [USE], "capacity": {"n": {"value": "1Ki"}}},
    {"capacity": {"m": {"value": "2", "requestPolicy": POLICY}}},
    {"capacity": {"m": {"value": "2", "requestPolicy": {**POLICY, "default": "2"}}}},
    {"bindsToNode": True, "bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]},
]


def rows(records: bool) -> list[SliceRow]:
    found = []
    for number, wanted in enumerate(product(DEVICES, DEVICES[::5])):
        # Names and attributes tell no frames apart.
        devices = [
            {"name": f"d{number}-{place}", "attributes": {"id": {"int": number}}, **device}
            for place, device in enumerate(wanted)
        ]
        pool = {"name": f"p{number}", "generation": 1, "resourceSliceCount": 1}
        wire = {"metadata": {"name": f"s{number}"}, "spec": {"driver": "d", "pool": pool, "devices": devices}}
        made = slice_from_json(json.dumps(wire).encode()) if records else ResourceSlice.model_validate(wire)
        found.append(SliceRow(made, number))
    return found


@pytest.mark.parametrize("records", [False, True])
def test_whatever_rules_look_at_tells_frames_apart(records: bool) -> None:
    frames = Frames()
    tokens = [frames.token(row) for row in rows(records)]
    assert len(set(tokens)) == len(tokens)
    assert [frames.token(row) for row in rows(records)] == tokens
