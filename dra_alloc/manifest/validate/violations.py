"""
What the API server refuses, in its words: `Invalid value: "x": must be greater than zero`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from dra_alloc.api.go_text import quote
from dra_alloc.api.names import NameFault
from dra_alloc.errors import Problem, Where, shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_LENGTH

__all__ = ["ANY", "ApiServer", "FieldFault", "Violations", "key_path"]

_KEY_SHOWN = 96
# The server shows values whole; no client prints a megabyte of one.
_VALUE_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class FieldFault(Problem):
    """
    What an API server refuses in one field, as its status says it: `type`, the path in `where`, and `detail`.

    `message` is the same as a client prints it, with the value.
    """

    type: str = ""
    detail: str = ""


#: How the text of a fault begins -> the API machinery's name of its type.
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


@dataclass(frozen=True, slots=True)
class ApiServer:
    """
    The API server that is asked.

    `selector` returns what its compiler has against a new selector: how the
    fault begins, the compiler's text, and our hint.
    """

    selector: Callable[[str], tuple[str, str, str] | None] = lambda _: None


#: Says nothing of selectors.
ANY: Final = ApiServer()


@dataclass(slots=True)
class Violations:
    """The violations of one object, `name` being what it is called."""

    name: str
    server: ApiServer = ANY
    found: list[FieldFault] = field(default_factory=list)

    def required(self, path: str, detail: str = "") -> None:
        """A value is missing."""
        self._add(path, "Required value", detail)

    def invalid(self, path: str, value: object, details: str | Iterable[str]) -> None:
        """A value is wrong; one violation for each detail."""
        for detail in (details,) if isinstance(details, str) else details:
            self._add(path, f"Invalid value: {_shown(value)}", detail)

    def names(self, path: str, faults: Iterable[NameFault]) -> None:
        """A name is wrong, in as many ways as there are faults."""
        for fault in faults:
            text, _, _ = str(fault._replace(value="")).partition(":")
            shown = f": {_shown(fault.value)}" if fault.kind == "Invalid" else ""
            self._add(path, f"{text}{shown}", fault.detail)

    def duplicate(self, path: str, value: object) -> None:
        """A value stands twice where it may stand once."""
        self._add(path, f"Duplicate value: {_shown(value)}", "")

    def not_found(self, path: str, value: object, detail: str) -> None:
        """A value names something that is not there."""
        self._add(path, f"Not found: {_shown(value)}", detail)

    def unsupported(self, path: str, value: object, supported: Iterable[str]) -> None:
        """A value is none of those there are, told in the server's order."""
        values = ", ".join(quote(one) for one in supported)
        self._add(path, f"Unsupported value: {_shown(value)}", f"supported values: {values}")

    def forbidden(self, path: str, detail: str) -> None:
        """A value may not be here."""
        self._add(path, "Forbidden", detail)

    def selector(self, path: str, expression: str) -> None:
        """Check an expression that devices are asked: its length, and what the compiler says of it."""
        if not self.too_long(path, expression, CEL_SELECTOR_MAX_LENGTH):
            fault = self.server.selector(expression)
            if fault is not None:
                # The compiler's text quotes the expression, which is not printed twice.
                kind, detail, hint = fault
                self.found.append(FieldFault(detail, Where(self.name, path), hint, type=_TYPES[kind], detail=detail))

    def too_long(self, path: str, text: str, limit: int) -> bool:
        """Say whether a text has more bytes than it may, and note it."""
        long = len(text.encode("utf-8", "surrogatepass")) > limit
        if long:
            self._add(path, "Too long", f"may not be more than {limit} bytes")
        return long

    def too_many(self, path: str, count: int, limit: int) -> bool:
        """Say whether a list is too long, and note it; its members are not looked at then."""
        if count > limit:
            self._add(path, f"Too many: {count}", f"must have at most {limit} items")
        return count > limit

    def _add(self, path: str, text: str, detail: str) -> None:
        message = f"{text}: {shortened(detail, _VALUE_SHOWN)}" if detail else text
        kind = _TYPES[text.partition(":")[0]]
        self.found.append(FieldFault(message, Where(self.name, path), type=kind, detail=detail))


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        # A map by its keys; a struct, which is given as an ordered one, by its members.
        order: Literal["sorted"] | None = None if isinstance(value, OrderedDict) else "sorted"
        return shortened(msgspec.json.encode(value, order=order).decode(), _VALUE_SHOWN)
    return quote(shortened(value, _VALUE_SHOWN)) if isinstance(value, str) else shortened(str(value), _VALUE_SHOWN)


def key_path(path: str, key: str) -> str:
    """Return the path of a map entry; a long key is cut in its middle."""
    if len(key) > _KEY_SHOWN:
        tail = (_KEY_SHOWN - 3) // 2
        key = f"{key[: _KEY_SHOWN - 3 - tail]}...{key[-tail:]}"
    return f"{path}[{key}]"
