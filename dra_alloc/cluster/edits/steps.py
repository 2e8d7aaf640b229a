"""
All kinds of steps, and states after some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.devices import TaintDevices
from dra_alloc.cluster.edits.node_taints import TaintNodes
from dra_alloc.cluster.edits.nodes import AddNodes, CordonNodes, DrainNodes, RemoveNodes, UncordonNodes
from dra_alloc.cluster.edits.objects import Apply, Delete
from dra_alloc.cluster.edits.releases import ReleaseStep
from dra_alloc.cluster.edits.step import StepKind, Stepping
from dra_alloc.cluster.edits.waiting import Wait
from dra_alloc.errors import Problem, Where, did_you_mean
from dra_alloc.manifest.plain_models import faults_of

#: Kinds of steps by their names in a scenario.
STEPS: Final[Mapping[str, type[StepKind]]] = {
    "addNodes": AddNodes,
    "apply": Apply,
    "cordonNodes": CordonNodes,
    "delete": Delete,
    "drainNodes": DrainNodes,
    "release": ReleaseStep,
    "removeNodes": RemoveNodes,
    "taintDevices": TaintDevices,
    "taintNodes": TaintNodes,
    "uncordonNodes": UncordonNodes,
    "wait": Wait,
}

_KINDS: Final = f"kinds: {', '.join(STEPS)}"


def read_step(step: Any, path: str) -> Iterator[tuple[str, StepKind | Problem]]:
    """Yield the step that a mapping of one key says, with its path, or all that is wrong with it."""
    if not isinstance(step, dict) or len(step) != 1:
        yield "", Problem("a step is a mapping with one key, the kind of step", Where(path=path), _KINDS)
        return
    ((name, taken),) = step.items()
    kind = STEPS.get(name)
    if kind is None:
        hint = did_you_mean(str(name), STEPS) or _KINDS
        yield "", Problem(f"unknown kind of step {name!r}", Where(path=path), hint)
        return
    path = f"{path}.{name}"
    try:
        yield path, kind.model_validate({} if taken is None else taken)
    except ValidationError as error:
        yield from (("", each) for each in faults_of(kind, error, path))


def after_each(
    state: ClusterState, steps: Iterable[tuple[str, StepKind]], stepping: Callable[[], Stepping], file: str = ""
) -> tuple[ClusterState, tuple[Problem, ...]]:
    """
    Return the state after steps, in order, and everything that they name and that is not there.

    Spec: EDIT-1.
    """
    problems: list[Problem] = []
    for path, step in steps:
        under_way = stepping()
        state = step.on(state, under_way)
        for below, problem in under_way.wrong:
            place = f"{path}.{below}" if below else path
            problems.append(replace(problem, where=Where(path=place, file=file)))
    return state, tuple(problems)
