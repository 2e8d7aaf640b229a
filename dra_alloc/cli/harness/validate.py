"""
Harness op `validate`: what the API server would say of an object that is created.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from dra_alloc.cli.harness.shapes import check_shape
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, Problem, in_brief
from dra_alloc.manifest import Documents, Manner, load_readable
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.profiles import gates_of, parse_release
from dra_alloc.scenario.validating import CREATE, update_of, validated

_SHAPE: Final = {"object": dict, "release": str, "gates": dict, "old": dict, "subresource": str}
_MEMBERS: Final = ("claims", "templates", "classes", "slices", "taint_rules")


def answer_validate(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `errors`, each with `type`, `field` and `detail`, `warnings`, and the v1 object as `defaulted` and `stored`.

    An object that cannot be decoded has `BadRequest` errors only; one of a
    version that is not served is not stored. The rules are those for objects
    that are created, or take the place of `old`.

    Raises: InputError for a request that cannot be understood.
    """
    check_shape(request, _SHAPE)
    release = request.get("release") or "1.36"
    given = request.get("object")
    if given is None:
        raise InputError("object is missing")
    chosen = request.get("gates") or {}
    wrong = next((name for name, on in chosen.items() if not isinstance(on, bool)), None)
    if wrong is not None:
        raise InputError(f"gates.{in_brief(wrong)} has to be true or false")
    gates = gates_of(release, chosen)
    manner = Manner("ignore", release=parse_release(release))
    read, problems = load_readable(["-"], stdin=io.BytesIO(json.dumps(given).encode()), manner=manner)
    asked = CREATE if problems else update_of(request, parse_release(release))
    read = replace(read, texts={})  # nobody asks for lines
    judged = validated(read, problems, Settings(release, gates), asked)
    errors = [_error(each) for each in judged.faults]
    if problems:
        undecoded = [each for each in errors if each["type"] == "BadRequest"]
        return {"errors": undecoded or errors}
    found = _objects(read)
    if len(found) != 1:
        raise InputError("object has to be one object of resource.k8s.io")
    answer = {"errors": errors, "defaulted": found[0], "warnings": [_told(each) for each in judged.warnings]}
    kept = _objects(judged.stored)
    return {**answer, "stored": kept[0]} if kept else answer


def _told(warning: Problem) -> str:
    return f"{warning.where.path}: {warning.message}"


def _objects(documents: Documents) -> list[dict[str, Any]]:
    return [item.to_wire() for member in _MEMBERS for item in getattr(documents, member)]


def _error(fault: FieldFault) -> dict[str, str]:
    return {"type": fault.type, "field": fault.where.path, "detail": fault.detail}
