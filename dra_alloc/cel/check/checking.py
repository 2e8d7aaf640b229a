"""
What a check knows: types, names and calls so far, scopes, complaints.

Spec: CEL-11, CEL-12
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dra_alloc.cel.check.declarations import Function
from dra_alloc.cel.check.suggestions import alike, meant
from dra_alloc.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    CelType,
    checker_name,
    optional_of,
)
from dra_alloc.cel.check.unify import Unifier
from dra_alloc.cel.environments import Declarations
from dra_alloc.cel.errors import Issue
from dra_alloc.cel.syntax.ast import Ident, Literal, Node
from dra_alloc.cel.syntax.source import MAX_REPORTED, SourceText
from dra_alloc.cel.values.runtime import UInt


class Resolved(NamedTuple):
    """What a call turned out to be; a namespaced function has lost its target."""

    function: str
    target: Node | None
    args: tuple[Node, ...]
    overloads: tuple[str, ...]

    @property
    def operands(self) -> tuple[Node, ...]:
        """The receiver, if any, and the arguments."""
        return self.args if self.target is None else (self.target, *self.args)


@dataclass(frozen=True, slots=True)
class Checked:
    """
    A checked tree: types by node id, names of qualified identifiers, resolved calls.

    Not `doubtful`: every literal means something, so that none needs a further look.
    """

    root: Node
    types: Mapping[int, CelType]
    names: Mapping[int, str]
    calls: Mapping[int, Resolved]
    doubtful: bool = True

    @property
    def output_type(self) -> CelType:
        return self.types[self.root.id]


_LITERALS: dict[type, CelType] = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


@dataclass(slots=True)
class Scope:
    """Variables of one comprehension, and the scope around it."""

    names: dict[str, CelType]
    outer: Scope | None = None


#: Which issues came from under a node, from and to, and how many type variables it took.
_Span = tuple[int, int, int]


@dataclass(slots=True)
class CheckState:
    """The state of one check, and what every kind of node needs of it."""

    source: SourceText
    declared: Declarations
    unifier: Unifier = field(init=False)
    types: dict[int, CelType] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    calls: dict[int, Resolved] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    dropped: int = 0
    spans: dict[int, _Span] = field(default_factory=dict)
    doubtful: bool = False
    scope: Scope | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        self.unifier = Unifier(told=self.declared.settings.types_hold_types)

    def report(self, offset: int, message: str) -> None:
        line, column = self.source.location(offset)
        self.issues.append(Issue(line, column, message))

    def undeclared(self, node: Node, name: str) -> None:
        """Complain about a name that means nothing here."""
        told = f"{self.declared.settings.undeclared}{meant(name, self.declared)}"
        self.report(node.offset, f"undeclared reference to '{name}'{told}")
        self.types[node.id] = ERROR

    def misspelt(self, node: Node, qualified: str) -> bool:
        """Whether a name with dots means nothing from its beginning on, but is like one that does; then it is told."""
        parts = qualified.split(".")
        if len(parts) == 1 or not self.declared.settings.suggests_names:
            return False
        if any(self.lookup(".".join(parts[:length])) is not None for length in range(1, len(parts))):
            return False
        if not alike(qualified, self.declared):
            return False
        self.undeclared(node, qualified)
        return True

    def mismatch(self, node: Node, expected: CelType, found: CelType) -> None:
        text = f"expected type '{checker_name(expected)}' but found '{checker_name(found)}'"
        self.report(node.offset, text)

    def lookup(self, name: str) -> tuple[str, CelType] | None:
        """The declared name and type of an identifier; the name keeps a leading dot that skips macro variables."""
        rooted = name.startswith(".") and self.declared.settings.rooted_names
        name = name.removeprefix(".")
        shadow = self.local(name)
        if shadow is not None and not rooted:
            return name, shadow
        found = self.declared.variables.get(name) or self.declared.types.get(name)
        if found is None:
            return None
        return name if shadow is None else f".{name}", found

    def hidden(self, qualified: str) -> bool:
        """Whether a macro variable hides what a dotted name would mean."""
        if self.scope is None or not self.declared.settings.variables_hide_namespaces:
            return False
        return self.local(qualified.partition(".")[0]) is not None

    def local(self, name: str) -> CelType | None:
        """The type of a macro variable, None if there is none of that name."""
        scope = self.scope
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def function(self, name: str) -> Function | None:
        return self.declared.functions.get(name.removeprefix("."))

    def repeat(self, node: Node) -> None:
        """A macro used the sub-tree twice; upstream checks a copy, and complains as often."""
        start, stop, variables = self.spans[node.id]
        self.unifier.count += variables
        again = self.issues[start:stop]
        room = max(0, 2 * MAX_REPORTED - len(self.issues))
        self.issues.extend(again[:room])
        self.dropped += stop - start - len(again[:room])

    def quick(self, node: Node) -> bool:
        """Check `node` if it is a leaf; most are, and leaves need no generator."""
        if isinstance(node, Literal):
            self.types[node.id] = _LITERALS[type(node.value)]
            return True
        if isinstance(node, Ident):
            if self.types.get(node.id, ERROR) is ERROR:
                self.ident(node)
            return True
        return False

    def ident(self, node: Ident) -> None:
        found = self.lookup(node.name)
        if found is None:
            self.undeclared(node, node.name)
        else:
            self.names[node.id], self.types[node.id] = found

    def join(self, node: Node, previous: CelType | None, kind: CelType) -> CelType:
        """The common type of literal elements; mixed ones are dyn until the validators see them."""
        if previous is None:
            return kind
        if self.unifier.assignable(previous, kind):
            return previous if self.unifier.less_specific(previous, kind) else kind
        return DYN

    def unwrap(self, node: Node, kind: CelType) -> CelType:
        """The type of what ``?element`` holds."""
        if kind.is_optional:
            return kind.params[0]
        if not kind.is_dyn:
            self.mismatch(node, optional_of(kind), kind)
        return kind

    def want(self, node: Node, expected: CelType) -> None:
        kind = self.types[node.id]
        if not self.unifier.assignable(expected, kind):
            self.mismatch(node, expected, kind)
