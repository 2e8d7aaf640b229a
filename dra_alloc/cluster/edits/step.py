"""
What every kind of step has: what it takes, as a model, and the state after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from dra_alloc.api import Node, Pod, ResourceSlice
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.errors import Problem, did_you_mean
from dra_alloc.manifest import Documents


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node with the slices of its own, as new ones will be; `name` is what they are called after."""

    node: Node
    slices: tuple[ResourceSlice, ...]

    @property
    def name(self) -> str:
        """The name of the node that new ones are like."""
        return self.node.metadata.name or ""


#: Shapes of nodes by name; what makes a pattern of one raises ManifestError for what no API server would take.
Shapes = Mapping[str, Callable[[], NodePattern]]


#: The state after pods were evicted, as far as they can be.
Drain = Callable[[ClusterState, Sequence[Pod]], ClusterState]


def drained(node: str | None) -> str:
    """Return why a pod was evicted that a drain took from its node."""
    return f"node {node} is drained"


def evicted_at_once(state: ClusterState, pods: Sequence[Pod]) -> ClusterState:
    """Return the state after all pods were evicted, whatever budgets say."""
    return state.evicting((each, drained(each.spec.node_name)) for each in pods)


@dataclass(slots=True)
class Stepping:
    """
    Steps under way: how files are read, which shapes there are, what is wrong so far, with the path in the step.

    `drain` says what becomes of pods that a drain is to evict.
    """

    load: Callable[[str], Documents]
    shapes: Callable[[], Shapes] = dict
    drain: Drain = evicted_at_once
    wrong: list[tuple[str, Problem]] = field(default_factory=list)

    def complain(self, path: str, message: str, hint: str = "") -> None:
        """Note what is wrong with the step."""
        self.wrong.append((path, Problem(message, hint=hint)))

    def knows(self, path: str, said: str, name: str, known: Collection[str], none: str = "") -> bool:
        """Return whether a name is known; else it is a problem, which `said` begins. `none` hints where none is."""
        if name in known:
            return True
        self.complain(path, f"{said} {name}", did_you_mean(name, known) if known else none)
        return False


class StepKind(BaseModel):
    """What a step of one kind takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state after the step; what is wrong with it goes to `stepping`."""
        raise NotImplementedError
