"""
What a driver may publish, as its own tests ask.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import ResourceSlice
from dra_alloc.errors import InputError
from dra_alloc.testing import assert_publishable


def published(name: str, device: str, **spec: Any) -> dict[str, Any]:
    said = {
        "driver": "gpu.example.com",
        "nodeName": "node",
        "pool": {"name": "node", "generation": 1, "resourceSliceCount": 2},
        "devices": [{"name": device}],
    }
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}}
    return {**head, "spec": {**said, **spec}}


def test_slices_that_make_a_pool():
    slices = [published("one", "gpu-0"), published("two", "gpu-1")]
    assert_publishable(slices)
    assert_publishable(map(ResourceSlice.from_wire, slices), release="1.38")


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (published("two", "gpu-0"), "P502"),
        (published("two", "gpu-1", pool={"name": "node", "generation": 2, "resourceSliceCount": 1}), "P506"),
        (published("two", "gpu-1", pool={"name": "node", "generation": 1, "resourceSliceCount": 1}), "P507"),
        (published("two", "GPU"), "S121"),
        (published("two", "gpu-1", unknown=1), "S1"),
    ],
)
def test_what_is_wrong_is_told_with_its_code(second: dict[str, Any], code: str):
    with pytest.raises(AssertionError, match=f"^{code}"):
        assert_publishable([published("one", "gpu-0"), second])


def test_gates_and_releases_are_asked():
    lists = [published("one", "gpu-0"), published("two", "gpu-1")]
    lists[1]["spec"]["devices"][0]["attributes"] = {"x": {"strings": ["a"]}}
    assert_publishable(lists, release="1.37", gates={"DRAListTypeAttributes": True})
    with pytest.raises(AssertionError, match="R703"):
        assert_publishable(lists, release="1.37", gates={"DRAListTypeAttributes": False})


def test_nothing_is_no_slice():
    for nothing in ([], [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}]):
        with pytest.raises(InputError, match="no slices"):
            assert_publishable(nothing)
