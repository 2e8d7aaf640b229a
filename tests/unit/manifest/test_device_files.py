"""Devices written down by themselves, and everything that can be wrong with such a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest.device_files import load_devices

DEVICE = {"name": "gpu-0", "attributes": {"model": {"string": "H100"}}, "capacity": {"memory": {"value": "80Gi"}}}
SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "d",
        "nodeName": "n",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [DEVICE],
    },
}
OLD = {"name": "gpu-0", "basic": {"attributes": {"model": {"string": "H100"}}, "capacity": {"memory": {"value": 5}}}}


def _loaded(folder: Path, text: str | bytes, driver: str = "d") -> list[tuple[str, str, list[str]]]:
    """Driver, name and what it has, of every device."""
    path = folder / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    slices = load_devices([path], driver=driver).slices
    return [
        (each.spec.driver, device.name, sorted((*device.attributes, *device.capacity)))
        for each in slices
        for device in each.spec.devices
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(DEVICE), id="one"),
        pytest.param(json.dumps([DEVICE]), id="list"),
        pytest.param(json.dumps({"driver": "d", "devices": [DEVICE]}), id="devices"),
        pytest.param(json.dumps({**DEVICE, "driver": "d"}), id="says its driver"),
        pytest.param(json.dumps(SLICE), id="slice"),
        pytest.param(json.dumps({"apiVersion": "v1", "kind": "List", "items": [SLICE]}), id="list of slices"),
        pytest.param(json.dumps([SLICE]), id="slices in a list"),
        pytest.param(json.dumps(OLD), id="as before v1"),
        pytest.param(
            "name: gpu-0\nattributes: {model: {string: H100}}\ncapacity: {memory: 80Gi}\n", id="short amounts in YAML"
        ),
        pytest.param(
            "# nothing but this\n- name: gpu-0\n  attributes: {model: {}}\n  capacity: {memory: 1}\n", id="YAML"
        ),
        pytest.param(gzip.compress(json.dumps(DEVICE).encode(), mtime=0), id="gzip"),
        pytest.param(b"\xef\xbb\xbf" + json.dumps(DEVICE).encode(), id="byte order mark"),
    ],
)
def test_a_device_is_a_device_however_it_is_written(tmp_path, text):
    assert _loaded(tmp_path, text) == [("d", "gpu-0", ["memory", "model"])]


def test_devices_may_follow_each_other_and_go_without_names(tmp_path):
    text = "attributes: {a: {int: 1}}\n---\ndriver: e\ncapacity: {c: 1}\n---\n"
    assert _loaded(tmp_path, text) == [("d", "device-0", ["a"]), ("e", "device-1", ["c"])]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        pytest.param("", None, "no device in this file (a device, a list of devices, or a ResourceSlice)", id="empty"),
        pytest.param("\n\n# comment\n", None, "no device in this file", id="blank"),
        pytest.param("[]", None, "no device in this file", id="empty list"),
        pytest.param("{}", 1, "this is no device", id="empty object"),
        pytest.param("[1]", 1, "this is no device", id="number"),
        pytest.param("hello", 1, "this is no device", id="text"),
        pytest.param("{", 1, "cannot be read as JSON: the text ends too early", id="cut off"),
        pytest.param(b"\x7fELF\x00\x01\x02\xff", 1, "cannot be read as YAML", id="binary"),
        pytest.param(b"\x1f\x8bnope", None, "gzip data", id="broken gzip"),
        pytest.param("a: [", 2, "cannot be read as YAML", id="bad YAML"),
        pytest.param("name: x\nattributes:\n  a: {int: b}\n", 3, "expected a whole number", id="wrong type"),
        pytest.param("name: x\nattributs:\n  a: {int: 1}\n", 2, 'unknown field "attributs"', id="misspelt"),
        pytest.param("- name: x\n- name: z\n  capacity:\n    m: 1Q\n", 4, "quantities must match", id="bad amount"),
        pytest.param('{"devices":[\n{"name":"x"},\n{"name":"y","attributes":5}]}', 3, "expected an object", id="JSON"),
        pytest.param("name: x\nname: z\n", 2, 'duplicate field "name"', id="twice"),
        pytest.param('{"name": "x",\n"name": "z"}', 2, 'duplicate field "name"', id="twice in JSON"),
        pytest.param("apiVersion: v1\nkind: Pod\n", 1, "Pod holds no devices", id="pod"),
        pytest.param("apiVersion: resource.k8s.io/v2\nkind: ResourceSlice\n", 1, "no matches for kind", id="version"),
        pytest.param("kind: ResourceSlice\n", 1, "ResourceSlice holds no devices", id="no version"),
        pytest.param("driver: 5\nname: x\n", 1, "its driver is no string", id="driver"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, line, expected):
    with pytest.raises(ManifestError) as caught:
        _loaded(tmp_path, text)
    (problem,) = caught.value.problems
    assert expected in str(problem)
    assert problem.where.line == line


def test_a_device_needs_a_driver(tmp_path):
    with pytest.raises(ManifestError, match=r"device gpu-0: does not say its driver \(give it a driver"):
        _loaded(tmp_path, json.dumps(DEVICE), driver="")


def test_every_file_is_looked_at(tmp_path):
    (tmp_path / "a.yaml").write_text("{}")
    with pytest.raises(ManifestError) as caught:
        load_devices([tmp_path / "nope", tmp_path / "a.yaml"], driver="d")
    assert len(caught.value.problems) == 2


def test_numbers_are_quoted_as_written(tmp_path: Path) -> None:
    for text in (
        "name: a\nattributes:\n  x: {int: 9223372036854775808123}\n",
        '{"name": "a", "attributes": {"x": {"int": 9223372036854775808123}}}',
    ):
        (tmp_path / "a").write_text(text)
        with pytest.raises(ManifestError, match="the number 9223372036854775808123 does not fit into 64 bits"):
            load_devices([tmp_path / "a"], driver="d")


def test_what_the_api_server_would_refuse_is_told_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "- name: a\n  driver: d\n- name: b\n  driver: D!\n  attributes:\n    x: {}\n    v: {version: '1'}\n"
    )
    found = load_devices([path])
    assert len(found.slices) == 2
    told = [(each.where.line, each.where.object, each.where.path) for each in found.refused]
    assert told == [
        (4, "device b", "driver"),
        (6, "device b", "attributes[x]"),
        (7, "device b", "attributes[v].version"),
    ]


def test_a_slice_is_judged_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    wrong = {**SLICE, "spec": {**SLICE["spec"], "nodeName": "", "devices": [{"name": "UP"}]}}
    path.write_text(json.dumps([SLICE, wrong]))
    told = [each.where.path for each in load_devices([path]).refused]
    assert told[-1] == "spec.devices[0].name"
    assert load_devices([path]).slices[0].spec.node_name == "n"
