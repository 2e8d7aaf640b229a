"""
The engines that can answer a selector, and what each of them has to offer.

`native` is ours, and the only one that answers as upstream does. The others
are second opinions: they take the same expressions and devices and are as
right as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, overload

from dra_alloc.cel.engine import Environment, environment
from dra_alloc.cel.program import Program
from dra_alloc.cel.protocol import Compiler, Selector
from dra_alloc.errors import EngineUnavailable, InputError, did_you_mean, in_brief
from dra_alloc.releases import Release

__all__ = ["ENGINES", "NATIVE", "compile", "compiler", "unknown_engine"]

NATIVE: Final = "native"


Engine = Callable[[Environment], Compiler]


def _native(environment: Environment) -> Compiler:
    return environment


def _cel_python(environment: Environment) -> Compiler:
    try:
        from dra_alloc.cel.cel_python import CelPython  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise EngineUnavailable(
            f"the CEL engine cel-python cannot be loaded: {error}", hint='pip install "dra-alloc[cel-python]"'
        ) from None
    return CelPython(environment)


#: Name -> what makes the engine for an environment. A further engine is one more entry.
ENGINES: Final[Mapping[str, Engine]] = MappingProxyType({NATIVE: _native, "cel-python": _cel_python})


def compiler(engine: str, environment: Environment) -> Compiler:
    """
    The engine of that name in an environment.

    Raises: InputError for an unknown name; EngineUnavailable if its package is not installed.
    """
    chosen = ENGINES.get(engine)
    if chosen is None:
        raise unknown_engine(engine, tuple(ENGINES))
    return chosen(environment)


def unknown_engine(engine: str, known: Sequence[str]) -> InputError:
    """The complaint about a name that is none of those `known`, with the one that may be meant."""
    names = f"{', '.join(known[:-1])} or {known[-1]}"
    hint = f"{did_you_mean(engine, known)} {names}".lstrip()
    return InputError(f"unknown CEL engine {in_brief(engine)!r}", hint=hint)


@overload
def compile(
    expression: str, release: str | Release = ..., mode: str = ..., *, engine: Literal["native"] = ...
) -> Program: ...
@overload
def compile(expression: str, release: str | Release = ..., mode: str = ..., *, engine: str) -> Selector: ...
def compile(
    expression: str, release: str | Release = "1.36", mode: str = "stored", *, engine: str = NATIVE
) -> Selector:
    """
    The program of `expression` in the environment of a release, gates off.

    Raises: CompileError; InputError for an unknown release, mode or engine;
    EngineUnavailable if the package of the engine is not installed.
    """
    return compiler(engine, environment(release, mode)).compile(expression)
