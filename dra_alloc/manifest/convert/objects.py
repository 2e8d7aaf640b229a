"""
Objects in another version of resource.k8s.io, and what that version cannot say of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from dra_alloc.errors import InputError, ManifestError, Problem, Where, in_brief
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.convert.conversion import document_path, from_v1, reshape, to_v1, without_later
from dra_alloc.manifest.documents import object_name
from dra_alloc.manifest.given import json_text
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SERVED, Unserved, names_a_list, recognise
from dra_alloc.manifest.make.inspection import Flaw, in_words, inspect, plain
from dra_alloc.manifest.make.schema import schema_of
from dra_alloc.manifest.read.json_reader import plain_from_json
from dra_alloc.manifest.read.members import says_plain
from dra_alloc.manifest.read.paths import Path, render
from dra_alloc.manifest.read.raw import ListKind

#: All versions that are read, newest first.
VERSIONS: Final = ("v1", "v1beta2", "v1beta1", "v1alpha3")
#: The version that an object of a kind and a version is to have; raises Unserved where there is none.
Goal = Callable[[str, str], str]


def convert(item: Any, to: str) -> dict[str, Any]:
    """
    Return an object in another version of resource.k8s.io, ``v1`` or any other, as it is written in JSON.

    It is an object as `Cluster` takes them: a mapping, one of `dra_alloc.api`,
    or of the official client. Of a list the members are converted; objects of
    other groups stay as they are. Nothing is defaulted, and nothing is lost.

    Spec: CONV-30 to CONV-33. Raises: InputError; ManifestError, for what the object has wrong and for fields that
    the version cannot say.
    """
    goal = goal_of(to)
    made, flaws = _any_object(plain_from_json(json_text(item)), goal, None, ())
    if flaws:
        raise ManifestError(flaws)
    found: dict[str, Any] = plain(made)
    return found


def goal_of(version: str) -> Goal:
    """Return the goal that is one version for every kind. Raises: InputError, for one that there never was."""
    version = version.removeprefix(f"{RESOURCE_GROUP}/")
    if version not in VERSIONS:
        raise InputError(
            f"no version {in_brief(version)!r} of {RESOURCE_GROUP}", hint=f"versions: {', '.join(VERSIONS)}"
        )
    return lambda kind, written: version


def _any_object(value: Any, goal: Goal, list_kind: ListKind | None, path: Path) -> tuple[Any, list[Problem]]:
    """Return an object or list converted, and what is wrong with it, with paths from the top."""
    api_version, kind = says_plain(value, list_kind)
    items = value.get("items") if isinstance(value, dict) else None
    if names_a_list(kind) and isinstance(items, list):
        inner = ListKind(api_version, kind)
        pairs = [_any_object(each, goal, inner, (*path, "items", at)) for at, each in enumerate(items)]
        made = {**value, "items": [one for one, _ in pairs]}
        if (version := list_version(api_version, kind, goal)) is not None:
            made["apiVersion"] = version
        return made, [problem for _, problems in pairs for problem in problems]
    found = converted(value, goal, list_kind)
    if found is None:
        return value, []
    metadata = value.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    called = object_name(kind or "object", names.get("namespace"), names.get("name"))
    wheres = [Where(called, render((*path, *flaw.path))) for flaw in found[1]]
    return found[0], [Problem(flaw.message, at, flaw.hint) for flaw, at in zip(found[1], wheres, strict=True)]


def list_version(api_version: str, kind: str, goal: Goal) -> str | None:
    """Return the apiVersion that a list of one of our kinds is to have; None for any other list."""
    group, _, version = api_version.rpartition("/")
    if group != RESOURCE_GROUP or kind == "List":
        return None
    kind = kind.removesuffix("List")
    with suppress(Unserved):  # its members say so
        to = goal(kind, version)
        return f"{RESOURCE_GROUP}/{to}" if to in SERVED.get(kind, ()) else None
    return None


def converted(value: Any, goal: Goal, list_kind: ListKind | None = None) -> tuple[Any, tuple[Flaw, ...]] | None:
    """
    Return plain values in the version of the goal, and why they cannot be; None for an object of another group.

    A member of a typed list that names no version gets none. Paths are those of the object as it is written.

    Spec: CONV-30 to CONV-33.
    """
    api_version, kind_name = says_plain(value, list_kind)
    group, _, version = api_version.rpartition("/")
    if group != RESOURCE_GROUP or not isinstance(value, dict):
        return None
    if not kind_name:
        return value, (Flaw(("kind",), "kind is missing or no string"),)
    try:
        to = goal(kind_name, version)
        kind = recognise(api_version, kind_name)
        if to != version:
            recognise(f"{RESOURCE_GROUP}/{to}", kind_name)
    except Unserved as error:
        return value, (Flaw(("apiVersion",), str(error), error.hint),)
    if kind is None or kind.model is None or to == version:
        return value, ()
    shape = schema_of(kind.model)
    _, flaws = inspect(value, reshape(shape, version), DEFAULT_BUDGET.nesting)
    if flaws:
        return value, flaws
    hub, earlier = to_v1(value, kind_name, version), without_later(shape, to)
    unknown = () if earlier is shape else inspect(hub, earlier, DEFAULT_BUDGET.nesting)[1]
    unsaid = [(flaw.path, "has no such field") for flaw in unknown]
    made = value if unsaid else from_v1(hub, kind_name, to)
    # No rule changes a word: what is equal is the same.
    if not unsaid and (back := to_v1(made, kind_name, to)) != hub and (lost := _difference(hub, back, ())):
        unsaid = [lost]
    if unsaid:
        said = [(document_path(path, kind_name, version), f"{RESOURCE_GROUP}/{to} {what}") for path, what in unsaid]
        return value, tuple(Flaw(path, what) for path, what in said)
    return ({**made, "apiVersion": f"{RESOURCE_GROUP}/{to}"} if value.get("apiVersion") else made), ()


def _difference(before: Any, after: Any, path: Path) -> tuple[Path, str] | None:
    """Return what is lost first between values, and how; null and absent members are the same."""
    if isinstance(before, dict) and isinstance(after, dict):
        pairs: list[tuple[str | int, Any, Any]] = [
            (name, before.get(name), after.get(name)) for name in {**before, **after}
        ]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [(at, one, other) for at, (one, other) in enumerate(zip(before, after, strict=True))]
    elif type(before) is type(after) and before == after:
        return None
    else:
        return path, f"cannot say this: {in_words(before)} would be taken as {in_words(after)}"
    return next((found for step, one, other in pairs if (found := _difference(one, other, (*path, step)))), None)
