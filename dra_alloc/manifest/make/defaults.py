"""
What the API server fills in when it reads an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.manifest.convert.conversion import Rule, rewrite

_FLAT_VERSIONS: Final = frozenset(("v1beta1", "v1alpha3"))


def _request(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request with mode ExactCount if it has none, and count 1 if the mode wants one. Spec: DEF-1."""
    mode = request.get("allocationMode")
    mode = "ExactCount" if mode in (None, "") else mode
    if mode == "ExactCount" and request.get("count") in (None, 0) and request.get("count") is not False:
        return {**request, "allocationMode": mode, "count": 1}
    return {**request, "allocationMode": mode}


def _flat_request(request: dict[str, Any]) -> dict[str, Any]:
    """Do the same for what was a flat request, but only if it names a class. Spec: DEF-2."""
    return _request(request) if request.get("deviceClassName") else request


def _toleration(toleration: dict[str, Any]) -> dict[str, Any]:
    """Return a toleration with operator Equal if it has none. Spec: DEF-3."""
    return {**toleration, "operator": "Equal"} if toleration.get("operator") in (None, "") else toleration


_Table = tuple[tuple[tuple[str, ...], Rule], ...]


def _claim_table(top: tuple[str, ...], exactly: Rule) -> _Table:
    requests = (*top, "spec", "devices", "requests", "*")
    return (
        ((*requests, "exactly"), exactly),
        ((*requests, "firstAvailable", "*"), _request),
        ((*requests, "exactly", "tolerations", "*"), _toleration),
        ((*requests, "firstAvailable", "*", "tolerations", "*"), _toleration),
    )


def _tables(exactly: Rule) -> Mapping[str, _Table]:
    results = ("status", "allocation", "devices", "results", "*", "tolerations", "*")
    return {
        "ResourceClaim": (*_claim_table((), exactly), (results, _toleration)),
        "ResourceClaimTemplate": _claim_table(("spec",), exactly),
    }


_NESTED: Final = _tables(_request)
_FLAT: Final = _tables(_flat_request)


def set_defaults(value: Any, kind: str, version: str) -> Any:
    """
    Return v1-shaped plain values with the defaults of the version they were written in.

    The time of a taint without one is left open: it says when eviction begins,
    which no allocation depends on, and the answer must not depend on the clock.

    Spec: DEF-1 to DEF-4.
    """
    for path, rule in (_FLAT if version in _FLAT_VERSIONS else _NESTED).get(kind, ()):
        value = rewrite(value, path, rule, nulls=True)
    return value
