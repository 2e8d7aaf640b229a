"""
The shape of a declaration: functions, overloads, macros and type names as data.

Every library file under :mod:`dra_alloc.cel.library` is a tuple of these;
:mod:`dra_alloc.cel.environment` picks the ones a release and mode know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.types import CelType
from dra_alloc.releases import EVER, Span

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand
    from dra_alloc.cel.syntax.ast import Node
    from dra_alloc.cel.syntax.macros import MacroExpansion


@dataclass(frozen=True, slots=True)
class Window:
    """
    When a declaration exists.

    `since` is the first minor whose *new* environment may hold it (compared
    with the compatibility version, binary minor minus 1); `span` holds the
    binaries that know it at all, *stored* included. `gate` must be on in *new*;
    in *stored* it is ignored.
    """

    since: int = 0
    span: Span = EVER
    gate: str = ""


ALWAYS = Window()
#: The release with which cel-go 0.29 came, which reads and checks several things otherwise.
CEL_GO_029: Final = "1.37.0-beta.0"
#: The release with which cel-go 0.33 came.
CEL_GO_033: Final = "1.38"
BEFORE_029: Final = Window(span=Span(end=CEL_GO_029))
SINCE_029: Final = Window(span=Span(CEL_GO_029))
BEFORE_033: Final = Window(span=Span(end=CEL_GO_033))
SINCE_033: Final = Window(span=Span(CEL_GO_033))


@dataclass(frozen=True, slots=True)
class Cost:
    """
    What a call costs.

    `actual(args, result)` is the counted cost (result is None if the call
    failed); `before` says that it does not look at the result, so it can be
    charged before the work is done. `crashes` says that it may raise CelAbort,
    where upstream's panics: programs that call it are always counted. `deep` says that
    it also charges what lies in elements, which no estimate sees. `opens` says that optionals are looked into
    in every release. `estimate(estimator, target, args)` is the static
    range, or None for the default of 1.
    """

    actual: Callable[[Sequence[Any], Any], int]
    estimate: Callable[[Estimator, Operand | None, Sequence[Operand]], CallEstimate | None]
    before: bool = True
    crashes: bool = False
    deep: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Overload:
    """
    One signature.

    `run` gets the evaluated arguments (the receiver first), raises CelError;
    it is only called if the arguments fit `params`. It may be missing where the
    function has a `run` of its own.
    """

    id: str
    params: tuple[CelType, ...]
    result: CelType
    run: Callable[..., Any] | None = None
    member: bool = False
    cost: Cost | None = None
    window: Window = ALWAYS


@dataclass(frozen=True, slots=True)
class Function:
    """
    A function name and its overloads, in the order in which they are tried.

    `run` serves all overloads and checks types itself. `guarded` False calls
    an overload's `run` whatever the argument types. `cost` holds for overloads
    without a cost of their own. `prepare(constants)` gets the constant
    arguments by position at compile time and may return a better `run`; its
    CelError is "program instantiation failed". `validate(call, operands, types)`
    looks at literal operands (the receiver first) and returns (node, message)
    complaints. `variadic` marks what upstream binds with any number of
    arguments: evaluation stops at the first operand that fails.
    """

    name: str
    overloads: tuple[Overload, ...]
    run: Callable[..., Any] | None = None
    guarded: bool = True
    cost: Cost | None = None
    prepare: Callable[[Mapping[int, Any]], Callable[..., Any] | None] | None = None
    validate: Callable[[Node, tuple[Node, ...], Mapping[int, CelType]], Iterable[tuple[Node, str]]] | None = None
    variadic: bool = False


#: Functions whose literal operands are looked at without a `validate` of their own.
EXAMINED: Final = frozenset(("duration", "timestamp", "matches"))


@dataclass(frozen=True, slots=True)
class Macro:
    """
    A macro: `expand(expansion, target, args)` returns the node, or None for "not mine".

    `member` macros are called on a target.
    """

    name: str
    arity: int
    expand: Callable[[MacroExpansion, Node | None, tuple[Node, ...]], Node | None]
    member: bool = True


@dataclass(frozen=True, slots=True)
class Library:
    """Declarations that come and go together."""

    name: str
    functions: tuple[Function, ...] = ()
    macros: tuple[Macro, ...] = ()
    types: tuple[CelType, ...] = ()
    window: Window = ALWAYS
