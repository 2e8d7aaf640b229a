"""
Where our answer is known to be another than upstream's: what no API server stores.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness.allocate import answer_allocate


def asked(device: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A question for one device."""
    ask = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, **more.pop("ask", {})}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": ask}]}}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": [{"name": "a", **device}]}
    return {
        "channel": "experimental",
        "node": {"metadata": {"name": "n"}},
        "claims": [claim],
        "classes": [{"metadata": {"name": "any"}}],
        "slices": [{"metadata": {"name": "s"}, "spec": spec}],
        **more,
    }


@pytest.mark.parametrize("span", [{"min": "1", "step": "0"}, {"step": "2"}])
def test_a_range_that_makes_kube_scheduler_panic_has_no_steps(span: dict[str, str]):
    capacity = {"c": {"value": "4", "requestPolicy": {"default": "1", "validRange": span}}}
    device = {"allowMultipleAllocations": True, "capacity": capacity}
    ask = {"capacity": {"requests": {"c": "3"}}}
    answer = answer_allocate(asked(device, ask=ask, release="1.36.6", features={"ConsumableCapacity": True}))
    assert answer["results"][0]["devices"]["results"][0]["consumedCapacity"] == {"c": "3"}


def test_failure_conditions_without_conditions_are_not_copied_by_one_gate_alone():
    device = {"bindingFailureConditions": ["failed"]}
    answer = answer_allocate(asked(device, release="1.34.13"))
    assert "bindingFailureConditions" not in answer["results"][0]["devices"]["results"][0]
