"""
cel-python as a second engine: its parser and evaluator, our quantities, versions and DRA functions.

It checks no types, counts no cost and knows a part of the language only; its
error texts are its own. What it does to its host is undone here: it sets the
interpreter's recursion limit, and keeps one parser for the whole process that
serves only the first kind of runner that asked for it.

Its evaluator makes a new state for each evaluation, so that threads may share
a selector; only parsing is done one at a time.

Spec: CEL-74
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock
from typing import Any, Final, cast

import celpy
from celpy import celtypes
from celpy.celparser import CELParser
from celpy.evaluation import Activation, CELEvalError, Evaluator, Result
from lark import Lark, Tree
from lark.exceptions import LarkError, UnexpectedInput

from dra_alloc.cel.check.types import DYN, CelType
from dra_alloc.cel.device import CelDevice
from dra_alloc.cel.engine import Environment
from dra_alloc.cel.errors import CelError, CompileError, EvaluationError
from dra_alloc.cel.library.dra import DRA_LIBRARY
from dra_alloc.cel.library.quantity import QUANTITY_LIBRARY
from dra_alloc.cel.library.semver import SEMVER_LIBRARY
from dra_alloc.cel.plan.dispatch import implementation
from dra_alloc.cel.reads import WHOLE, Read
from dra_alloc.cel.values.equality import equal
from dra_alloc.cel.values.runtime import CelMap, UInt, is_list

__all__ = ["MAX_STEPS", "CelPython"]

#: How many nodes one evaluation may visit: it counts no cost, and some seconds are enough.
MAX_STEPS: Final = 50_000
_MAX_CODE_POINTS: Final = 100_000
#: The libraries that are lent to it; the standard one it has itself.
_LENT: Final = (QUANTITY_LIBRARY, SEMVER_LIBRARY, DRA_LIBRARY)
_parsing: Final = Lock()


class CelPython:
    """cel-python in one environment, of which only functions and list-typed attributes matter to it."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._parser, self._annotations = _loaded()
        declared = environment.declared.functions
        names = [function.name for library in _LENT for function in library.functions]
        self._functions = {name: _lent(implementation(declared[name], ())) for name in names if name in declared}

    @property
    def lists(self) -> bool:
        """Whether list-typed attributes are decoded."""
        return self._environment.lists

    def compile(self, expression: str) -> CelPythonSelector:
        """
        The selector of an expression that it can parse; nothing else is checked.

        Raises: CompileError.
        """
        if len(expression) > _MAX_CODE_POINTS:
            raise CompileError(f"more than {_MAX_CODE_POINTS} characters")
        try:
            with _parsing:
                tree = self._parser.parse(expression)
        except UnexpectedInput as error:
            raise CompileError(f"syntax error at {error.line}:{error.column}") from None
        except LarkError as error:
            raise CompileError(f"syntax error: {str(error).partition(chr(10))[0]}") from None
        except RecursionError:
            raise CompileError("the expression is nested too deeply") from None
        return CelPythonSelector(expression, tree, self._annotations, self._functions)


class CelPythonSelector:
    """An expression that cel-python could parse; its types, cost and reads are not known."""

    __slots__ = ("_annotations", "_functions", "_tree", "expression")

    def __init__(
        self, expression: str, tree: Tree[Any], annotations: dict[str, Any], functions: Mapping[str, Any]
    ) -> None:
        self.expression = expression
        self._tree = tree
        self._annotations = annotations
        self._functions = functions

    @property
    def output_type(self) -> CelType:
        """Dyn: it checks no types."""
        return DYN

    @property
    def max_cost(self) -> None:
        """None: it knows no cost."""
        return

    @property
    def reads(self) -> tuple[Read, ...]:
        """Everything: it cannot tell."""
        return WHOLE

    def cost(self, device: CelDevice) -> None:
        """None: it knows no cost."""
        return

    def matches(self, device: CelDevice) -> bool:
        """
        Whether the selector selects `device`, as cel-python sees it.

        Raises: EvaluationError, with its text, also if it breaks.
        """
        if device.problem:
            raise EvaluationError(device.problem)
        base = Activation(annotations=self._annotations, functions=self._functions)
        try:
            value = _Bounded(self._tree, base, [MAX_STEPS]).evaluate({"device": _of_device(device)})
        except CELEvalError as error:
            raise EvaluationError(_text(error)) from None
        except _Exhausted:
            raise EvaluationError(f"stopped after {MAX_STEPS:,} steps") from None
        except RecursionError:
            raise EvaluationError("the expression is nested too deeply") from None
        except Exception as error:  # noqa: BLE001 - whatever it trips over is an answer of its own
            raise EvaluationError(f"{type(error).__name__}: {error}") from None
        if not isinstance(value, celtypes.BoolType):
            raise EvaluationError(f"the result is of type {type(value).__name__}, not a bool")
        return bool(value)


class _Exhausted(Exception):
    """An evaluation visited more nodes than it may."""


class _Bounded(Evaluator):
    """
    The evaluator with a number of steps that the evaluators of its macros share.

    It writes every error into the text of the next, quoted: two errors in one
    operation double the text. So errors are cut short on the way up, and a
    macro is shown only its first one.
    """

    def __init__(self, ast: Tree[Any], activation: Activation, left: list[int]) -> None:
        super().__init__(ast, activation)
        self._left = left

    def sub_evaluator(self, ast: Tree[Any]) -> Evaluator:
        return _Bounded(ast, self.activation, self._left)

    def visit(self, tree: Tree[Any]) -> Any:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise _Exhausted
        found = super().visit(tree)
        return CELEvalError(_text(found)) if isinstance(found, CELEvalError) and len(found.args) > 1 else found

    def visit_children(self, tree: Tree[Any]) -> list[Any]:
        return [self.visit(child) if isinstance(child, Tree) else child for child in tree.children]

    def build_ss_macro_eval(self, child: Tree[Any]) -> Callable[[Any], Any]:
        ask = super().build_ss_macro_eval(child)
        neutral = _NEUTRAL.get(str(child.children[1]))
        failed = False

        def once(value: Any) -> Any:
            nonlocal failed
            found = ask(value)
            if neutral is None or not isinstance(found, CELEvalError):
                return found
            if failed:
                return neutral
            failed = True
            return found

        return once


#: What changes nothing in a macro that has failed already.
_NEUTRAL: Final = {"all": celtypes.BoolType(True), "exists": celtypes.BoolType(False)}


class KubernetesValue:
    """A value that cel-python has no type for; equality is ours."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        try:
            return equal(self.value, _from_theirs(other))
        except CelError as error:
            raise TypeError(error.text) from None

    def __ne__(self, other: object) -> bool:
        # Upstream's != says "not known to be equal".
        try:
            return not self == other
        except TypeError:
            return True

    def __hash__(self) -> int:
        raise TypeError("unhashable")

    def __repr__(self) -> str:
        return str(self.value)


class _Domains(celtypes.MapType):
    """The map of domains, in which every domain can be looked up."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if key in self else celtypes.MapType()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key]


@cache
def _loaded() -> tuple[Lark, dict[str, Any]]:
    """A parser of our own and the annotations of its environment; the host's stay as they were."""
    limit = sys.getrecursionlimit()
    with _parsing:
        kept, CELParser.CEL_PARSER = CELParser.CEL_PARSER, None
        try:
            annotations = celpy.Environment(runner_class=celpy.InterpretedRunner).annotations
            parser = CELParser.CEL_PARSER
        finally:
            CELParser.CEL_PARSER = kept
            sys.setrecursionlimit(limit)
    return cast("Lark", parser), annotations


def _lent(run: Callable[..., Any]) -> Callable[..., Result]:
    """One of our functions as cel-python calls it: by name, whatever the types."""

    def call(*args: Any) -> Result:
        try:
            return cast("Result", _to_theirs(run(*map(_from_theirs, args))))
        except CelError as error:
            return CELEvalError(error.text)

    return call


def _of_device(device: CelDevice) -> celtypes.MapType:
    found = celtypes.MapType()
    found[celtypes.StringType("driver")] = celtypes.StringType(device.driver)
    found[celtypes.StringType("allowMultipleAllocations")] = celtypes.BoolType(device.multi)
    for name, domains in (("attributes", device.attributes), ("capacity", device.capacity)):
        outer = _Domains()
        for domain, values in domains.items():
            outer[celtypes.StringType(domain)] = _map(values)
        found[celtypes.StringType(name)] = outer
    return found


def _map(values: Mapping[Any, Any]) -> celtypes.MapType:
    found = celtypes.MapType()
    for key, value in values.items():
        found[_to_theirs(key)] = _to_theirs(value)
    return found


_TO_THEIRS: Final[Mapping[type, Callable[[Any], Any]]] = {
    bool: celtypes.BoolType,
    int: celtypes.IntType,
    UInt: celtypes.UintType,
    float: celtypes.DoubleType,
    str: celtypes.StringType,
    bytes: celtypes.BytesType,
    type(None): lambda value: None,
    CelMap: lambda value: _map(dict(value.items())),
}
_FROM_THEIRS: Final[Mapping[type, Callable[[Any], Any]]] = {
    celtypes.BoolType: bool,
    celtypes.IntType: int,
    celtypes.UintType: lambda value: UInt(int(value)),
    celtypes.DoubleType: float,
    celtypes.StringType: str,
    celtypes.BytesType: bytes,
    type(None): lambda value: None,
    celtypes.ListType: lambda value: tuple(map(_from_theirs, value)),
    celtypes.MapType: lambda value: CelMap.of((_from_theirs(key), _from_theirs(each)) for key, each in value.items()),
    KubernetesValue: lambda value: value.value,
    # Its arithmetic now and then forgets its types.
    bool: bool,
    int: int,
    float: float,
    str: str,
}


def _to_theirs(value: Any) -> Any:
    """A value of ours as cel-python has it."""
    convert = _TO_THEIRS.get(type(value))
    if convert is not None:
        return convert(value)
    return celtypes.ListType(map(_to_theirs, value)) if is_list(value) else KubernetesValue(value)


def _from_theirs(value: Any) -> Any:
    """A value of cel-python's as we have it; raises CelError if we have none such."""
    for kind in type(value).__mro__:
        convert = _FROM_THEIRS.get(kind)
        if convert is not None:
            return convert(value)
    raise CelError("no such overload")


_CLASSES: Final = re.compile(r"Token\('\w+', '([^']*)'\)|<class '(?:[^'.]*\.)*([^'.]*)'>")
_LONGEST: Final = 500


def _text(error: CELEvalError) -> str:
    """The message and what it stands for, without the classes of Python in it."""
    inner = [part for group in error.args if isinstance(group, tuple) for part in group]
    said = [str(part).partition(" (in activation ")[0] for part in (*error.args, *inner) if isinstance(part, str)]
    text = ": ".join(dict.fromkeys(_CLASSES.sub(lambda match: match[1] or match[2], each)[:_LONGEST] for each in said))
    return text or type(error).__name__
