"""
The harness: one JSON request a line in, one JSON answer a line out.

It lets another program hold this allocator against its own, request by
request. See `docs/reference/harness.md` for the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from dra_alloc.cli.harness_allocate import answer_allocate
from dra_alloc.cli.harness_validate import answer_validate
from dra_alloc.cli.harness_values import answer_cel, answer_quantity
from dra_alloc.errors import DraAllocError
from dra_alloc.limits import DEFAULT_STEP_BUDGET

__all__ = ["answer", "serve"]

_ALLOCATE: Final = "allocate"
_OPERATIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    _ALLOCATE: answer_allocate,
    "cel": answer_cel,
    "quantity": answer_quantity,
    "validate": answer_validate,
}


def serve(lines: Iterable[str | bytes]) -> Iterator[str]:
    """Return one answer line per request line, as they come; blank lines are skipped."""
    for line in lines:
        if line.strip():
            yield json.dumps(answer(line), separators=(",", ":"))


def answer(line: str | bytes, *, steps: int = DEFAULT_STEP_BUDGET) -> dict[str, Any]:
    """
    Return the answer to one request; one that cannot be understood is answered with `bad`.

    An allocation that takes more steps stays undecided.
    """
    name: dict[str, Any] = {}
    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            return {"bad": "a request is a JSON object"}
        name = {"name": request["name"]} if "name" in request else {}
        operation = request.get("op", _ALLOCATE)
        if not isinstance(operation, str) or operation not in _OPERATIONS:
            return {**name, "bad": f"unknown op {operation!r}"}
        body = {key: value for key, value in request.items() if key not in ("op", "name")}
        if operation == _ALLOCATE:
            return {**name, **answer_allocate(body, steps=steps)}
        return {**name, **_OPERATIONS[operation](body)}
    except (DraAllocError, ValueError, TypeError, KeyError, RecursionError) as error:
        return {**name, "bad": str(error) or type(error).__name__}
