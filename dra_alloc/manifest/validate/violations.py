"""
What the API server refuses, in its words: `Invalid value: "x": must be greater than zero`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from dra_alloc.api.go_text import quote
from dra_alloc.api.names import MAX_LABEL, NameFault, driver_faults, subdomain_faults
from dra_alloc.errors import Problem, Where, shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_LENGTH
from dra_alloc.manifest.read.paths import key_path
from dra_alloc.manifest.validate.releases import (
    EMPTY_DRIVERS_NAMED,
    GENERATED,
    KEYS_APART,
    LOOKS_ON,
    NAMES_IN_EARLY_WORDS,
    TWICE_AT_NAME,
)
from dra_alloc.releases import DEFAULT_RELEASE, Release, Span, parse_release

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


#: What an empty part of a qualified name was, and what a name without a domain was told.
_EMPTY_PARTS: Final = ("the domain must not be empty", "the name must not be empty")
_IDENTIFIER: Final = "a valid C identifier"
_EARLY_WORDS: Final = (
    ("a fully qualified name must be a domain and a name separated by a slash", "must include a domain"),
    ("a valid label key", "a qualified name"),
    (" bytes", " characters"),
)


def _in_early_words(fault: NameFault) -> NameFault:
    if fault.kind != "Invalid":
        return fault
    detail = fault.detail
    if not fault.value and detail not in _EMPTY_PARTS:
        return fault._replace(kind="Required", detail="name required") if _IDENTIFIER in detail else fault
    for later, early in _EARLY_WORDS:
        detail = detail.replace(later, early)
    return fault._replace(kind="Required" if detail in _EMPTY_PARTS else fault.kind, detail=detail)


_IN_DEVICE: Final = re.compile(r"^(spec\.devices\[\d+\])(?=\.)")
_DEFAULT: Final = parse_release(DEFAULT_RELEASE)


@dataclass(frozen=True, slots=True)
class ApiServer:
    """
    The API server that is asked.

    `selector` returns what its compiler has against a new selector: how the
    fault begins, the compiler's text, and our hint; `stored_selector` against
    one that stays as it is, `derived` and `stored_derived` against derived attributes. One that `generates_names`
    looks at the name that an object without one would get, too.
    """

    selector: Callable[[str], tuple[str, str, str] | None] = lambda _: None
    stored_selector: Callable[[str], tuple[str, str, str] | None] = lambda _: None
    release: Release = _DEFAULT
    gates: Mapping[str, bool] = field(default_factory=dict)
    generates_names: bool = False
    subresource: str = ""
    derived: Callable[[str], tuple[str, str, str] | None] = lambda _: None
    stored_derived: Callable[[str], tuple[str, str, str] | None] = lambda _: None


#: Says nothing of selectors.
ANY: Final = ApiServer()


class _Sent(str):
    """A path that a generated check reports: one of the version that was sent."""

    __slots__ = ()


@dataclass(slots=True)
class Violations:
    """
    The violations of one object, `name` being what it is called, that was sent in a `version`.

    With `generated_only` hand-written checks say nothing; `as_stored` is what
    an update leaves as it is.
    """

    name: str
    server: ApiServer = ANY
    version: str = "v1"
    generated_only: bool = False
    as_stored: bool = False
    found: list[FieldFault] = field(default_factory=list)
    _long: set[tuple[str, str]] = field(default_factory=set)

    def holds(self, behaviour: Span) -> bool:
        """Say whether the server's release shows a behaviour."""
        return behaviour.holds(self.server.release)

    @property
    def generated(self) -> bool:
        """Whether the server's generated checks are enforced: not on what stays as it is."""
        return not self.as_stored and self.holds(GENERATED)

    def of_key(self, path: str, key: str, *, is_label: bool = False) -> str:
        """Return the path of what is wrong with a key of a map; one that is to be a label is cut as labels are."""
        if not self.holds(KEYS_APART):
            return path
        return key_path(path, key, MAX_LABEL) if is_label else key_path(path, key)

    @contextmanager
    def generated_checks(self, alone: bool) -> Iterator[None]:
        """Let only generated checks say something, if asked: they look where hand-written ones do not."""
        before = self.generated_only
        self.generated_only = before or alone
        yield
        self.generated_only = before

    @contextmanager
    def stored(self, same: bool) -> Iterator[None]:
        """Check what an update leaves as it is, if it does. Spec: VAL-12."""
        before, self.as_stored = self.as_stored, same
        yield
        self.as_stored = before

    def sent(self, path: str) -> str:
        """Return what a check that is generated, where these are enforced, calls a path of v1. Spec: VAL-8."""
        if not self.generated:
            return path
        if self.version == "v1beta1":
            path = _IN_DEVICE.sub(r"\1.basic", path, count=1).replace(".exactly", "", 1)
        return _Sent(path)

    def required(self, path: str, detail: str = "") -> None:
        """A value is missing."""
        self._add(path, "Required value", detail)

    def invalid(self, path: str, value: object, details: str | Iterable[str]) -> None:
        """A value is wrong; one violation for each detail."""
        for detail in (details,) if isinstance(details, str) else details:
            self._add(path, f"Invalid value: {_shown(value)}", detail)

    def names(self, path: str, faults: Iterable[NameFault]) -> None:
        """A name is wrong, in as many ways as there are faults; of a map's keys that are too long one is told."""
        for fault in map(_in_early_words, faults) if self.holds(NAMES_IN_EARLY_WORDS) else faults:
            if fault.kind == "TooLong" and self.holds(GENERATED):
                if (path, fault.detail) in self._long:
                    continue
                self._long.add((path, fault.detail))
            text, _, _ = str(fault._replace(value="")).partition(":")
            shown = f": {_shown(fault.value)}" if fault.kind == "Invalid" else ""
            self._add(path, f"{text}{shown}", fault.detail)

    def driver(self, path: str, name: str, *, generated: bool = False) -> None:
        """A driver's name is wrong; an empty one may be in two ways."""
        self.names(path, driver_faults(name, declarative=generated))
        if not name and self.holds(EMPTY_DRIVERS_NAMED):
            self.names(path, subdomain_faults(name))

    def named_twice(self, path: str, name: str, field_name: str = "name") -> None:
        """An object of a list has the name of an earlier one."""
        self.duplicate(f"{path}.{field_name}" if self.holds(TWICE_AT_NAME) else path, name)

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

    def selector(self, path: str, expression: str, *, derived: bool = False) -> None:
        """Check what devices are asked, or what of them is `derived`: its length, and what the compiler says of it."""
        if not self.generated_only and not self.too_long(path, expression, CEL_SELECTOR_MAX_LENGTH):
            server = self.server
            asked = (server.derived, server.stored_derived) if derived else (server.selector, server.stored_selector)
            fault = asked[self.as_stored](expression)
            if fault is not None:
                # The compiler's text quotes the expression, which is not printed twice.
                kind, detail, hint = fault
                self.found.append(FieldFault(detail, Where(self.name, path), hint, type=_TYPES[kind], detail=detail))

    def too_long(self, path: str, text: str, limit: int) -> bool:
        """Say whether a text has more bytes than it may, and note it."""
        long = len(text) > limit // 4 and len(text.encode("utf-8", "surrogatepass")) > limit
        if long:
            self._add(path, "Too long", f"may not be more than {limit} bytes")
        return long

    def too_many(self, path: str, count: int, limit: int) -> bool:
        """Say whether a list is so long that its members are not looked at, and note it."""
        if count > limit:
            self._add(path, f"Too many: {count}", f"must have at most {limit} items")
        return count > limit and not self.holds(LOOKS_ON)

    def _add(self, path: str, text: str, detail: str) -> None:
        if self.generated_only and not isinstance(path, _Sent):
            return
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
