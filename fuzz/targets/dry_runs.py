"""
A real API server of the newest release refuses and stores in dry runs what `validate` says; needs Go.

    python -m fuzz.targets.dry_runs [--cases 500] [--seed 1]

The objects are those of `validation`, under the gates that the server has by default. What its path refuses, such as
a namespace that is not there, is no answer. An owner is given once: the server drops those that are given again before
it looks. Warnings are not compared.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from random import Random
from typing import Any, Final

from dra_alloc.cli.harness.validate import answer_validate
from fuzz.admission.bases import BASES
from fuzz.oracle_build import versions
from fuzz.plane.api import Api, ApiError, path_of
from fuzz.plane.programs import PROGRAM, Plane
from fuzz.target import Json, Target, command
from fuzz.targets.validation import check, drawn

_ADMIN: Final[Json] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "default", "labels": {"resource.kubernetes.io/admin-access": "true"}},
}
_REFUSED: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
#: Of these the message ends with the value.
_BARE: Final = ("FieldValueDuplicate", "FieldValueNotFound")
_VALUE: Final = re.compile(r'^[A-Z][a-z ]+: (?:"(?:[^"\\]|\\.)*"|[^:]*): ', re.DOTALL)
_DRY: Final = "dryRun=All"


def _cases(seed: int, kinds: Sequence[str] = tuple(BASES)) -> Iterator[Json]:
    with Plane(versions(PROGRAM)[-1]) as plane:
        plane.api.ask("PUT", path_of(_ADMIN, named=True), _ADMIN)
        for number in itertools.count():
            request = {**drawn(Random(f"{seed}/{number}"), plane.release, kinds[number % len(kinds)]), "gates": {}}
            try:
                yield {"request": request, "upstream": _asked(plane.api, request)}
            except (ApiError, TimeoutError) as error:  # some selectors take longer than anyone waits
                yield {"request": request, "upstream": {"crash": str(error)}}


def _once(owners: list[Any]) -> list[Any]:
    """Return the owners without those that say no more than an earlier one once what is empty is left out."""
    said = [{key: value for key, value in each.items() if value} if isinstance(each, dict) else each for each in owners]
    return [each for at, each in enumerate(owners) if said[at] not in said[:at]]


def _asked(api: Api, request: Json) -> Json:
    """Return what a dry run says in the words of the harness. Raises: ApiError, for what is no answer."""
    item, old = request["object"], request.get("old")
    space = {"namespace": "default"} if item["kind"].startswith("ResourceClaim") else {}
    if old is not None and not isinstance(item.get("metadata"), dict):
        item["metadata"] = dict(old["metadata"])  # without a name the path is refused
    given = [each["metadata"] for each in (item, old or {}) if isinstance(each.get("metadata"), dict)]
    for metadata in given:
        metadata.pop("namespace", None)
        metadata.pop("resourceVersion", None)
        metadata.update(space)
        owners = metadata.get("ownerReferences")
        if isinstance(owners, list):
            metadata["ownerReferences"] = _once(owners)
    if old is None:
        return _said(api, "POST", f"{_path(item)}?{_DRY}", request)
    for name in ("finalizers", "deletionTimestamp"):
        old["metadata"].pop(name, None)  # with these it would stay for ever
    there = request["old"] = api.ask("POST", _path(old), {**old, "metadata": {**old["metadata"], "uid": None}})
    try:
        for metadata in given:
            metadata["resourceVersion"] = there["metadata"]["resourceVersion"]
            if metadata.get("uid") == "u":
                metadata["uid"] = there["metadata"]["uid"]
        part = "/status" if "subresource" in request else ""
        return _said(api, "PUT", f"{_path(old)}/a{part}?{_DRY}", request)
    finally:
        api.ask("DELETE", f"{_path(old)}/a")


def _path(item: Json) -> str:
    return path_of({**item, "metadata": {}})


def _said(api: Api, method: str, path: str, request: Json) -> Json:
    ours = answer_validate(request)
    same = {"warnings": ours.get("warnings", [])}
    try:
        return {"errors": [], "stored": api.ask(method, path, request["object"]), **same}
    except ApiError as error:
        if error.code not in _REFUSED:
            raise
        if error.code == HTTPStatus.BAD_REQUEST:
            return {"errors": [{"type": "BadRequest", "field": "", "detail": str(error)}], **same}
        return {"errors": [_error(cause, ours["errors"]) for cause in error.causes], **same}


def _error(cause: Json, ours: list[Json]) -> Json:
    """Return a cause with its detail: the end of its message that is one of ours, or all of it."""
    kind, field, message = cause["reason"], cause["field"], cause["message"]
    details = {each["detail"] for each in ours if (each["type"], each["field"]) == (kind, field)}
    bare = kind in _BARE or ":" not in message
    found = [each for each in details if (message.endswith(f": {each}") if each else bare)]
    return {"type": kind, "field": field, "detail": max(found, key=len, default=_VALUE.sub("", message))}


TARGET = Target("dry_runs", _cases, check, shrinks=False, kinds=tuple(BASES))


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
