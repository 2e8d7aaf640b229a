"""
Harness op `validate`: what the API server would say of an object that is created.
"""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.cli.harness.shapes import check_shape
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, ManifestError, Problem, in_brief
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.lost import Lost
from dra_alloc.profiles import gates_of, parse_release
from dra_alloc.scenario.prepare.pipeline import Prepared, refused, run, stored

__all__ = ["answer_validate"]

_SHAPE: Final = {"object": dict, "release": str, "gates": dict, "old": dict}
_LINE: Final = (1, 36)
_LISTS: Final = ("ints", "bools", "strings", "versions")
_MEMBERS: Final = ("claims", "templates", "classes", "slices", "taint_rules")
#: How a violation's text begins -> the API machinery's name of its type.
_TYPES: Final[Mapping[str, str]] = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Duplicate value": "FieldValueDuplicate",
    "Not found": "FieldValueNotFound",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
}
_VALUED: Final = ("Invalid value", "Duplicate value", "Not found", "Unsupported value", "Too many")
_VALUE: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^:]*)(?:: )?', re.DOTALL)


def answer_validate(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `errors`, each with `type`, `field` and `detail`, and `defaulted`, the v1 object after defaulting.

    An object that cannot be decoded has `BadRequest` errors only. The rules are
    those of 1.36, for objects that are created. Of the gates, those count that
    take fields of claims away, and the one for list-typed attributes of slices.

    Raises: InputError for a request that cannot be understood, or other rules.
    """
    check_shape(request, _SHAPE)
    release = request.get("release") or "1.36"
    if parse_release(release).line != _LINE:
        raise InputError(f"validation is known for 1.36 only, not for {release}")
    if request.get("old") is not None:
        raise InputError("updates are not validated: leave out old")
    given = request.get("object")
    if given is None:
        raise InputError("object is missing")
    chosen = request.get("gates") or {}
    wrong = next((name for name, on in chosen.items() if not isinstance(on, bool)), None)
    if wrong is not None:
        raise InputError(f"gates.{in_brief(wrong)} has to be true or false")
    gates = gates_of(release, chosen)
    if not gates["DRAListTypeAttributes"]:
        given = _without_lists(given)
    try:
        documents = load(["-"], stdin=io.BytesIO(json.dumps(given).encode()), validate="ignore")
    except ManifestError as error:
        return {"errors": [_undecodable(problem) for problem in error.problems]}
    found = [item for member in _MEMBERS for item in getattr(documents, member)]
    if len(found) != 1:
        raise InputError("object has to be one object of resource.k8s.io")
    return {"errors": _errors(documents, release, gates), "defaulted": found[0].to_wire()}


def _without_lists(given: dict[str, Any]) -> dict[str, Any]:
    """Return a slice without what the gate for list-typed attributes takes away; anything else as it is."""
    if given.get("kind") != "ResourceSlice":
        return given
    made = copy.deepcopy(given)
    spec = made.get("spec")
    devices = spec.get("devices") if isinstance(spec, dict) else None
    for device in devices if isinstance(devices, list) else ():
        attributes = device.get("attributes") if isinstance(device, dict) else None
        for attribute in attributes.values() if isinstance(attributes, dict) else ():
            for name in _LISTS if isinstance(attribute, dict) else ():
                attribute.pop(name, None)
    return made


def _errors(documents: Documents, release: str, gates: dict[str, bool]) -> list[dict[str, str]]:
    # Names are not looked up: the API server stores what leads nowhere.
    alone = Prepared(documents, Documents(lost=Lost(anything=True)), Settings(release, gates), "")
    return [_violation(problem) for problem in run(alone, (stored, refused)).problems]


def _undecodable(problem: Problem) -> dict[str, str]:
    return {"type": "BadRequest", "field": problem.where.path, "detail": problem.message}


def _violation(problem: Problem) -> dict[str, str]:
    kind, _, rest = problem.message.partition(":")
    if kind not in _TYPES:
        return {"type": "FieldValueInvalid", "field": problem.where.path, "detail": problem.message}
    if kind in _VALUED:
        value = _VALUE.match(rest)
        rest = rest[value.end() :] if value is not None else rest
    return {"type": _TYPES[kind], "field": problem.where.path, "detail": rest.strip()}
