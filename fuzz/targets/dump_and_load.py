"""
What is dumped and loaded again is the same, as JSON and as YAML, and nothing that was given is lost.

    python -m fuzz.targets.dump_and_load [--cases 500] [--seed 1]

Dumped are random clusters, and claims with the allocations they were given.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any, Final

import yaml

from dra_alloc.api import KubeModel, Quantity, QuantityError
from dra_alloc.manifest import Documents, load
from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command, requests

_CLAIM: Final = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
_MEMBERS: Final = {"slices": "ResourceSlice", "classes": "DeviceClass", "claims": "ResourceClaim"}


def _documents(request: Json) -> list[Json]:
    """Return the objects of a request as manifests."""
    made = [
        {"apiVersion": "resource.k8s.io/v1", "kind": kind, **each}
        for member, kind in _MEMBERS.items()
        for each in request[member]
    ]
    results = ours(request).get("results") or []
    for claim, result in zip(request["claims"], results, strict=False):
        meta = {**claim["metadata"], "name": "allocated-" + claim["metadata"]["name"]}
        status = {"allocation": result}
        made.append({**_CLAIM, **claim, "metadata": meta, "status": status})
    return [*made, {"apiVersion": "v1", "kind": "Node", **request["node"]}]


def _loaded(text: str) -> list[Json]:
    """Return the objects of a text, dumped, in an order of their own."""
    documents = load(["-"], stdin=io.BytesIO(text.encode()))
    return [each.to_wire() for each in _objects(documents)]


def _objects(documents: Documents) -> list[KubeModel]:
    slices = [each.model() if hasattr(each, "model") else each for each in documents.slices]
    return [*slices, *documents.classes, *documents.claims, *documents.nodes]


def _check(request: Json) -> str:
    given = _documents(request)
    first = _loaded(json.dumps({"apiVersion": "v1", "kind": "List", "items": given}))
    if len(first) != len(given):
        raise Broken(f"{len(given)} objects were given, {len(first)} loaded")
    for before, after in zip(given, first, strict=True):
        lost = _lost(before, after, "")
        if lost:
            raise Broken(f"lost: {before['kind']} {lost}")
    for text in (json.dumps({"kind": "List", "apiVersion": "v1", "items": first}), yaml.safe_dump_all(first)):
        if _loaded(text) != first:
            raise Broken("dumped and loaded again: it differs")
    return "with allocations" if any("status" in each for each in given) else "without allocations"


def _lost(given: Any, kept: Any, path: str) -> str:
    """Return where something given is not in what was kept; quantities may be spelled otherwise."""
    if isinstance(given, dict) and isinstance(kept, dict):
        places = [_lost(each, kept.get(key), f"{path}.{key}") for key, each in given.items()]
        return next(filter(None, places), "")
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        places = [_lost(*pair, f"{path}[{number}]") for number, pair in enumerate(zip(given, kept, strict=True))]
        return next(filter(None, places), "")
    if given == kept or (not given and kept is None) or _same_amount(given, kept):
        return ""
    return path


def _same_amount(given: Any, kept: Any) -> bool:
    try:
        return bool(Quantity.from_wire(given) == Quantity.from_wire(kept))
    except QuantityError:
        return False


TARGET = Target("dump_and_load", requests, _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
