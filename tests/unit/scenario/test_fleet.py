"""
Shapes of nodes: what descriptions make, the catalogue, and shapes of nodes that are there.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

import dra_alloc
from dra_alloc.cli.main import run
from dra_alloc.errors import InputError, ManifestError
from dra_alloc.manifest import load
from dra_alloc.manifest.given import documents_of
from dra_alloc.releases import NEWEST
from dra_alloc.scenario.fleet.catalogue import catalogue
from dra_alloc.scenario.fleet.fleet import fleet_objects
from dra_alloc.scenario.fleet.shape import FleetShape, schema
from dra_alloc.scenario.fleet.taking import shape_like
from dra_alloc.testing import assert_publishable
from fuzz.oracle import Oracle
from fuzz.oracle_build import newest
from tests.paths import EXAMPLES

#: What lint says of fields whose gates are off: set, as who publishes such devices has to.
GATES = {"DRAPartitionableDevices": True, "DRAConsumableCapacity": True}
#: Shapes that a recorded slice stands behind, each with the file.
RECORDED = {
    "h100-8": "nvidia/slice-h100-80gb-eks-p5.yaml",
    "a100-40gb-8": "nvidia/slice-a100-40gb-eks-p4d.yaml",
    "gb200-4": "nvidia/slice-gb200-oke.yaml",
    "gb300-4": "nvidia/slice-gb300-aks.yaml",
    "h100-8-mig": "nvidia/slice-dynamic-mig-h100-p5.yaml",
    "b200-mig-2": "nvidia/slice-dynamic-mig-b200-2gpu.yaml",
    "mi300x-2-dpx": "amd/slice-mi300x-dpx-partitions.yaml",
    "gaudi2-2": "intel/slice-gaudi2.yaml",
    "tpu-v6e-8": "tpu/slice-v6e-8chips.yaml",
    "net-100g-shared": "dra-example-driver/slice-net-bandwidth.yaml",
    "memory-2x256gi": "memory/slice-two-numa.yaml",
}
#: What is another one on every machine.
OWN = ("uuid", "parentUUID")


def made(**described: Any) -> list[dict[str, Any]]:
    return fleet_objects(FleetShape.model_validate(described))


def slices(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in objects if each["kind"] == "ResourceSlice"]


def devices(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [device for each in slices(objects) for device in each["spec"].get("devices", ())]


def shape(*entries: dict[str, Any], **pool: Any) -> dict[str, Any]:
    return {"mine": {"pools": [{"driver": "gpu.example.com", "devices": list(entries), **pool}]}}


@pytest.mark.parametrize("name", catalogue().shapes)
def test_no_word_in_braces_is_left(name):
    texts = [str(value) for each in devices(made(nodes=[{"shape": name}])) for value in each["attributes"].values()]
    assert not [text for text in texts if "{" in text[1:]]


@pytest.mark.parametrize("name", catalogue().shapes)
def test_the_catalogue_is_taken_by_every_release(name):
    objects = made(nodes=[{"shape": name}])
    # Until 1.35 a slice holds its counters beside its devices, and 32 of them: no machine of many partitions.
    since = 35 if any(each["spec"].get("sharedCounters") for each in slices(objects)) else 34
    for release in (each for each in NEWEST if int(each.removeprefix("1.")) >= since):
        faults = [
            fault
            for each in objects
            if each["kind"] != "Node"
            for fault in dra_alloc.validate(each, release=release, gates=GATES)
        ]
        assert not faults
        assert_publishable(slices(objects), release=release, gates=GATES)


@pytest.mark.needs_go
def test_upstream_takes_the_catalogue():
    objects = [each for name in catalogue().shapes for each in made(nodes=[{"shape": name}]) if each["kind"] != "Node"]
    with ExitStack() as stack:
        for release in newest("apiserver"):
            oracle = stack.enter_context(Oracle(release))
            requests = [{"op": "validate", "release": release, "gates": {}, "object": each} for each in objects]
            answers = list(oracle.batch(requests))
            assert [each.get("errors") for each in answers] == [[]] * len(objects)


def comparable(device: Any) -> Any:
    found = device if isinstance(device, dict) else device.to_wire()
    attributes = {name: each for name, each in found.get("attributes", {}).items() if name not in OWN}
    capacity = json.loads(json.dumps(found.get("capacity", {})))
    return json.dumps({**found, "attributes": attributes, "capacity": capacity}, sort_keys=True, default=str)


@pytest.mark.parametrize("name", RECORDED)
def test_machines_are_as_they_were_recorded(name, shared):
    dump = load(shared / "samples" / RECORDED[name], validate="ignore")
    node = dump.slices[0].spec.node_name
    theirs = [each for each in dump.slices if each.spec.node_name == node]
    drivers = {each.spec.driver for each in theirs}
    own = dra_alloc.fleet({"nodes": [{"shape": name}]})
    ours = {comparable(device) for each in own.slices if each.spec.driver in drivers for device in each.spec.devices}
    assert ours == {comparable(device) for each in theirs for device in each.spec.devices}


def test_slices_stay_within_the_limits():
    plain = made(nodes=[{"shape": "mine"}], shapes=shape({"name": "gpu-{i}", "count": 300}))
    assert [len(each["spec"]["devices"]) for each in slices(plain)] == [128, 128, 44]
    taint = {"key": "k", "effect": "NoSchedule"}
    rare = made(nodes=[{"shape": "mine"}], shapes=shape({"name": "gpu-{i}", "count": 100, "taints": [taint]}))
    assert [len(each["spec"]["devices"]) for each in slices(rare)] == [64, 36]
    parts = [{"name": "{device}-{start}", "starts": [0, 1], "cells": 1}]
    entry = {"name": "gpu-{i}", "count": 10, "cells": {"part": 2}, "partitions": parts}
    cut = [each["spec"] for each in slices(made(nodes=[{"shape": "mine"}], shapes=shape(entry)))]
    assert [len(each.get("sharedCounters", ())) for each in cut] == [8, 2] + [0] * 10
    assert [len(each.get("devices", ())) for each in cut] == [0, 0] + [3] * 10
    assert {json.dumps(each["pool"]) for each in cut} == {json.dumps({**cut[0]["pool"], "resourceSliceCount": 12})}


def test_partitions_take_cells_from_their_start_on():
    parts = {
        "name": "{device}-{start}",
        "starts": [0, 2],
        "cells": 2,
        "counters": {"engines": 1},
        "capacity": "counters",
        "attributes": {"type": "part", "uuid": None},
    }
    entry = {
        "name": "gpu-{i}",
        "attributes": {"type": "gpu", "uuid": "{n:04x}-{i}", "numa": [0, 1], "odd": "{{i}"},
        "counters": {"engines": 4},
        "cells": {"memory-slice": 4},
        "partitions": [parts],
    }
    found = devices(made(nodes=[{"shape": "mine", "count": 11}], shapes=shape(entry)))
    whole, _, part = found[-3:]
    assert whole["attributes"]["uuid"] == {"string": "000b-1"}
    assert whole["attributes"]["odd"] == {"string": "{i}"}
    assert len(whole["consumesCounters"][0]["counters"]) == 5
    assert part["name"] == "gpu-1-2"
    assert part["attributes"] == {"type": {"string": "part"}, "numa": {"int": 1}, "odd": {"string": "{i}"}}
    assert part["capacity"] == {"engines": {"value": "1"}}
    taken = {"engines": "1", "memory-slice-2": "1", "memory-slice-3": "1"}
    assert part["consumesCounters"] == [
        {"counterSet": "gpu-1-counter-set", "counters": {name: {"value": each} for name, each in taken.items()}}
    ]


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    file = tmp_path / "shapes.yaml"
    file.write_text("nodes:\n- {shape: h100-9}\n- {shape: h100-8, nme: x}\n", encoding="utf-8")
    with pytest.raises(ManifestError) as unknown:
        dra_alloc.fleet(file)
    assert [(each.where.line, each.hint) for each in unknown.value.problems] == [(3, "did you mean name?")]
    file.write_text("nodes:\n- {shape: h100-9}\n- {shape: h100-8}\n- {shape: h100-8}\n", encoding="utf-8")
    with pytest.raises(ManifestError) as lacking:
        dra_alloc.fleet(file)
    assert [each.where.line for each in lacking.value.problems] == [2, 4]
    wrong = shape({"name": "GPU_{i}", "taints": [{"key": "k", "effect": "Never"}]})
    with pytest.raises(ManifestError) as refused:
        dra_alloc.fleet({"nodes": [{"shape": "mine"}], "shapes": wrong})
    assert len(refused.value.problems) == 2
    with pytest.raises(ManifestError, match="3 devices, and a list of 2"):
        dra_alloc.fleet({"shapes": shape({"name": "gpu-{i}", "count": 3, "attributes": {"numa": [0, 1]}})})
    with pytest.raises(InputError, match="at most"):
        dra_alloc.fleet({"nodes": [{"shape": "cpu-64", "count": 10_000}]})


def test_what_is_refused_is_told_at_its_place(tmp_path):
    bad = {"driver": "gpu.example.com", "devices": [{"name": "GPU"}]}
    described = {
        "classes": {"odd": {"selectors": [{"cel": {"expression": "1 +"}}]}},
        "nodes": [{"shape": "one"}, {"shape": "two"}, {"shape": "cpu-64", "name": "Big"}],
        "shapes": {"one": {"pools": [bad]}, "two": {"pools": [bad]}},
    }
    file = tmp_path / "shapes.yaml"
    file.write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")
    line = file.read_text(encoding="utf-8").splitlines().index("  one:") + 1
    with pytest.raises(ManifestError) as refused:
        dra_alloc.fleet(file)
    told = refused.value.problems
    assert list(dict.fromkeys(each.where.path for each in told)) == [
        "classes.odd",
        "shapes.one",
        "shapes.two",
        "nodes[2]",
    ]
    assert all(each.where.file == str(file) and "stdin" not in str(each) for each in told)
    assert told[1].where.line == line
    assert told[1].message.startswith("ResourceSlice one-1-gpu.example.com-1: spec.devices[0].name: Invalid value")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "gpu-{i}", "count": 30_000_000}, "200000"),
        ({"name": "gpu-{i}", "cells": {"part": 30_000_000}}, "1000"),
        ({"name": "gpu-{i}", "partitions": [{"name": "p", "cells": 30_000_000}]}, "1000"),
        ({"name": "{i}", "count": 200_000, "partitions": [{"name": "p-{start}", "starts": [0, 1]}]}, "600,000 devices"),
        ({"name": "{i}", "count": 200_000, "cells": {str(each): 1_000 for each in range(9)}}, "values"),
    ],
)
def test_what_is_too_much_is_never_made(tmp_path, capsys, entry, said):
    described = {"shapes": shape(entry)}
    with pytest.raises(ManifestError, match=said):
        dra_alloc.fleet(described)
    scenario = tmp_path / "more.yaml"
    scenario.write_text(yaml.safe_dump({"steps": [{"addNodes": {"shape": "mine"}}], **described}), encoding="utf-8")
    assert run(["what-if", str(scenario), "-c", str(EXAMPLES / "what-if" / "cluster.yaml")]) == 2
    assert said in capsys.readouterr().err


def test_nodes_of_many_groups_are_counted_before_they_are_made():
    groups = [{"shape": "bare", "name": f"n{each}", "count": 10_000} for each in range(1_000)]
    with pytest.raises(InputError, match="at most"):
        dra_alloc.fleet({"nodes": groups, "shapes": {"bare": {}}})


@pytest.mark.parametrize("name", catalogue().shapes)
def test_the_values_of_a_shape_are_counted(name):
    found = catalogue().shapes[name]
    objects = made(nodes=[{"shape": name}])
    assert len(devices(objects)) == found.devices
    assert found.values >= sum(
        len(each.get("attributes", ())) + len(each.get("capacity", ())) for each in devices(objects)
    )


@pytest.mark.parametrize("name", catalogue().shapes)
def test_the_shape_of_a_node_makes_that_node(name):
    dump = dra_alloc.fleet({"nodes": [{"shape": name, "count": 2, "labels": {"odd": "{i}"}}]})
    node = f"{name}-2"
    again = dra_alloc.fleet({"nodes": [{"shape": "again", "name": name}], "shapes": {"again": shape_like(dump, node)}})

    def told(documents: Any, node: str) -> Any:
        found: dict[Any, Any] = {}
        for each in documents.slices:
            if each.spec.node_name == node:
                devices = found.setdefault((each.spec.driver, each.spec.pool.name == node), [])
                devices += [each.to_wire() for each in (*each.spec.shared_counters, *each.spec.devices)]
        return found

    assert told(again, f"{name}-1") == told(dump, node)
    assert again.nodes[0].metadata.labels["odd"] == "{i}"
    assert again.nodes[0].status.allocatable == dump.nodes[1].status.allocatable


def test_the_newest_generation_of_each_pool_is_taken():
    def published(pool: str, generation: int, *names: str) -> dict[str, Any]:
        spec = {
            "driver": "gpu.example.com",
            "nodeName": "n",
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": 1},
            "devices": [{"name": each} for each in names],
        }
        metadata = {"name": f"{pool}-{generation}"}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}

    dump = documents_of([published("n", 1, "a"), published("n", 2, "a", "b"), published("far", 7, "c")])
    again = dra_alloc.fleet({"nodes": [{"shape": "again", "name": "m"}], "shapes": {"again": shape_like(dump, "n")}})
    found = {each.spec.pool.name: [device.name for device in each.spec.devices] for each in again.slices}
    assert found == {"m-1": ["a", "b"], "far-m-1": ["c"]}


def test_nodes_of_a_shape_are_added(tmp_path, capsys):
    scenario = tmp_path / "more.yaml"
    cluster = str(EXAMPLES / "what-if" / "cluster.yaml")
    own = shape({"name": "gpu-{i}", "count": 3, "attributes": {"model": "H100"}})
    steps = [{"addNodes": {"shape": "mine", "count": 2}}, {"addNodes": {"shape": "h100-8"}}]
    scenario.write_text(yaml.safe_dump({"steps": steps, "shapes": own}), encoding="utf-8")
    more = str(EXAMPLES / "capacity" / "more.yaml")
    assert run(["what-if", str(scenario), "-c", cluster, "-f", more, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "mine-new-2" in json.dumps(answer)
    scenario.write_text(yaml.safe_dump({"shapes": own}), encoding="utf-8")
    described = ["--shapes", str(scenario), "--shape", "mine", "--shape", "h100-8"]
    assert run(["capacity", more, "-c", cluster, *described]) == 1
    assert "to add: 2 like mine; fewer are not enough" in capsys.readouterr().out
    assert run(["capacity", more, "-c", cluster, "--shape", "h100-9"]) == 2
    assert "did you mean h100-8?" in capsys.readouterr().err


def test_steps_name_a_node_or_a_shape(tmp_path, capsys):
    scenario = tmp_path / "more.yaml"
    steps = [{"addNodes": {"count": 2}}, {"addNodes": {"shape": "mine"}}, {"addNodes": {"shape": "h100-9"}}]
    scenario.write_text(yaml.safe_dump({"steps": steps, "shapes": shape({"name": "GPU_{i}"})}), encoding="utf-8")
    assert run(["what-if", str(scenario), "-c", str(EXAMPLES / "what-if" / "cluster.yaml")]) == 2
    told = capsys.readouterr().err
    assert "steps[0].addNodes: takes one of like and shape" in told
    assert "steps[1].addNodes.shape: mine: ResourceSlice mine-gpu.example.com-1: spec.devices[0].name: " in told
    assert "steps[2].addNodes.shape: there is no shape h100-9 (did you mean h100-8?)" in told


def test_what_is_made_is_asked_like_a_dump(tmp_path, capsys):
    described = yaml.safe_load((EXAMPLES / "fleet" / "shapes.yaml").read_text(encoding="utf-8"))
    described["nodes"] = [{"shape": "h100-8", "count": 2, "name": "train"}, *described["nodes"][2:]]
    shapes = tmp_path / "shapes.yaml"
    shapes.write_text(yaml.safe_dump(described), encoding="utf-8")
    assert run(["fleet", str(shapes)]) == 0
    file = tmp_path / "fleet.yaml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run(["fleet", str(shapes), "--format", "json"]) == 0
    documents = yaml.load_all(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    assert list(documents) == json.loads(capsys.readouterr().out)["items"]
    assert run(["fleet", "--like", "train-1", "--cluster", str(file)]) == 0
    again = tmp_path / "again.yaml"
    again.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run(["fleet", str(again)]) == 0


@pytest.mark.parametrize("asked", [[], ["x.yaml", "--list"], ["--like", "node"]])
def test_one_thing_is_printed_at_a_time(asked, capsys):
    assert run(["fleet", *asked]) == 2
    assert capsys.readouterr().err


def test_the_schema_knows_the_example_and_the_catalogue():
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    validator = jsonschema_rs.validator_for(schema())
    folder = Path(dra_alloc.__file__).parent / "scenario" / "fleet" / "machines"
    for file in (EXAMPLES / "fleet" / "shapes.yaml", *folder.glob("*.yaml")):
        assert validator.is_valid(yaml.safe_load(file.read_text(encoding="utf-8"))), file
    assert not validator.is_valid({"nodes": [{"nme": "x"}]})
