"""
What is wrong with inputs as a whole: none, or one read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.errors import InputError, Problem
from dra_alloc.manifest.make.hints import PASSED_OVER
from dra_alloc.manifest.read.inputs import STDIN

__all__ = ["check_stdin_once", "nothing_given"]


def check_stdin_once(paths: Sequence[str]) -> None:
    """Raise InputError if standard input is named twice."""
    if paths.count(STDIN) > 1:
        raise InputError("standard input can be read only once", hint="name - in one place")


def nothing_given(warnings: Iterable[Problem] = ()) -> InputError:
    """Return what is said of manifests without any object, or any that was rendered."""
    if any(each.message == PASSED_OVER for each in warnings):
        said = "there is nothing in the manifests but templates that were not rendered"
        return InputError(said, hint='render them first, as with "helm template"')
    return InputError("there is no object in the manifests", hint="what was to write or render them may have failed")
