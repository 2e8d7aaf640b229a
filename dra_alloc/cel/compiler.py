"""
From text to a program: parse, check, validate, build.

Spec: CEL-4, CEL-5
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_alloc.cel.checker import Checked, check
from dra_alloc.cel.environment import Declarations
from dra_alloc.cel.errors import CelAbort, CelError, CompileError, Issue
from dra_alloc.cel.parser import parse
from dra_alloc.cel.plan import Plan, plan
from dra_alloc.cel.source import Source, render
from dra_alloc.cel.types import ANY, BOOL, DYN, TypeTooLarge
from dra_alloc.cel.validators import CompilerCrash, validate

__all__ = ["Compiled", "compile_expression"]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A checked expression and its code."""

    checked: Checked
    plan: Plan


def compile_expression(expression: str, declared: Declarations) -> Compiled:
    """
    The expression ready to run.

    Raises: CompileError with upstream's text.
    """
    source = Source(_well_formed(expression))
    try:
        return _compile(source, declared)
    except CompilerCrash as crash:
        raise CompileError(crash.text, hints=("the compiler of this release crashes on this expression",)) from None
    except TypeTooLarge:
        raise CompileError("compilation failed: a type of the expression is too large") from None
    except RecursionError:
        raise CompileError("compilation failed: the expression is nested too deeply") from None


def _compile(source: Source, declared: Declarations) -> Compiled:
    parsed = parse(source, declared.macros, quoted_names=declared.settings.quoted_names)
    if parsed.root is None:
        raise _failed(parsed.issues, source)
    checked, issues = check(parsed.root, source, declared)
    if not issues:
        issues = validate(checked, source, declared.functions)
    if issues:
        raise _failed(issues, source)
    output = checked.output_type
    dynamic = declared.settings.attribute_type
    accepted = (BOOL, ANY, DYN) if dynamic == DYN else (BOOL, ANY)
    if output not in accepted:
        raise CompileError(f"must evaluate to bool or the unknown type, not {output}")
    try:
        return Compiled(checked, plan(checked, declared))
    except CelAbort as error:
        raise CompilerCrash(error.text.replace("internal error", "panic")) from None
    except CelError as error:
        raise CompileError(f"program instantiation failed: {error.text}") from None


def _failed(issues: list[Issue], source: Source) -> CompileError:
    return CompileError(f"compilation failed: {render(issues, source)}", tuple(issues))


def _well_formed(expression: str) -> str:
    """`expression` without lone surrogates, which no decoder of Go's lets through."""
    try:
        expression.encode()
    except UnicodeEncodeError:
        return expression.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return expression
