"""
The harness: one JSON request a line in, one JSON answer a line out.

It lets another program hold this allocator against its own, request by
request. See `docs/reference/testing.md` for the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.cli.harness.reading import TOO_DEEP, read_line
from dra_alloc.cli.harness.rule import answer_rule
from dra_alloc.cli.harness.validate import answer_validate
from dra_alloc.cli.harness.values import answer_cel, answer_quantity
from dra_alloc.errors import DraAllocError, InputError, in_brief
from dra_alloc.limits import DEFAULT_STEP_BUDGET
from dra_alloc.work import DEFAULT_WORK, BudgetExhausted, Purse

_ALLOCATE: Final = "allocate"
#: How long a text about a request may be.
_SHOWN: Final = 2000


def serve(lines: Iterable[str | bytes]) -> Iterator[str]:
    """Return one answer line per request line, as they come; blank lines are skipped."""
    for line in lines:
        if line.strip():
            yield json.dumps(answer(line), separators=(",", ":"))


@lru_cache(maxsize=16)
def _operations(steps: int) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """Return what answers each op, with that many search steps."""
    return {
        _ALLOCATE: partial(answer_allocate, steps=steps),
        "cel": answer_cel,
        "quantity": answer_quantity,
        "rule": answer_rule,
        "validate": answer_validate,
    }


def answer(line: str | bytes, *, steps: int = DEFAULT_STEP_BUDGET) -> dict[str, Any]:
    """
    Return the answer to one request; one that cannot be understood is answered with `bad`.

    An allocation that takes more steps, or more work than a command may take, stays undecided.
    """
    name: dict[str, Any] = {}
    try:
        request = read_line(line)
        name = {"name": request["name"]} if "name" in request else {}
        operation = request.get("op", _ALLOCATE)
        operations = _operations(steps)
        if not isinstance(operation, str) or operation not in operations:
            raise InputError(f"unknown op {operation!r} (known: {', '.join(operations)})")
        body = {key: value for key, value in request.items() if key not in ("op", "name")}
        with Purse(DEFAULT_WORK):
            return {**name, **operations[operation](body)}
    except RecursionError:
        return {**name, "bad": TOO_DEEP}
    except (DraAllocError, BudgetExhausted, ValueError, TypeError, KeyError) as error:
        return {**name, "bad": in_brief(str(error) or type(error).__name__, _SHOWN)}
