"""
From text to a program: parse, check, validate, build.

Spec: CEL-4, CEL-5
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_alloc.cel.check.checker import check
from dra_alloc.cel.check.checking import Checked
from dra_alloc.cel.check.types import ANY, BOOL, DYN, CelType, TypeTooLarge
from dra_alloc.cel.check.validators import CompilerCrash, validate
from dra_alloc.cel.environments import Declarations, EnvironmentKey
from dra_alloc.cel.errors import CelAbort, CelError, CompileError, Issue
from dra_alloc.cel.plan.build import Planned, plan
from dra_alloc.cel.syntax.parser import parse
from dra_alloc.cel.syntax.source import SourceText, render


@dataclass(frozen=True, slots=True)
class Compiled:
    """A checked expression and its code."""

    checked: Checked
    plan: Planned


#: Says what is wrong with the static type of a result, or nothing.
Refused = Callable[[CelType, EnvironmentKey], str]


def not_bool(output: CelType, settings: EnvironmentKey) -> str:
    """What is wrong with the result of a selector."""
    accepted = (BOOL, ANY, DYN) if settings.attribute_type == DYN else (BOOL, ANY)
    shown = output.plain if settings.wrapped_results else output
    return "" if shown in accepted else f"must evaluate to bool or the unknown type, not {output}"


def compile_expression(expression: str, declared: Declarations, refused: Refused = not_bool) -> Compiled:
    """
    The expression ready to run; `refused` judges the type of its result.

    Raises: CompileError with upstream's text.
    """
    source = SourceText(_well_formed(expression))
    try:
        return _compile(source, declared, refused)
    except CompilerCrash as crash:
        raise CompileError(crash.text, hints=("the compiler of this release crashes on this expression",)) from None
    except TypeTooLarge:
        raise CompileError("compilation failed: a type of the expression is too large") from None
    except RecursionError:
        raise CompileError("compilation failed: the expression is nested too deeply") from None


def _compile(source: SourceText, declared: Declarations, refused: Refused) -> Compiled:
    parsed = parse(source, declared.macros, quoted_names=declared.settings.quoted_names)
    if parsed.root is None:
        raise _failed(parsed.issues, source)
    checked, issues = check(parsed.root, source, declared)
    if not issues:
        issues = validate(checked, source, declared.functions)
    if issues:
        raise _failed(issues, source)
    reason = refused(checked.output_type, declared.settings)
    if reason:
        raise CompileError(reason)
    try:
        return Compiled(checked, plan(checked, declared))
    except CelAbort as error:
        raise CompilerCrash(error.text.replace("internal error", "panic")) from None
    except CelError as error:
        raise CompileError(f"program instantiation failed: {error.text}") from None


def _failed(issues: list[Issue], source: SourceText) -> CompileError:
    return CompileError(f"compilation failed: {render(issues, source)}", tuple(issues))


def _well_formed(expression: str) -> str:
    """`expression` without lone surrogates, which no decoder of Go's lets through."""
    try:
        expression.encode()
    except UnicodeEncodeError:
        return expression.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return expression
