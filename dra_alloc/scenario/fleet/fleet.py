"""
Fleets: the objects that a description of nodes makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.errors import InputError, ManifestError, Problem, Where, did_you_mean
from dra_alloc.manifest import Documents, Manner, load_plain
from dra_alloc.manifest.given import documents_of, read_given
from dra_alloc.manifest.plain_file import with_lines
from dra_alloc.scenario.fleet.catalogue import catalogue
from dra_alloc.scenario.fleet.making import node_objects
from dra_alloc.scenario.fleet.shape import FleetShape, MachineShape, NodeGroup
from dra_alloc.scenario.plain_models import faults_of
from dra_alloc.scenario.validating import CREATE, validated

__all__ = ["checked_node", "fleet", "fleet_objects", "read_fleet"]

#: More devices than these would fill the memory of a small machine.
DEVICES_OF_FLEET_MAX: Final = 200_000


def fleet(shapes: Mapping[str, Any] | str | os.PathLike[str]) -> Documents:
    """
    Return the nodes, slices and classes that a description makes, free and without pods.

    `shapes` is a file as ``dra-alloc fleet`` takes it, or a mapping of the
    same form, such as ``{"nodes": [{"shape": "h100-8", "count": 4}]}``.

    Spec: FLEET-1 to FLEET-4. Raises: ManifestError, with everything that is wrong with it; InputError.
    """
    if isinstance(shapes, Mapping):
        described, problems = _described(shapes)
        if problems:
            raise ManifestError(problems)
    else:
        described = read_fleet(os.fspath(shapes))
    return documents_of(fleet_objects(described))


def read_fleet(file: str) -> FleetShape:
    """Return the description in a file. Raises: ManifestError, with everything that is wrong with it, and its lines."""
    documents = load_plain(file)
    if len(documents) != 1:
        said = f"a description is one document, and this file has {len(documents) or 'none'}"
        raise ManifestError([Problem(said, Where(file=file))])
    found, problems = _described(documents[0])
    if problems:
        placed = [replace(each, where=replace(each.where, file=file)) for each in problems]
        raise ManifestError(with_lines(placed, file))
    return found


def checked_node(shape: MachineShape, name: str) -> list[dict[str, Any]]:
    """Return a node of a shape with its slices. Raises: ManifestError for what an API server would refuse."""
    objects = list(node_objects(shape, name))
    _check(objects)
    return objects


def fleet_objects(described: FleetShape) -> list[dict[str, Any]]:
    """
    Return the objects of a fleet as they are written in JSON: classes, then node after node.

    Raises: ManifestError for what an API server would refuse; InputError for more than is made.
    """
    all_shapes = {**catalogue().shapes, **described.shapes}
    known = {**catalogue().classes, **described.classes}
    shapes = [all_shapes[each.shape] for each in described.nodes]
    wanted = dict.fromkeys([*described.classes, *(name for each in shapes for name in each.classes)])
    made = [_class(name, known[name]) for name in wanted]
    _check(made)
    devices = 0
    for group, shape in zip(described.nodes, shapes, strict=True):
        first = _node(group, shape, 1)
        _check(first)
        devices += group.count * sum(len(each["spec"].get("devices", ())) for each in first)
        if devices > DEVICES_OF_FLEET_MAX:
            raise InputError(
                f"this would be {devices:,} devices or more, and {DEVICES_OF_FLEET_MAX:,} are made at most"
            )
        made += first
        for number in range(2, group.count + 1):
            made += _node(group, shape, number)
    return made


def _described(document: Any) -> tuple[FleetShape, list[Problem]]:
    """Return a description, and what is wrong with it."""
    try:
        found = FleetShape.model_validate(document)
    except ValidationError as error:
        return FleetShape(), list(faults_of(FleetShape, error))
    return found, list(_lacking(found))


def _lacking(found: FleetShape) -> Iterator[Problem]:
    """Yield what is named and not there, and names that are there twice."""
    shapes = {*found.shapes, *catalogue().shapes}
    classes = {*found.classes, *catalogue().classes}
    for number, group in enumerate(found.nodes):
        if group.shape not in shapes:
            hint = did_you_mean(group.shape, shapes) or "dra-alloc fleet --list names those of the catalogue"
            yield Problem(f"there is no shape {group.shape}", Where(path=f"nodes[{number}].shape"), hint)
        if any(_prefix(other) == _prefix(group) for other in found.nodes[:number]):
            said = f"nodes called {_prefix(group)}-1 and so on are there already"
            yield Problem(said, Where(path=f"nodes[{number}]"), "give the group a name of its own")
    for name, shape in found.shapes.items():
        for number, each in enumerate(shape.classes):
            if each not in classes:
                path = f"shapes.{name}.classes[{number}]"
                yield Problem(f"there is no class {each}", Where(path=path), did_you_mean(each, classes))
    if not found.nodes and not found.shapes and not found.classes:
        yield Problem("a description has nodes, shapes, classes, or several of them")


def _prefix(group: NodeGroup) -> str:
    return group.name or group.shape


def _class(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def _node(group: NodeGroup, shape: MachineShape, number: int) -> list[dict[str, Any]]:
    node, *slices = node_objects(shape, f"{_prefix(group)}-{number}", number)
    node["metadata"]["labels"] |= group.labels
    if group.taints:
        node["spec"]["taints"] = [*node["spec"].get("taints", ()), *group.taints]
    return [node, *slices]


def _check(objects: list[dict[str, Any]]) -> None:
    """Raises: ManifestError for what an API server would refuse."""
    problems: list[Problem] = []
    for each in objects:
        found = validated(*read_given(each, Manner()), DEFAULT_SETTINGS, CREATE)
        problems += [replace(wrong, where=replace(wrong.where, file="", line=0)) for wrong in found.unreadable]
        problems += [Problem(str(fault)) for fault in found.faults]
    if problems:
        raise ManifestError(problems)
