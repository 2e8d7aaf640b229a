"""
The status of taint rules, changed by itself.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import dra_alloc
from dra_alloc.cli.main import run

READY = {"type": "Evicting", "status": "True", "reason": "Up", "lastTransitionTime": "2026-01-31T12:00:00Z"}


def rule(*conditions: dict[str, Any], key: str = "k", version: str = "v1alpha3") -> dict[str, Any]:
    head = {"apiVersion": f"resource.k8s.io/{version}", "kind": "DeviceTaintRule", "metadata": {"name": "r"}}
    spec = {"taint": {"key": key, "effect": "NoExecute"}}
    return {**head, "spec": spec, "status": {"conditions": list(conditions)}}


def told(*conditions: dict[str, Any], release: str = "1.36") -> list[tuple[str, str, str]]:
    """Return what is wrong with a status; a spec that would be wrong is not looked at."""
    found = dra_alloc.validate(rule(*conditions, key="-"), old=rule(), subresource="status", release=release)
    return [(each.type, each.where.path, each.detail) for each in found]


def test_conditions_are_looked_at_and_nothing_else():
    assert not told(READY)
    assert told({**READY, "status": "x", "reason": ""}) == [
        ("FieldValueNotSupported", "status.conditions[0].status", 'supported values: "False", "True", "Unknown"'),
        ("FieldValueRequired", "status.conditions[0].reason", ""),
    ]


def test_texts_of_conditions_have_an_end():
    assert not told({**READY, "reason": "a" * 1024, "message": "a" * 32_768})
    assert told({**READY, "reason": "a" * 1025, "message": "a" * 32_769}) == [
        ("FieldValueTooLong", "status.conditions[0].reason", "may not be more than 1024 bytes"),
        ("FieldValueTooLong", "status.conditions[0].message", "may not be more than 32768 bytes"),
    ]


def test_zero_is_a_number_from_1_38_on():
    below = {**READY, "observedGeneration": -1}
    words = {release: told(below, release=release)[0][2].rpartition(" ")[2] for release in ("1.37", "1.38")}
    assert words == {"1.37": "zero", "1.38": "0"}


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"labels": {"a b": "c"}, "annotations": {"": "c"}, "finalizers": ["x"], "ownerReferences": [{}]}, None),
        ({"deletionTimestamp": "2026-01-31T12:00:00Z", "generation": -1}, None),
        ({"uid": "v"}, "metadata.uid"),
        ({"deletionGracePeriodSeconds": 3}, "metadata.deletionGracePeriodSeconds"),
    ],
)
def test_of_metadata_only_what_says_which_object_it_is_is_looked_at(metadata, path):
    changed = rule(READY)
    changed["metadata"] |= metadata
    found = dra_alloc.validate(changed, old=rule(), subresource="status")
    assert [each.where.path for each in found] == ([] if path is None else [path])


def test_rules_have_a_status_from_1_35_on():
    assert not told(READY, release="1.35")
    with pytest.raises(dra_alloc.InputError, match=r"a DeviceTaintRule of 1\.34\.\d+ has none"):
        told(READY, release="1.34")


def test_what_has_no_status_is_changed_as_a_whole(tmp_path, capsys):
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}}
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [device_class, rule(key="-")]}))
    new.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [device_class, rule(READY, key="-")]}))
    assert run(["validate", str(new), "--old", str(old), "--subresource", "status"]) == 0
    assert "2 objects" in capsys.readouterr().out
