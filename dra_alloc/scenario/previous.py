"""
The answer to hold on to: what claims had before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from dra_alloc.api import AllocationResult, ObjectMeta, ResourceClaim, ResourceClaimStatus
from dra_alloc.errors import InputError, Where
from dra_alloc.manifest import load, load_plain
from dra_alloc.solve.best.objectives import Stable

_HINT = "ResourceClaims with a status, or what check or gang printed with --format json"


def load_previous(path: str | os.PathLike[str]) -> Stable:
    """
    Return the objective that wants what a file says claims had: ResourceClaims, or a JSON report of ours.

    Raises: ManifestError; InputError for a file without an allocation.
    """
    file = os.fspath(path)
    documents = load_plain(file)
    report = documents[0] if len(documents) == 1 else None
    if isinstance(report, dict) and "schemaVersion" in report:
        try:
            claims: Iterable[ResourceClaim] = list(_reported(report))
        except (AttributeError, KeyError, TypeError, ValidationError):
            raise InputError("is no report of check or gang", where=Where(file=file), hint=_HINT) from None
    else:
        claims = load([file]).claims
    stable = Stable.to(claims)
    if not stable.previous:
        raise InputError("holds no allocation to be stable to", where=Where(file=file), hint=_HINT)
    return stable


def _reported(report: dict[str, Any]) -> Iterator[ResourceClaim]:
    """Yield the claims of a report of ``check``, or of the joint part of one of ``gang``."""
    if "joint" in report:
        for placement in report["joint"]["placements"]:
            for name, allocation in zip(placement["claims"], placement["allocations"], strict=False):
                yield _claim(name, allocation)
        return
    for placement in report["placements"]:
        if placement["allocation"] is not None:
            for claim in placement["allocation"]["claims"]:
                yield _claim(claim["name"], claim["allocation"])


def _claim(name: str, allocation: Any) -> ResourceClaim:
    namespace, _, own = name.rpartition("/")
    return ResourceClaim(
        metadata=ObjectMeta(name=own, namespace=namespace or None),
        status=ResourceClaimStatus(allocation=AllocationResult.from_wire(allocation)),
    )
