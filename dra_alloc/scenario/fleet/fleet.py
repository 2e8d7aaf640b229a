"""
Fleets: the objects that a description of nodes makes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.errors import InputError, ManifestError, Problem, Where, did_you_mean
from dra_alloc.manifest import Documents, Manner, load_plain
from dra_alloc.manifest.given import documents_of, read_given
from dra_alloc.manifest.plain_file import with_lines
from dra_alloc.manifest.plain_models import faults_of
from dra_alloc.scenario.fleet.catalogue import catalogue
from dra_alloc.scenario.fleet.making import node_objects
from dra_alloc.scenario.fleet.shape import FleetShape, MachineShape, NodeGroup, too_many
from dra_alloc.scenario.validating import CREATE, validated


def fleet(shapes: Mapping[str, Any] | str | os.PathLike[str]) -> Documents:
    """
    Return the nodes, slices and classes that a description makes, free and without pods.

    `shapes` is a file as ``dra-alloc fleet`` takes it, or a mapping of the
    same form, such as ``{"nodes": [{"shape": "h100-8", "count": 4}]}``.

    Spec: FLEET-1 to FLEET-4. Raises: ManifestError, with everything that is wrong with it; InputError.
    """
    file = ""
    if isinstance(shapes, Mapping):
        described, problems = _described(shapes)
        if problems:
            raise ManifestError(problems)
    else:
        file = os.fspath(shapes)
        described = read_fleet(file)
    return documents_of(fleet_objects(described, file))


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
    if problems := list(_told(objects, lambda _: "")):
        raise ManifestError(problems)
    return objects


def fleet_objects(described: FleetShape, file: str = "") -> list[dict[str, Any]]:
    """
    Return the objects of a fleet as they are written in JSON: classes, then node after node.

    Raises: ManifestError for all that an API server would refuse, by the places in the description, with the lines of
    its `file`; InputError for more than is made.

    Spec: FLEET-4.
    """
    all_shapes = {**catalogue().shapes, **described.shapes}
    known = {**catalogue().classes, **described.classes}
    shapes = [all_shapes[each.shape] for each in described.nodes]
    _bounded(described.nodes, shapes)
    wanted = dict.fromkeys([*described.classes, *(name for each in shapes for name in each.classes)])
    made: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for name in wanted:
        made.append(_class(name, known[name]))
        problems += _told(made[-1:], partial(_path, f"classes.{name}", ""), file)
    for place, (group, shape) in enumerate(zip(described.nodes, shapes, strict=True)):
        first = _node(group, shape, 1)
        own = f"shapes.{group.shape}" if group.shape in described.shapes else ""
        problems += _told(first, partial(_path, own, f"nodes[{place}]"), file)
        if not problems:
            made += first
            for number in range(2, group.count + 1):
                made += _node(group, shape, number)
    if problems:
        raise ManifestError(with_lines(problems, file) if file else problems)
    return made


def _bounded(groups: Sequence[NodeGroup], shapes: Sequence[MachineShape]) -> None:
    """Raises: InputError for more than is made."""
    counts: Counter[str] = Counter()
    for each in groups:
        counts[each.shape] += each.count
    used = {each.shape: shape for each, shape in zip(groups, shapes, strict=True)}
    devices = sum(count * used[name].devices for name, count in counts.items())
    values = sum(count * used[name].values for name, count in counts.items())
    if said := too_many(devices, values):
        raise InputError(f"this would be {said}")


def _path(own: str, group: str, fault: Problem) -> str:
    """Return where in a description it is said what a fault is about: in a shape of its own, or where it is used."""
    return group if fault.where.path in ("metadata.name", "spec.nodeName") else own or group


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
    called: set[str] = set()
    for number, group in enumerate(found.nodes):
        if group.shape not in shapes:
            hint = did_you_mean(group.shape, shapes) or "dra-alloc fleet --list names those of the catalogue"
            yield Problem(f"there is no shape {group.shape}", Where(path=f"nodes[{number}].shape"), hint)
        if _prefix(group) in called:
            said = f"nodes called {_prefix(group)}-1 and so on are there already"
            yield Problem(said, Where(path=f"nodes[{number}]"), "give the group a name of its own")
        called.add(_prefix(group))
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


def _told(objects: list[dict[str, Any]], path: Callable[[Problem], str], file: str = "") -> Iterator[Problem]:
    """Yield what an API server would refuse, each at the path of a description that is to blame for it."""
    for each in objects:
        found = validated(*read_given(each, Manner()), DEFAULT_SETTINGS, CREATE)
        for fault in (*found.unreadable, *found.faults):
            made = str(replace(fault.where, file="", line=None))
            yield Problem(f"{made}: {fault.message}", Where(path=path(fault), file=file), fault.hint)
