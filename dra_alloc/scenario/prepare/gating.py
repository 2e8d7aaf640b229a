"""
Manifests as the API server would store them under the gates of a release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dra_alloc.api import FrozenMap, Pod, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import first_few
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.documents import object_name
from dra_alloc.manifest.make.gates import DroppedField, without_disabled
from dra_alloc.releases import Release

#: How the note on a field of a gate that is off ends.
DROPPED: Final = "is dropped, as its gate is off"
#: Kinds of which the status says what is there already.
_WITH_STATUS: Final = ("claims", "pods", "workloads")
#: What only a cluster can say.
_OF_A_CLUSTER: Final = ("nodes", "slices", "classes", "claims", "pods", "namespaces")


def gated(
    manifests: Documents,
    settings: Settings,
    members: Sequence[str] = ("claims", "templates"),
    before: Callable[[Any], Any] = lambda _: None,
) -> tuple[Documents, tuple[str, ...], tuple[DroppedField, ...]]:
    """
    Return the manifests without the fields of disabled gates, a note for each such field, and their names and gates.

    What the object that was there before uses is kept.

    Spec: GATE-1.
    """
    losing: dict[str, list[str]] = {}
    lacking: set[DroppedField] = set()
    gates, release = settings.effective_gates(), settings.profile().release
    dropping = partial(stored, release=release)

    def change(item: Any) -> Any:
        old = before(item)
        made, dropped = dropping(item, gates if old is None else with_used(old, gates, dropping))
        called = object_name(item.kind, item.metadata.namespace, item.metadata.name) if dropped else ""
        lacking.update(DroppedField(each.path.rpartition(".")[2], each.gate, called) for each in dropped)
        for each in dropped:
            losing.setdefault(str(each), []).append(called)
        return made

    changed = manifests.mapped(change, *members)
    notes = tuple([f"{first_few(objects)}: {field} {DROPPED}" for field, objects in losing.items()])
    return changed, notes, tuple(sorted(lacking))


def with_used(
    old: Any,
    gates: Mapping[str, bool],
    dropping: Callable[[Any, Mapping[str, bool]], tuple[Any, tuple[DroppedField, ...]]],
) -> Mapping[str, bool]:
    """Return the gates with those on that an object uses: what one takes away may hide what another one does."""
    while used := {each.gate: True for each in dropping(old, gates)[1]}:
        gates = {**gates, **used}
    return gates


def stored(item: Any, gates: Mapping[str, bool], release: Release) -> tuple[Any, tuple[DroppedField, ...]]:
    """Return a claim, template, class or slice as it is stored when it is new, and the fields that it loses."""
    outer = item.spec
    if isinstance(item, ResourceClaimTemplate):
        inner, dropped = gated_spec(outer.spec, gates, release, "spec.spec")
        spec = outer.model_copy(update={"spec": inner}) if dropped else outer
    elif isinstance(item, ResourceClaim):
        spec, dropped = gated_spec(outer, gates, release)
    else:
        spec, dropped = without_disabled(outer, gates, "spec", release=release)
    return (item.model_copy(update={"spec": spec}) if dropped else item), dropped


def gated_spec(
    spec: ResourceClaimSpec, gates: Mapping[str, bool], release: Release, path: str = "spec"
) -> tuple[ResourceClaimSpec, tuple[DroppedField, ...]]:
    """Return what a claim asks for without the fields of disabled gates, and what these were."""
    devices, dropped = without_disabled(spec.devices, gates, f"{path}.devices", release=release)
    return (spec.model_copy(update={"devices": devices}) if dropped else spec), dropped


def as_there(manifests: Documents, dump: Documents) -> tuple[Documents, tuple[str, ...]]:
    """
    Return the manifests with pods as they are in the cluster already, and without the status of objects that are new.

    An object with a UID comes from a cluster and is there. Where no cluster is
    given, the manifests are it, and all that they say holds. A note says whose
    status was left out.

    Spec: GATE-2.
    """
    if not any(getattr(dump, member) for member in _OF_A_CLUSTER):
        return manifests, ()
    names = {item.metadata.name for member in _WITH_STATUS for item in getattr(manifests, member)}
    if not names:
        return manifests, ()
    stored = (item for member in _WITH_STATUS for item in getattr(dump, member) if item.metadata.name in names)
    there = {_key(item): item for item in stored}
    dropped: list[str] = []

    def change(item: Any) -> Any:
        known = there.get(_key(item))
        if known is not None:
            return known if isinstance(item, Pod) else item
        made = item if item.metadata.uid else _without_status(item)
        if made is not item:
            dropped.append(f"{item.kind} {item.metadata.full_name}")
        return made

    changed = manifests.mapped(change, *_WITH_STATUS)
    return changed, (f"the status of what is new is not stored: {first_few(dropped)}",) if dropped else ()


def _key(item: Any) -> tuple[str, str | None, str | None]:
    return item.kind, item.metadata.namespace, item.metadata.name


def _without_status(item: Any) -> Any:
    if isinstance(item, Workload):
        if not item.body.get("status"):
            return item
        return replace(item, body=FrozenMap({name: each for name, each in item.body.items() if name != "status"}))
    empty = type(item.status).made()
    return item if item.status == empty else item.model_copy(update={"status": empty})
