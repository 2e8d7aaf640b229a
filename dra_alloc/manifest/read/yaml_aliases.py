"""
YAML anchors and aliases, with a budget on what the aliases stand for.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.errors import in_brief


class AliasError(ValueError):
    """An alias to nothing, to itself, or one too many."""


class Anchors:
    """
    The named values of one document.

    Aliases share the value they name, so a bomb of aliases costs nothing here;
    it would cost whoever walks the result. The budget counts the nodes that
    the aliases would take if they were written out.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._spent = 0
        self._values: dict[str, Any] = {}
        self._open: set[str] = set()
        self._sizes: dict[int, int] = {}

    def begin(self, name: str) -> None:
        """Note that the container with this anchor is still being filled."""
        self._open.add(name)

    def define(self, name: str, value: Any) -> None:
        """Give a complete value its name; a later value may take the name over."""
        self._open.discard(name)
        self._values[name] = value

    def use(self, name: str) -> Any:
        """
        Return the value an alias stands for.

        Spec: YAML-20 to YAML-22. Raises: AliasError.
        """
        if name in self._open:
            raise AliasError(f"anchor '{in_brief(name)}' value contains itself")
        if name not in self._values:
            raise AliasError(f"unknown anchor '{in_brief(name)}' referenced")
        value = self._values[name]
        self._spent += self._size(value)
        if self._spent > self._budget:
            raise AliasError(
                f"document contains excessive aliasing: the aliases stand for more than {self._budget} values"
            )
        return value

    def _size(self, value: Any) -> int:
        """Return the number of nodes below and with a value, shared ones counted each time they appear."""
        if value.__class__ not in (dict, list):
            return 1
        known = self._sizes
        waiting = [value]
        while waiting:
            node = waiting[-1]
            members = [member for member in _members(node) if member.__class__ in (dict, list)]
            missing = [member for member in members if id(member) not in known]
            if missing:
                waiting.extend(missing)
                continue
            known[id(node)] = 1 + len(node) - len(members) + sum(known[id(member)] for member in members)
            waiting.pop()
        return known[id(value)]


def _members(node: Any) -> Any:
    return node.values() if node.__class__ is dict else node
