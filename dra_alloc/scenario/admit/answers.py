"""
What becomes of workloads, layer by layer, whichever system admits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Where
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.queues.standing import QueueAdmission, Standing
from dra_alloc.queues.systems import QueueSystem
from dra_alloc.scenario.answers import SubjectAnswer


@dataclass(frozen=True, slots=True)
class AdmitOptions:
    """Which kube-scheduler places what is admitted, where manifests go, and the queue system, if not by the objects."""

    settings: Settings = DEFAULT_SETTINGS
    namespace: str = "default"
    taught: tuple[Taught, ...] = ()
    system: str = ""


DEFAULT_ADMIT: Final = AdmitOptions()


class AdmitVerdict(StrEnum):
    """What becomes of a workload; the first that says no decides."""

    PLACED = "placed"
    IN_PART = "placed-in-part"
    NOT_ALLOCATABLE = "admitted-not-allocatable"
    UNDECIDED = "undecided"
    WAITING = "waiting"
    NEVER = "never"
    INADMISSIBLE = "inadmissible"
    NOT_CREATED = "not-created"
    NOT_PLACED = "not-placed"


class Layer(StrEnum):
    """Who may say no to a workload, in the order in which they are asked."""

    READ = "read"
    EXPANDED = "expanded"
    CREATED = "created"
    ADMITTED = "admitted"
    PLACED = "placed"
    JOINTLY = "placedJointly"


class LayerSays(StrEnum):
    """What a layer says of a workload."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"
    NOT_ASKED = "not asked"


_ADMITTED: Final = {Standing.ADMITTED: LayerSays.YES, Standing.UNDECIDED: LayerSays.UNDECIDED}
_PLACED: Final = {
    AdmitVerdict.PLACED: LayerSays.YES,
    AdmitVerdict.UNDECIDED: LayerSays.UNDECIDED,
    AdmitVerdict.IN_PART: LayerSays.NO,
    AdmitVerdict.NOT_ALLOCATABLE: LayerSays.NO,
    AdmitVerdict.NOT_PLACED: LayerSays.NO,
}


_WITH_PLACES: Final = frozenset({AdmitVerdict.PLACED, AdmitVerdict.IN_PART})


@dataclass(frozen=True, slots=True)
class SaidBeside:
    """What becomes of what is in no queue."""

    standing: Standing
    code: str
    reasons: tuple[str, ...]
    queue: str = ""
    order: int = 0


@dataclass(frozen=True, slots=True)
class QueueTold:
    """What a system says of a workload beyond whether it is admitted: lines below the headline, and JSON members."""

    lines: tuple[str, ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkloadAnswer:
    """
    What becomes of pods that are admitted as one, or, without `admission`, that have no queue.

    `placements` are those of its pods that were tried. `enough` says whether its gang, pods of the cluster included,
    has what it needs and one of these pods is of it: then it starts, and is placed in part where others have no place;
    it is None where each pod is for itself. `unmade` says why the
    API server does not make all of it, `jointly` whether a choice for all pods at once would do, and `doubt` why places
    that its pods have here need not be theirs.
    """

    name: str
    kind: str
    count: int
    admission: QueueAdmission | None
    placements: tuple[SubjectAnswer, ...] = ()
    where: Where = field(default_factory=Where)
    told: QueueTold = field(default_factory=QueueTold)
    enough: bool | None = None
    unmade: tuple[str, ...] = ()
    jointly: LayerSays = LayerSays.NOT_ASKED
    doubt: str = ""

    @property
    def refused(self) -> tuple[SubjectAnswer, ...]:
        """The pods that find no place."""
        return tuple(each for each in self.placements if each.verdict == "unsatisfiable")

    @property
    def running(self) -> int:
        """How many of the pods have a place."""
        return sum(each.verdict == "allocated" for each in self.placements)

    @property
    def verdict(self) -> AdmitVerdict:
        """What becomes of it."""
        found = self._as_asked
        return AdmitVerdict.UNDECIDED if self.doubt and found in _WITH_PLACES else found

    @property
    def _as_asked(self) -> AdmitVerdict:
        if self.unmade:
            return AdmitVerdict.NOT_CREATED
        if self.admission is not None and self.admission.standing is not Standing.ADMITTED:
            return AdmitVerdict(self.admission.standing)
        if self.enough and self.running == self.count:
            return AdmitVerdict.PLACED
        if self.enough and (self.refused or (self.admission is not None and self.admission.reasons)):
            return AdmitVerdict.IN_PART
        if self.refused:
            return AdmitVerdict.NOT_PLACED if self.admission is None else AdmitVerdict.NOT_ALLOCATABLE
        if any(each.verdict == "undecided" for each in self.placements):
            return AdmitVerdict.UNDECIDED
        if self.enough is None:
            return AdmitVerdict.PLACED
        return AdmitVerdict.IN_PART if self.enough else AdmitVerdict.NOT_ALLOCATABLE

    @property
    def layers(self) -> Mapping[Layer, LayerSays]:
        """What each layer says; those below the first no were not asked."""
        found = dict.fromkeys(Layer, LayerSays.NOT_ASKED)
        found[Layer.READ] = found[Layer.EXPANDED] = LayerSays.YES
        found[Layer.CREATED] = LayerSays.NO if self.unmade else LayerSays.YES
        if self.unmade:
            return found
        if self.admission is not None:
            found[Layer.ADMITTED] = _ADMITTED.get(self.admission.standing, LayerSays.NO)
            if found[Layer.ADMITTED] is not LayerSays.YES:
                return found
        found[Layer.PLACED] = _PLACED.get(self.verdict, LayerSays.NOT_ASKED)
        if self.verdict is not AdmitVerdict.IN_PART:
            found[Layer.JOINTLY] = LayerSays.YES if self.verdict is AdmitVerdict.PLACED else self.jointly
        return found


@dataclass(frozen=True, slots=True)
class Admit:
    """
    All workloads in order, by which system and which kube-scheduler, and what to know.

    `queues` is what the system says of queues, as members of JSON by name.
    """

    workloads: tuple[WorkloadAnswer, ...]
    system: QueueSystem
    settings: Settings
    channel: str
    notes: tuple[str, ...] = ()
    queues: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[AdmitVerdict, int]:
        """How many workloads have which verdict."""
        found = [each.verdict for each in self.workloads]
        return {each: found.count(each) for each in AdmitVerdict if each in found}
