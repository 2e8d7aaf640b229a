"""
Plain values of one object made into what `Documents` holds, with everything that is wrong with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from dra_alloc.api import ObjectMeta, Pod, ResourceSlice
from dra_alloc.manifest.convert.conversion import OtherShape, reshape, to_v1
from dra_alloc.manifest.kinds import Kind
from dra_alloc.manifest.make.defaults import set_defaults
from dra_alloc.manifest.make.field_releases import known_in
from dra_alloc.manifest.make.inspection import Flaw, crowded, inspect
from dra_alloc.manifest.make.misspelt import misspelt
from dra_alloc.manifest.make.records import record_from_model, slice_from_plain
from dra_alloc.manifest.make.schema import Leaf, ObjectType, SchemaType, schema_of
from dra_alloc.manifest.make.workloads import workload_of
from dra_alloc.releases import Release

_NOT_FITTING: Final = (OtherShape, ValidationError, msgspec.MsgspecError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Made:
    """
    An object, if it could be made, and what was found wrong on the way.

    `rest` is what there is of an object that could not, without what has the wrong type.
    """

    item: Any
    findings: tuple[Flaw, ...] = ()
    rest: Any = None


def make(value: dict[str, Any], kind: Kind, version: str, nesting: int, release: Release | None = None) -> Made:
    """
    Return the v1-shaped object for plain values of any version.

    The quick way is tried first; only what it refuses is inspected. An object
    with unknown fields is made without them: whether to accept that is the
    caller's choice. One with wrong types is not made. What a `release` does not
    have is unknown, too; without one, nothing is too new.
    """
    if release is None and (kind.model is None or not crowded(value, _shape(kind, version))):
        try:
            return Made(_typed(value, kind, version), tuple(misspelt(value, kind)))
        except _NOT_FITTING:
            pass
    cleaned, findings = inspect(value, _shape(kind, version, release), nesting)
    if cleaned is None:  # a key of it could not be read, which was told where it was
        return Made(None, findings)
    findings = (*findings, *misspelt(value, kind))
    if any(not finding.unknown_field for finding in findings):
        return Made(None, findings, _rest(cleaned, kind, version))
    try:
        return Made(_typed(cleaned, kind, version), findings)
    except ValidationError as error:
        return Made(None, findings + _from_pydantic(error))
    except _NOT_FITTING as error:
        return Made(None, (*findings, Flaw((), str(error))))


def _rest(cleaned: Any, kind: Kind, version: str) -> Any:
    try:
        return _typed(cleaned, kind, version)
    except _NOT_FITTING:
        return None


def _typed(value: dict[str, Any], kind: Kind, version: str) -> Any:
    """Return the object of plain values that fit. Raises: one of `_NOT_FITTING`."""
    if kind.model is None:
        return workload_of(value, kind, version)
    shaped = set_defaults(to_v1(value, kind.name, version), kind.name, version)
    shown = "v1" if "v1" in kind.versions else version
    shaped = {**shaped, "apiVersion": f"{kind.group}/{shown}" if kind.group else shown, "kind": kind.name}
    if kind.model is not ResourceSlice:
        return kind.model.from_wire(shaped)
    try:
        return slice_from_plain(shaped)
    except (msgspec.MsgspecError, ValueError):
        # The model reads null and empty text; going through it keeps slices of one type.
        return record_from_model(ResourceSlice.from_wire(shaped))


def _shape(kind: Kind, version: str, release: Release | None = None) -> ObjectType:
    """Return the shape of an object in the version it was written in."""
    if kind.model is not None:
        known = schema_of(kind.model)
        return reshape(known if release is None else known_in(known, release), version)
    pod = schema_of(Pod).fields
    template = _open({"metadata": pod["metadata"], "spec": pod["spec"]})
    inner: dict[str, SchemaType] = {"metadata": schema_of(ObjectMeta)}
    shape = _nested(_open(inner), kind.template, template) if kind.template else _open(inner)
    for path in kind.counts:
        shape = _nested(shape, path, Leaf.INT64)
    return shape


def _nested(outer: ObjectType, path: tuple[str, ...], shape: SchemaType) -> ObjectType:
    """Return an open object with one more member, some levels down."""
    if not path:
        return outer
    step, rest = path[0], path[1:]
    if rest:
        below = outer.fields.get(step, _open({}))
        assert isinstance(below, ObjectType)
        shape = _nested(below, rest, shape)
    return _open({**outer.fields, step: shape})


def _open(fields: Mapping[str, SchemaType]) -> ObjectType:
    return ObjectType("object", MappingProxyType(dict(fields)), closed=False)


def _from_pydantic(error: ValidationError) -> tuple[Flaw, ...]:
    """Return what a model refused although the inspection saw nothing, by field."""
    return tuple(
        Flaw(
            tuple(step for step in detail["loc"] if not str(step).startswith(("function-", "nullable"))), detail["msg"]
        )
        for detail in error.errors(include_url=False, include_context=False, include_input=False)
    )
