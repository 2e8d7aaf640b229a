"""
How to check, and what becomes of each subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Where
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.scenario.refused.explaining import NotTaken
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """
    How to check: on all nodes or one, and with how much work per question.

    `choices` asks why an allocation is the one it is, too. With `objectives`
    each subject gets the best answer instead of the first, with intended
    semantics whatever the settings say. `node_choice` is "score", the node
    that kube-scheduler scores highest, or "first", the first that fits. Without
    `reasons` it is only found out who is allocated. `turns` are names of subjects
    that are asked one set after the other, instead of all as they come in the queue.
    """

    settings: Settings = DEFAULT_SETTINGS
    node: str | None = None
    namespace: str = "default"
    budget: Budget = DEFAULT_BUDGET
    choices: bool = False
    objectives: tuple[Objective, ...] = ()
    taught: tuple[Taught, ...] = ()
    node_choice: str = "score"
    reasons: bool = True
    turns: tuple[frozenset[str], ...] = ()


DEFAULT_OPTIONS: Final = CheckOptions()


@dataclass(frozen=True, slots=True)
class BrokenClaim:
    """
    A claim whose allocation breaks what it asks for: `against` says what, `defect` why.

    `kept_to` is what a scheduler would do that keeps to it, `enough` what would have devices for it then.
    """

    against: str
    defect: str
    kept_to: str
    enough: str = ""

    def __str__(self) -> str:
        enough = f" (enough would be {self.enough})" if self.enough else ""
        return f"{self.against}; {self.defect}; a scheduler without it {self.kept_to}{enough}"


@dataclass(frozen=True, slots=True)
class SubjectAnswer:
    """
    What became of one subject.

    `nodes` fit, in cluster order; `allocated` is the answer on one of them, and
    `equal` are those that kube-scheduler scores as high. Without one `refusals`
    say why not, node by node, as far as nodes were looked into (`nodes_asked`
    counts them all); `undecided` nodes ran out of budget. With `aborts`
    kube-scheduler gives the pod up with an error. `same_as` names an earlier
    copy of the same workload that was refused on the same cluster, and so for
    the same reasons. `solver_could` says that CP-SAT could decide an undecided
    node; `cause` what stands in the way on all nodes alike, `fix` what helps, `where` where the object was read.
    `broken` says what an allocation breaks that its claims ask for, by a defect of kube-scheduler; `before` that
    it is of a claim alone, and was there before.
    """

    kind: str
    name: str
    nodes: Sequence[str] = ()
    allocated: Allocated | None = None
    refusals: tuple[NodeRefusal, ...] = ()
    undecided: tuple[str, ...] = ()
    nodes_asked: int = 0
    aborts: bool = False
    choice: NotTaken | None = None
    same_as: str | None = None
    solver_could: bool = False
    equal: Sequence[str] = ()
    needs_devices: bool = True
    cause: str = ""
    fix: str = ""
    broken: tuple[BrokenClaim, ...] = ()
    before: bool = False
    where: Where = field(default_factory=Where)

    @property
    def verdict(self) -> str:
        """Return allocated, undecided or unsatisfiable."""
        if self.allocated is not None:
            return "allocated"
        return "undecided" if self.undecided and not self.aborts else "unsatisfiable"

    @property
    def is_idle(self) -> bool:
        """Return whether it is a pod that runs and needs no devices."""
        return self.allocated is not None and not self.needs_devices

    @property
    def unexplained(self) -> int:
        """Return how many nodes refused without having been looked into; an error that ends it all speaks for all."""
        if self.allocated is not None or self.aborts:
            return 0
        return self.nodes_asked - len(self.refusals) - len(self.undecided)
