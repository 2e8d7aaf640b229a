"""
Harness op `validate`: what the API server would say of an object that is created.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.cli.harness.shapes import check_shape
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, in_brief
from dra_alloc.manifest import Manner, load_readable
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.profiles import gates_of, parse_release
from dra_alloc.scenario.validating import CREATE, update_of, validated

__all__ = ["answer_validate"]

_SHAPE: Final = {"object": dict, "release": str, "gates": dict, "old": dict, "subresource": str}
_MEMBERS: Final = ("claims", "templates", "classes", "slices", "taint_rules")


def answer_validate(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `errors`, each with `type`, `field` and `detail`, and `defaulted`, the v1 object after defaulting.

    An object that cannot be decoded has `BadRequest` errors only. The rules are
    those for objects that are created, or take the place of `old`.

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
    errors = [_error(each) for each in validated(read, problems, Settings(release, gates), asked).faults]
    if problems:
        undecoded = [each for each in errors if each["type"] == "BadRequest"]
        return {"errors": undecoded or errors}
    found = [item for member in _MEMBERS for item in getattr(read, member)]
    if len(found) != 1:
        raise InputError("object has to be one object of resource.k8s.io")
    return {"errors": errors, "defaulted": found[0].to_wire()}


def _error(fault: FieldFault) -> dict[str, str]:
    return {"type": fault.type, "field": fault.where.path, "detail": fault.detail}
