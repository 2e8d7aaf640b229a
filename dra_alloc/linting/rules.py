"""
What a code of lint is, what it finds, and what is told of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from dra_alloc.errors import Problem
from dra_alloc.manifest.read.paths import Path

if TYPE_CHECKING:
    from dra_alloc.linting.looking import Linting
    from dra_alloc.linting.written import WrittenObject
    from dra_alloc.manifest.validate.violations import FieldFault

Severity = Literal["error", "warning", "info"]
#: What a fix may do: keep the meaning, change it, or there is none.
Fixing = Literal["safe", "unsafe", "none"]
#: Returns the plain values of an object without what is wrong at a path, given the hint, or None where it cannot say.
Mend = Callable[[Any, Path, str], Any]


class CodeFamily(NamedTuple):
    """A family of codes: what it is about, the file of its pages, and whether its examples go to a cluster."""

    name: str
    page: str
    needs_cluster: bool = False


#: Families by the letter and hundred of their codes.
FAMILIES: Final = {
    "S1": CodeFamily("shape", "shape"),
    "E2": CodeFamily("selectors", "selectors", needs_cluster=True),
    "C3": CodeFamily("constraints", "constraints", needs_cluster=True),
    "Q4": CodeFamily("capacity and counters", "amounts", needs_cluster=True),
    "P5": CodeFamily("slices and pools", "pools"),
    "T6": CodeFamily("taints", "taints", needs_cluster=True),
    "R7": CodeFamily("releases and gates", "releases"),
    "W8": CodeFamily("pods and workloads", "pods"),
    "K1": CodeFamily("queues", "queues"),
    "L9": CodeFamily("lint itself", "own"),
}


class Hit(NamedTuple):
    """What a code finds at a path of an object as it was written; `severity` is the code's unless it says another."""

    written: WrittenObject
    path: Path
    message: str
    hint: str = ""
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class LintRule:
    """
    One code: how bad it is, why it is in a line, and where it comes from.

    `finds` looks at objects and yields hits; `takes` says which faults of validation it tells, by the fault and the
    value at its path, and `instead` what to do about those of which validation has no hint. `mend` writes it right in
    one or more steps, each of which is an edit of the text, as `fix` says; `by_default` is False for what has to be
    asked for, `looks_back` says that it needs what was there before.
    """

    code: str
    severity: Severity
    reason: str
    finds: Callable[[Linting], Iterable[Hit]] | None = None
    takes: Callable[[FieldFault, Any], bool] | None = None
    instead: str = ""
    fix: Fixing = "none"
    mend: tuple[Mend, ...] = ()
    by_default: bool = True
    looks_back: bool = False

    def fixing(self, value: Any, path: Path, hint: str) -> Fixing:
        """Return how what was found at a path of an object can be mended, if it can be."""
        for each in self.mend:
            value = each(value, path, hint)
            if value is None:
                return "none"
        return self.fix if self.mend else "none"


@dataclass(frozen=True, slots=True)
class LintFinding(Problem):
    """
    What one code says of one place, with what to write instead as its `hint`.

    `fingerprint` is the same wherever the lines of a file have moved to.
    """

    code: str = ""
    severity: Severity = "warning"
    fix: Fixing = "none"
    fingerprint: str = ""
    written: WrittenObject | None = field(default=None, repr=False, compare=False)
    path: Path = field(default=(), repr=False, compare=False)
