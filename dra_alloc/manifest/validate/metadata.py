"""
Admission rules of metadata.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_alloc.api import ObjectMeta, OwnerReference
from dra_alloc.api.go_text import quote
from dra_alloc.api.names import label_faults, label_key_faults, subdomain_faults
from dra_alloc.manifest.validate.parts import check_label_map
from dra_alloc.manifest.validate.releases import CLASSES_BY_NAME, OWNERS_APART, UNWORDED
from dra_alloc.manifest.validate.violations import Violations

ANNOTATIONS_MAX: Final = 256 * 1024
_SUFFIX: Final = "-----"
#: What is generated is no longer, whatever the name may be.
_GENERATED_MAX: Final = 63
_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_ORPHAN_AND_NOT: Final = "finalizer orphan and foregroundDeletion cannot be both set"
_NO_FINALIZER: Final = "name is neither a standard finalizer name nor is it fully qualified"


IMMUTABLE: Final = "field is immutable"
#: What of metadata an update may not change.
_KEPT: Final = {
    "name": "name",
    "namespace": "namespace",
    "uid": "uid",
    "deletion_timestamp": "deletionTimestamp",
    "deletion_grace_period_seconds": "deletionGracePeriodSeconds",
}
#: What the server fills in where an update does not say it.
_FILLED_IN: Final = frozenset({"uid"})


class MetaRules(NamedTuple):
    """
    What a kind's metadata is held to.

    `counted` kinds are sent their generation; of others the server sets it.
    """

    namespaced: bool = False
    counted: bool = False
    is_label: bool = False
    is_class: bool = False


PLAIN: Final = MetaRules()
NAMESPACED: Final = MetaRules(namespaced=True, counted=True)
STATEFUL_SET: Final = MetaRules(namespaced=True, is_label=True)
CLASS: Final = MetaRules(is_class=True)


def check_metadata(v: Violations, metadata: ObjectMeta, rules: MetaRules, old: ObjectMeta | None = None) -> None:
    """
    Check names, namespace, labels, annotations, finalizers and owners, and of an update what stays as it is.

    Spec: VAL-10, VAL-20 to VAL-23, VAL-25, VAL-26.
    """
    by_name = rules.is_class and v.holds(CLASSES_BY_NAME)
    if old is not None:
        _changes(v, metadata, old, rules)
    if old is None or by_name or not (metadata.name or metadata.generate_name):
        _names(v, metadata, rules, by_name=by_name)
    if rules.namespaced and metadata.namespace:
        v.names("metadata.namespace", label_faults(metadata.namespace))
    elif not rules.namespaced and metadata.namespace:
        v.forbidden("metadata.namespace", "not allowed on this type")
    if old is None and rules.counted and (metadata.generation or 0) < 0:
        v.invalid("metadata.generation", metadata.generation, "must be greater than or equal to 0")
    check_labels(v, metadata, "metadata")
    _owners(v, metadata.owner_references)
    if v.holds(OWNERS_APART):
        v.found = list(dict.fromkeys(v.found))  # what is said twice of metadata is told once
    _finalizers(v, metadata.finalizers)


def _changes(v: Violations, metadata: ObjectMeta, old: ObjectMeta, rules: MetaRules) -> None:
    """Check what an update may not change; what the server keeps itself is not looked at. Spec: VAL-10."""
    for name, wire in _KEPT.items():
        now, then = getattr(metadata, name), getattr(old, name)
        looked_at = rules.namespaced if name == "namespace" else now is not None or name not in _FILLED_IN
        if now != then and looked_at:
            v.invalid(f"metadata.{wire}", now, IMMUTABLE)
    name = metadata.name or ""
    if not (rules.is_class and v.holds(CLASSES_BY_NAME)):
        v.invalid("metadata.name", name, [f"may not contain '{each}'" for each in "/%" if each in name])
    added = {*metadata.finalizers} - {*old.finalizers}
    if added and old.deletion_timestamp:
        listed = ", ".join(map(quote, sorted(added)))
        text = "no new finalizers can be added if the object is being deleted, found new finalizers []string"
        v.forbidden("metadata.finalizers", f"{text}{{{listed}}}")


def _names(v: Violations, metadata: ObjectMeta, rules: MetaRules, *, by_name: bool) -> None:
    name, base = metadata.name or "", metadata.generate_name or ""
    if not name and not base:
        v.required("metadata.name", "name or generateName is required")
        return
    if base and not by_name:
        # A suffix will follow, so its last dash is no fault.
        faults = subdomain_faults(base[:-1] + "a" if base.endswith("-") and len(base) > 1 else base)
        v.invalid("metadata.generateName", base, [fault.detail for fault in faults])
    if not name and v.server.generates_names:
        name = base[: _GENERATED_MAX - len(_SUFFIX)] + "a" * len(_SUFFIX)
    if name:
        v.names("metadata.name", label_faults(name) if rules.is_label else subdomain_faults(name, declarative=by_name))


def check_generate_name(v: Violations, metadata: ObjectMeta) -> None:
    """Check a `generateName` that nothing else was said of, in an object that nothing is wrong with."""
    base = metadata.generate_name or ""
    if v.holds(CLASSES_BY_NAME) and not v.found:
        v.invalid("metadata.generateName", base, [f"may not contain '{each}'" for each in "/%" if each in base])


def check_labels(v: Violations, metadata: ObjectMeta, path: str) -> None:
    """Check labels and annotations."""
    check_label_map(v, metadata.labels, f"{path}.labels")
    for key in metadata.annotations:
        # Go lowers each character alone; Python makes two characters of this one.
        faults = label_key_faults(key.replace("\u0130", "i").lower())
        v.names(f"{path}.annotations", [fault._replace(value=fault.value and key) for fault in faults])
    v.too_long(f"{path}.annotations", "".join(map("".join, metadata.annotations.items())), ANNOTATIONS_MAX)


def _finalizers(v: Violations, finalizers: tuple[str, ...]) -> None:
    # Long ones that begin alike are shown alike, and all the same told one by one.
    for name in dict.fromkeys(finalizers) if v.holds(OWNERS_APART) else finalizers:
        v.names("metadata.finalizers", label_key_faults(name))
    for position, name in enumerate(finalizers):
        if "/" not in name and name not in _FINALIZERS:
            v.invalid(f"metadata.finalizers[{position}]", name, _NO_FINALIZER)
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        v.invalid("metadata.finalizers", list(finalizers), _ORPHAN_AND_NOT)


def _owners(v: Violations, owners: tuple[OwnerReference, ...]) -> None:
    apart, path = v.holds(OWNERS_APART), "metadata.ownerReferences"
    for position, owner in enumerate(owners):
        _owner(v, owner, f"{path}[{position}]" if apart else path, apart=apart)
    leading = [owner for owner in owners if owner.controller]
    for owner in leading[1:]:
        first = leading[0]
        both = f"{first.kind}/{first.name} and {owner.kind}/{owner.name}"
        text = f'Only one reference can have Controller set to true. Found "true" in references for {both}'
        v.invalid(path, "", text)


def _owner(v: Violations, owner: OwnerReference, path: str, *, apart: bool) -> None:
    group, _, version = owner.api_version.rpartition("/")
    parsed = bool(version) and "/" not in group
    lacks = "" if v.holds(UNWORDED) else "must not be empty"
    if apart and not owner.api_version:
        v.required(f"{path}.apiVersion", lacks)
    elif not parsed:
        text = "must be <group>/<version> or <version>" if apart else "version must not be empty"
        v.invalid(f"{path}.apiVersion", owner.api_version, text)
    for name, value in (("kind", owner.kind), ("name", owner.name), ("uid", owner.uid)):
        if value:
            continue
        if apart:
            v.required(f"{path}.{name}", lacks)
        else:
            v.invalid(f"{path}.{name}", value, lacks)
    if (group, version, owner.kind) == ("", "v1", "Event"):
        v.invalid(path, "", "/v1, Kind=Event is disallowed from being an owner")
