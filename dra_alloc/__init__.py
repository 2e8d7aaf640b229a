"""
What Kubernetes Dynamic Resource Allocation will do with your device claims.

Load a cluster once, ask it as often as you like::

    import dra_alloc

    cluster = dra_alloc.load(["cluster.json"], release="1.36")
    outcome = cluster.allocate([claim], node="node-a")
    if outcome:
        cluster = cluster.after(outcome)

An outcome is `Allocated`, `Unsatisfiable` or `Undecided`. Exceptions mean bad
input (:class:`InputError`) or a bug of ours. The wire models are in
:mod:`dra_alloc.api`, the selectors in :mod:`dra_alloc.cel`.

Names are loaded when they are first used, so that a program that only may
need this package starts fast.
"""

from importlib import import_module

from dra_alloc._version import __version__

#: Type checkers know it by its name; to load typing for it takes most of the time in which a command is deaf to Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dra_alloc.cluster.attempts.schedule import Schedule
    from dra_alloc.cluster.attempts.scheduled import NotAsked, PodOutcome, Scheduled, Unschedulable, Unsettled, Waiting
    from dra_alloc.cluster.cluster import Cluster
    from dra_alloc.cluster.edits.editing import Edited, Edits
    from dra_alloc.cluster.edits.events import Event
    from dra_alloc.cluster.fits import Fits
    from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable
    from dra_alloc.cluster.placing import Placements
    from dra_alloc.cluster.settings import Settings
    from dra_alloc.errors import (
        DraAllocError,
        EngineUnavailable,
        InputError,
        InternalError,
        ManifestError,
        SelectorError,
        UnknownReference,
    )
    from dra_alloc.linting.running import lint
    from dra_alloc.manifest import Documents
    from dra_alloc.manifest.convert.objects import convert
    from dra_alloc.pods.expanding import ExpandedPod
    from dra_alloc.pods.workloads.states import PodState
    from dra_alloc.scenario.expand import Expansion, expand
    from dra_alloc.scenario.fleet.fleet import fleet
    from dra_alloc.scenario.gang.gang import GangAnswers, place_gang, place_most, replicas
    from dra_alloc.scenario.gang.types import Gang, Member, Placement, Topology
    from dra_alloc.scenario.snapshot import load
    from dra_alloc.scenario.sweep.questions import SweepQuestion, SweepRow
    from dra_alloc.scenario.sweep.sweeping import sweep
    from dra_alloc.scenario.validating import validate
    from dra_alloc.solve.best.objectives import Cheapest, FewestNodes, HighestRanked, LeastFragmented, Objective, Stable
    from dra_alloc.solve.best.optimise import Score
    from dra_alloc.solve.ladder import Budget

__all__ = [
    "Allocated",
    "Budget",
    "Cheapest",
    "Cluster",
    "Documents",
    "DraAllocError",
    "Edited",
    "Edits",
    "EngineUnavailable",
    "Event",
    "ExpandedPod",
    "Expansion",
    "FewestNodes",
    "Fits",
    "Gang",
    "GangAnswers",
    "HighestRanked",
    "InputError",
    "InternalError",
    "LeastFragmented",
    "ManifestError",
    "Member",
    "NodeRefusal",
    "NotAsked",
    "Objective",
    "Outcome",
    "Placement",
    "Placements",
    "PodOutcome",
    "PodState",
    "Schedule",
    "Scheduled",
    "Score",
    "SelectorError",
    "Settings",
    "Stable",
    "SweepQuestion",
    "SweepRow",
    "Topology",
    "Undecided",
    "UnknownReference",
    "Unsatisfiable",
    "Unschedulable",
    "Unsettled",
    "Waiting",
    "__version__",
    "convert",
    "expand",
    "fleet",
    "lint",
    "load",
    "place_gang",
    "place_most",
    "replicas",
    "sweep",
    "validate",
]

_HOMES = {
    "Allocated": "dra_alloc.cluster.outcomes",
    "Budget": "dra_alloc.solve.ladder",
    "Cheapest": "dra_alloc.solve.best.objectives",
    "Cluster": "dra_alloc.cluster.cluster",
    "Documents": "dra_alloc.manifest",
    "DraAllocError": "dra_alloc.errors",
    "Edited": "dra_alloc.cluster.edits.editing",
    "Edits": "dra_alloc.cluster.edits.editing",
    "EngineUnavailable": "dra_alloc.errors",
    "Event": "dra_alloc.cluster.edits.events",
    "ExpandedPod": "dra_alloc.pods.expanding",
    "Expansion": "dra_alloc.scenario.expand",
    "FewestNodes": "dra_alloc.solve.best.objectives",
    "Fits": "dra_alloc.cluster.fits",
    "Gang": "dra_alloc.scenario.gang.types",
    "GangAnswers": "dra_alloc.scenario.gang.gang",
    "HighestRanked": "dra_alloc.solve.best.objectives",
    "InputError": "dra_alloc.errors",
    "InternalError": "dra_alloc.errors",
    "LeastFragmented": "dra_alloc.solve.best.objectives",
    "ManifestError": "dra_alloc.errors",
    "Member": "dra_alloc.scenario.gang.types",
    "NodeRefusal": "dra_alloc.cluster.outcomes",
    "NotAsked": "dra_alloc.cluster.attempts.scheduled",
    "Objective": "dra_alloc.solve.best.objectives",
    "Outcome": "dra_alloc.cluster.outcomes",
    "Placement": "dra_alloc.scenario.gang.types",
    "Placements": "dra_alloc.cluster.placing",
    "PodOutcome": "dra_alloc.cluster.attempts.scheduled",
    "PodState": "dra_alloc.pods.workloads.states",
    "Schedule": "dra_alloc.cluster.attempts.schedule",
    "Scheduled": "dra_alloc.cluster.attempts.scheduled",
    "Score": "dra_alloc.solve.best.optimise",
    "SelectorError": "dra_alloc.errors",
    "Settings": "dra_alloc.cluster.settings",
    "Stable": "dra_alloc.solve.best.objectives",
    "SweepQuestion": "dra_alloc.scenario.sweep.questions",
    "SweepRow": "dra_alloc.scenario.sweep.questions",
    "Topology": "dra_alloc.scenario.gang.types",
    "Undecided": "dra_alloc.cluster.outcomes",
    "UnknownReference": "dra_alloc.errors",
    "Unsatisfiable": "dra_alloc.cluster.outcomes",
    "Unschedulable": "dra_alloc.cluster.attempts.scheduled",
    "Unsettled": "dra_alloc.cluster.attempts.scheduled",
    "Waiting": "dra_alloc.cluster.attempts.scheduled",
    "convert": "dra_alloc.manifest.convert.objects",
    "expand": "dra_alloc.scenario.expand",
    "fleet": "dra_alloc.scenario.fleet.fleet",
    "lint": "dra_alloc.linting.running",
    "load": "dra_alloc.scenario.snapshot",
    "place_gang": "dra_alloc.scenario.gang.gang",
    "place_most": "dra_alloc.scenario.gang.gang",
    "replicas": "dra_alloc.scenario.gang.gang",
    "sweep": "dra_alloc.scenario.sweep.sweeping",
    "validate": "dra_alloc.scenario.validating",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
