"""
Published manifests and inventories: the good ones load, the wrong ones are refused unless the mistake is of meaning.
"""

from __future__ import annotations

import json

import pytest
import yaml

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load, validate_object

LOADS_ALTHOUGH_WRONG = {
    "k8s-counters-and-devices-in-one-slice.yaml",
    "kai-gang-pods-not-attached.yaml",
    "nvidia-gpu-test6-index-attribute.yaml",
    "nvidia-imex-test1-removed-class.yaml",
}


#: Published as right, with fields that a strict server refuses.
MISSPELT = {"claims-gpu.yaml": ("spec.restartpolicy", "spec.resourceclaims")}


def _good(shared):
    files = (path for path in (shared / "samples").glob("*/*.yaml") if path.name not in MISSPELT)
    return [path for path in files if path.parent.name not in ("invalid", "keps")]


def test_misspelt_fields_of_published_pods_are_named(shared):
    for path in (path for path in (shared / "samples").glob("*/*.yaml") if path.name in MISSPELT):
        with pytest.raises(ManifestError) as caught:
            load(path)
        assert tuple(each.where.path for each in caught.value.problems) == MISSPELT[path.name]


def test_every_good_file_loads(shared):
    files = _good(shared)
    assert len(files) > 120
    loaded = [load(path) for path in files]
    assert sum(len(documents.slices) for documents in loaded) > 60
    assert sum(len(documents.templates) for documents in loaded) > 100
    assert not [warning for documents in loaded for warning in documents.warnings if "unknown field" in warning.message]


def test_good_objects_are_admitted(shared):
    """But for a cut-off dump, and owners whose UIDs were left out when they were published."""
    files = _good(shared)
    problems = [
        str(problem)
        for path in files
        for documents in [load(path)]
        for item in (
            *documents.slices,
            *documents.claims,
            *documents.templates,
            *documents.classes,
            *documents.taint_rules,
        )
        for problem in validate_object(item)
        if "v1alpha3-fragment" not in path.name and problem.where.path != "metadata.ownerReferences.uid"
    ]
    assert problems == []


def test_wrong_files(shared):
    refused = {}
    for path in (shared / "samples" / "invalid").glob("*.yaml"):
        if path.name in LOADS_ALTHOUGH_WRONG:
            load(path)
            continue
        with pytest.raises(ManifestError) as caught:
            load(path)
        refused[path.name] = caught.value.problems
    assert all(problem.where.file and problem.where.line for problems in refused.values() for problem in problems)
    assert len(refused) == 4
    assert {problem.hint for problem in refused["intel-cel-misindented.yaml"]} == {'indent it below "cel"'}
    assert len(refused["seed-style-mistakes.yaml"]) > 8


def test_counters_beside_devices_are_refused_by_admission(shared):
    documents = load(shared / "samples" / "invalid" / "k8s-counters-and-devices-in-one-slice.yaml")
    messages = [problem.message for item in documents.slices for problem in validate_object(item)]
    assert messages == ['Invalid value: "": only one of `sharedCounters` or `devices` is allowed']


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_dump_survives_being_written_again(shared, tmp_path, form):

    source = load(shared / "samples" / "nvidia" / "slice-dynamic-mig-h100-1gpu.yaml")
    items = {"apiVersion": "v1", "kind": "List", "items": [item.to_wire() for item in source.slices]}
    path = tmp_path / f"dump.{form}"
    path.write_text(json.dumps(items) if form == "json" else yaml.safe_dump(items))
    assert load(path).slices == source.slices
