"""
Objects that make pods: kept as they were written, with the pod templates that are found in them by their shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.api import FrozenMap, ObjectMeta, Pod
from dra_alloc.api._base import freeze_json
from dra_alloc.manifest.convert.conversion import OtherShape
from dra_alloc.manifest.documents import PodTemplate, Workload
from dra_alloc.manifest.kinds import HIDDEN_TEMPLATES, QUEUEING, SHOWN_TEMPLATES, Kind
from dra_alloc.manifest.make.inspection import plain
from dra_alloc.manifest.read.paths import Path, render

#: Lists of which a pod spec has at least one.
_MARKS: Final = ("containers", "resourceClaims", "initContainers")
#: How deep below an object a pod spec is looked for.
_DEPTH: Final = 16
#: What the file is called, within a ConfigMap, that Volcano's scheduler is configured with.
_CONFIGURED: Final = "volcano-scheduler.conf"


def kept_as_written(api_version: str, name: str, value: Any) -> Kind | None:
    """Return how an object of another kind is kept: of a queue system, or holding a pod spec or known to make pods."""
    group, _, version = api_version.rpartition("/")
    if (group, name) in QUEUEING or ((api_version, name) == ("v1", "ConfigMap") and _configures(value)):
        return Kind(group, name, "queueing", (version,))
    if (group, name) in HIDDEN_TEMPLATES | SHOWN_TEMPLATES or next(pod_specs(value), None) is not None:
        return Kind(group, name, "workloads", (version,))
    return None


def _configures(value: Any) -> bool:
    """Say whether a ConfigMap is that of Volcano's scheduler."""
    data = value.get("data") if isinstance(value, Mapping) else None
    return isinstance(data, Mapping) and any(isinstance(key, str) and key.endswith(_CONFIGURED) for key in data)


def pod_specs(value: Any) -> Iterator[Path]:
    """
    Yield where an object holds pod specs, in the order of its text: objects with a list of containers or of claims.

    What stands in a pod spec is not looked through again, nor is a status.
    """
    if isinstance(value, Mapping):
        for key, member in value.items():
            if key not in ("metadata", "status") and isinstance(member, Mapping | list | tuple):
                yield from _below(member, (key,))


def _below(value: Any, path: Path) -> Iterator[Path]:
    if len(path) > _DEPTH:
        return
    if isinstance(value, Mapping):
        if any(_is_list_of_objects(value.get(mark)) for mark in _MARKS):
            yield path
            return
        for key, member in value.items():
            if isinstance(member, Mapping | list | tuple):
                yield from _below(member, (*path, key))
    elif isinstance(value, list | tuple):
        for position, member in enumerate(value):
            if isinstance(member, Mapping | list | tuple):
                yield from _below(member, (*path, position))


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Mapping) for each in value)


def workload_of(value: Mapping[str, Any], kind: Kind, version: str) -> Workload:
    """
    Return the record of an object that makes pods.

    The template of a kind in the table has to fit; others are only found by
    their shape, and one that does not fit stays without a pod.

    Raises: ValidationError, ValueError, OtherShape.
    """
    value = plain(value)
    metadata = ObjectMeta.from_wire(value.get("metadata") or {})
    templates: list[PodTemplate] = []
    if kind.template:
        template = at(value, kind.template) or {}
        if not isinstance(template, Mapping):
            raise OtherShape("the pod template is no object")
        templates.append(PodTemplate(".".join((*kind.template, "spec")), _pod(template, metadata)))
        if any(type(number) is not int for path in kind.counts if (number := at(value, path)) is not None):
            raise ValueError("the number of pods is no number")
    else:
        for path in pod_specs(value):
            around = at(value, path[:-1]) if path[-1] == "spec" and len(path) > 1 else {"spec": at(value, path)}
            templates.append(PodTemplate(render(path), _pod_if_it_fits(around, metadata)))
    api_version = f"{kind.group}/{version}" if kind.group else version
    body = freeze_json({**value, "apiVersion": api_version, "kind": kind.name})
    assert isinstance(body, FrozenMap)
    return Workload(api_version, kind.name, metadata, body, tuple(templates))


def _pod(template: Mapping[str, Any], metadata: ObjectMeta) -> Pod:
    made = template.get("metadata") or {}
    if not isinstance(made, Mapping):
        raise OtherShape("the metadata of the pod template is no object")
    return Pod.from_wire({"metadata": {**made, "namespace": metadata.namespace}, "spec": template.get("spec")})


def _pod_if_it_fits(template: Mapping[str, Any], metadata: ObjectMeta) -> Pod | None:
    try:
        return _pod(template, metadata)
    except (ValidationError, ValueError, TypeError):
        return None


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path, None where nothing does. Raises: OtherShape."""
    for step in path:
        if value is None:
            return None
        if isinstance(step, int):
            value = value[step]
            continue
        if not isinstance(value, Mapping):
            raise OtherShape(f"{step} stands in something that is no object")
        value = value.get(step)
    return value
