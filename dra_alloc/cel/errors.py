"""
What compiling and evaluating a selector can raise.

`text` is upstream's wording to the letter; `hints` is ours and never mixed in.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_alloc.errors import SelectorError


class CelError(Exception):
    """
    A CEL error value on its way up: absorbed by ``&&``, ``||``, ``all`` and ``exists``.

    It never leaves the package; :meth:`Program.matches` turns what is left
    over into :class:`EvaluationError`.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def not_converted(source: str, target: str) -> CelError:
    """The error of a value of one type that is none of another."""
    return CelError(f"type conversion error from '{source}' to '{target}'")


class CelAbort(Exception):
    """The end of an evaluation that nothing absorbs: a cost limit, or a crash of upstream's."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Issue:
    """One complaint of the parser or checker; `line` counts from 1, `column` from 0, -1 is nowhere."""

    line: int
    column: int
    message: str


class CompileError(SelectorError):
    """
    A selector that upstream refuses to compile.

    `text` is the whole error as kube-scheduler prints it, `issues` its parts,
    `hints` what we would advise.
    """

    def __init__(self, text: str, issues: tuple[Issue, ...] = (), hints: tuple[str, ...] = ()) -> None:
        super().__init__(text, hint="; ".join(hints))
        self.text = text
        self.issues = issues
        self.hints = hints


class EvaluationError(SelectorError):
    """A selector that fails on a device; this aborts the allocation upstream."""

    def __init__(self, text: str, hints: tuple[str, ...] = ()) -> None:
        super().__init__(text, hint="; ".join(hints))
        self.text = text
        self.hints = hints
