"""
Arguments of questions, held against what they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from dra_alloc.api import KubeModel, Node
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.solve.ladder import Budget

T = TypeVar("T")


def objects_in(given: Iterable[T], argument: str, kinds: type | tuple[type, ...], wanted: str) -> list[T]:
    """Return the objects. Raises: InputError for what is no sequence of such objects; it names the argument."""
    return _checked(given, argument, f"{wanted} objects", lambda each: isinstance(each, kinds))


def names_in(given: Iterable[str]) -> list[str]:
    """Return the names. Raises: InputError for what is no sequence of strings, such as one name."""
    return _checked(given, "names", "names", lambda each: isinstance(each, str))


def objectives_in(given: Iterable[T], kind: type[Any]) -> list[T]:
    """Return the objectives. Raises: InputError for others, and for a class that was not called."""
    wanted = "objectives such as Cheapest(...) or FewestNodes()"
    return _checked(given, "objectives", wanted, lambda each: isinstance(each, kind) and not isinstance(each, type))


def node_names(nodes: Iterable[str | Node]) -> list[str]:
    """Return the names of nodes. Raises: InputError for other things, and for one name, which is no sequence."""
    found = _checked(nodes, "nodes", "names of nodes or Node objects", lambda each: isinstance(each, str | Node))
    return [node if isinstance(node, str) else node.metadata.name or "" for node in found]


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


def _checked(given: Iterable[T], argument: str, wanted: str, is_right: Callable[[object], bool]) -> list[T]:
    found = listed(given, argument, wanted)
    for number, each in enumerate(found):
        if not is_right(each):
            raise InputError(f"{argument} takes a sequence of {wanted}, {_found(number, each)}")
    return found


def listed(given: Iterable[T], argument: str, wanted: str) -> list[T]:
    """Return what a sequence has. Raises: InputError for what is none, or is one thing of what is wanted."""
    if isinstance(given, list | tuple):
        return list(given)
    # Strings and models can be iterated over, and mean one thing all the same.
    if isinstance(given, str | bytes | KubeModel | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{argument} takes a sequence of {wanted}, not one {type(given).__name__}")
    return list(given)


def _found(number: int, value: object) -> str:
    return (
        f"and [{number}] is {value!r:.60}" if isinstance(value, str) else f"and [{number}] is a {type(value).__name__}"
    )
