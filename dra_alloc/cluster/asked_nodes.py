"""
Nodes, budgets and settings of a question, held against what they have to be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_alloc.api import Node
from dra_alloc.cluster.arguments import listed
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.solve.allocator import Budget

__all__ = ["heed", "node_names", "settings_in"]

_WANTED = "names of nodes or Node objects"


def node_names(nodes: Iterable[str | Node]) -> list[str]:
    """Return the names of nodes. Raises: InputError for other things, and for one name, which is no sequence."""
    given: list[Any] = listed(nodes, "nodes", _WANTED)
    for number, node in enumerate(given):
        if not isinstance(node, str | Node):
            raise InputError(f"nodes takes a sequence of {_WANTED}, and [{number}] is a {type(node).__name__}")
    return [node if isinstance(node, str) else node.metadata.name or "" for node in given]


def heed(budget: object, node: object = None) -> None:
    """Raise InputError for what is no budget, and for what is no node."""
    _required(budget, "budget", Budget, "a Budget")
    _required(node, "node", (str, Node, type(None)), "the name of a node or a Node")


def settings_in(settings: Settings) -> Settings:
    """Return the settings. Raises: InputError for other things."""
    _required(settings, "settings", Settings, "Settings")
    return settings


def _required(value: object, argument: str, kinds: type | tuple[type, ...], wanted: str) -> None:
    if not isinstance(value, kinds):
        raise InputError(f"{argument} takes {wanted}, not a {type(value).__name__}")
