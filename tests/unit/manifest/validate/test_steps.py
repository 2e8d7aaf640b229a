"""
The arithmetic of steps of capacities, as the API servers of 1.36 and 1.37 were seen to do it.
"""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc

BIG = str(1 << 63)
LARGE = "must not be larger than 9223372036854775807"
NEGATIVE = "must be greater than or equal to 0"
NO_MILLI = "value cannot be represented as a milli value"
FRACTIONS = {"DRAFractionalCapacityRange": True}


def told(value: str, default: str, release: str = "1.37", gates: Any = None, **bounds: str) -> list[tuple[str, str]]:
    return of_policy(value, {"default": default, "validRange": bounds}, release, gates)


def listed(values: list[str], gates: Any) -> bool:
    """Whether one of two values is one too many."""
    return bool(of_policy("1000E", {"default": values[0], "validValues": values}, "1.37", gates))


def of_policy(value: str, policy: dict[str, Any], release: str, gates: Any) -> list[tuple[str, str]]:
    device = {"name": "d", "allowMultipleAllocations": True}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    devices = [{**device, "capacity": {"m": {"value": value, "requestPolicy": policy}}}]
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    item = {**head, "spec": {"driver": "d.io", "nodeName": "n", "pool": pool, "devices": devices}}
    found = dra_alloc.validate(item, release=release, gates=gates or {})
    return sorted((each.where.path.rpartition(".")[2], each.detail) for each in found)


@pytest.mark.parametrize(
    ("value", "default", "bounds", "wrong"),
    [
        ("100E", BIG, {"min": BIG, "step": "1"}, [("default", LARGE), ("min", LARGE)]),
        ("100E", "5", {"min": "5", "max": BIG, "step": "1"}, [("max", LARGE)]),
        ("100E", BIG, {"min": BIG}, []),
        ("40", "5", {"min": "-5", "step": "5"}, [("min", NEGATIVE)]),
        ("40", "-500m", {"min": "-500m", "step": "1"}, [("default", NEGATIVE), ("min", NEGATIVE)]),
        (
            "40",
            "5",
            {"min": "5", "step": BIG},
            [("step", LARGE), ("step", "one step 9223372036854775813 is larger than capacity value: 40")],
        ),
        ("40", "1500m", {"min": "1", "step": "1"}, []),
    ],
)
def test_numbers_of_steps(value, default, bounds, wrong):
    assert told(value, default, **bounds) == wrong


def test_steps_of_thousandths():
    step = ("step", "value is not a multiple of a given step (1) from (1)")
    assert told("40", "1500m", min="1", step="1", gates=FRACTIONS) == [step]
    names = ("default", "min", "step")
    assert told("40", "1u", min="1u", step="1u", gates=FRACTIONS) == [(name, NO_MILLI) for name in names]
    assert told("40P", "10P", min="10P", step="1500m", gates=FRACTIONS) == [(name, NO_MILLI) for name in names[:2]]


def test_values_of_which_none_is_rounded():
    pairs = [["500m", "1"], ["1", "1000m"], ["1000", "1k"], ["1Ki", "1024"], ["0.5Gi", "0.5Gi"]]
    rounded, exact = ([listed(pair, gates) for pair in pairs] for gates in ({}, FRACTIONS))
    assert rounded == [True] * 5
    assert exact == [False, False, True, True, True]


def test_1_36_wraps():
    assert not told("100E", BIG, min=BIG, step="1", release="1.36")
    assert not told("40", "5", min="-5", step="5", release="1.36")
