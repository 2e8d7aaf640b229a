"""
Words of thousands of characters anywhere in the input: messages show their beginning, on one line.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from dra_alloc.cli.main import run
from dra_alloc.errors import in_brief, shortened

LONG = "A\n" * 10_000
MOST = 6_000

CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "default", "labels": {"a": "b"}, "generateName": "c-"},
    "spec": {
        "devices": {
            "requests": [
                {
                    "name": "r",
                    "exactly": {
                        "deviceClassName": "gpu.nvidia.com",
                        "allocationMode": "ExactCount",
                        "count": 1,
                        "selectors": [{"cel": {"expression": "true"}}],
                        "tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}],
                        "capacity": {"requests": {"memory": "1Gi"}},
                    },
                }
            ],
            "constraints": [{"requests": ["r"], "matchAttribute": "gpu.nvidia.com/model"}],
            "config": [{"requests": ["r"], "opaque": {"driver": "gpu.nvidia.com", "parameters": {"a": 1}}}],
        }
    },
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "x", "request": "r"}]}}],
        "resourceClaims": [{"name": "x", "resourceClaimName": "c"}, {"name": "y", "resourceClaimTemplateName": "t"}],
    },
}
SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "d.io",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [
            {
                "name": "d0",
                "attributes": {"model": {"string": "a"}, "n": {"int": 1}, "v": {"version": "1.0.0"}},
                "capacity": {"memory": {"value": "1Gi"}},
                "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}],
            }
        ],
    },
}


def with_one_long(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the value with each of its scalars, and each of its keys, replaced by the long word."""
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, member in pairs:
        if isinstance(member, dict | list):
            for place, changed in with_one_long(member):
                other = copy.copy(value)
                other[key] = changed
                yield f"{key}.{place}", other
        else:
            other = copy.copy(value)
            other[key] = LONG
            yield str(key), other
        if isinstance(value, dict):
            yield f"{key} itself", {(LONG if each == key else each): member for each, member in pairs}


@pytest.mark.parametrize("document", [CLAIM, POD, SLICE], ids=lambda each: each["kind"])
def test_no_message_is_long_whatever_is(document, tmp_path, capsys):
    path = tmp_path / "m.json"
    refused = 0
    for place, changed in with_one_long(document):
        path.write_text(json.dumps(changed))
        code = run(["check", str(path)])
        said = capsys.readouterr()
        refused += code == 2
        assert len(said.err) < MOST, place
        for line in said.err.splitlines():
            assert line.startswith((f"{path}:", "dra-alloc:", "warning:", "note:", "... and", "the manifests:")), (
                place,
                line[:100],
            )
    assert refused > 10


def test_what_is_shown_of_a_text():
    assert shortened("a" * 120) == "a" * 120
    assert shortened("a" * 1_000_000) == "a" * 120 + "… (1,000,000 characters)"
    assert in_brief("a\r\n\x1b[31m\u2028\ud800") == "a\\r\\n\\x1b[31m\\u2028\\ud800"
