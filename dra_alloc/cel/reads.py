"""
What a selector looks at.

If every use of the device is a lookup by constant names, the answer is a
function of those few values, and devices that agree on them need one
evaluation. Anything else reads the whole device.

Spec: CEL-70
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.syntax.ast import Comprehension, Node, Select, children
from dra_alloc.cel.syntax.ast import Literal as LiteralNode
from dra_alloc.cel.trampoline import STRIDE, Steps, run

ReadKind = Literal["driver", "multi", "attribute", "capacity", "attribute domain", "capacity domain", "device"]


class Read(NamedTuple):
    """
    One thing read: `attribute` and `capacity` by domain and name, a domain's presence by domain.

    `device` is everything.
    """

    kind: ReadKind
    domain: str = ""
    name: str = ""

    @classmethod
    def of_attribute(cls, full_name: str) -> Read:
        """
        Return the read of one attribute by its full name.

        Raises: ValueError for a name without a domain.
        """
        domain, slash, name = full_name.partition("/")
        if not slash:
            raise ValueError("an attribute without a domain")
        return cls("attribute", domain, name)


WHOLE: Final = (Read("device"),)

_FIELDS: Final[dict[str, Read]] = {"driver": Read("driver"), "allowMultipleAllocations": Read("multi")}
_KINDS: Final[dict[str, tuple[ReadKind, ReadKind]]] = {
    "attributes": ("attribute", "attribute domain"),
    "capacity": ("capacity", "capacity domain"),
}


class _Place(NamedTuple):
    """A part of the device an expression stands for: itself, a map of domains, or one domain."""

    field: str = ""
    domain: str | None = None


def reads_of(checked: Checked, constants: Mapping[int, Any]) -> tuple[Read, ...]:
    """Everything `checked` can read, sorted; `WHOLE` if that cannot be told."""
    finder = _Finder(checked, constants)
    try:
        place = run(finder.place(checked.root))
    except _Everything:
        return WHOLE
    return WHOLE if place is not None else tuple(sorted(finder.found))


class _Everything(Exception):
    """A part of the device escapes."""


class _Finder:
    def __init__(self, checked: Checked, constants: Mapping[int, Any]) -> None:
        self.found: set[Read] = set()
        self._checked = checked
        self._constants = constants
        self._bound: dict[str, list[_Place | None]] = {}
        self._seen: dict[int, _Place | None] = {}
        self._depth = 0

    def place(self, node: Node) -> Steps[_Place | None]:
        """The part of the device `node` stands for, None for a plain value; notes what is read on the way."""
        if node.id in self._seen:
            return self._seen[node.id]
        name = self._checked.names.get(node.id)
        if name is not None:
            found = self._name(name)
        else:
            self._depth += 1
            steps = self._follow(node)
            found = (yield from steps) if self._depth % STRIDE else (yield steps)
            self._depth -= 1
        self._seen[node.id] = found
        return found

    def _follow(self, node: Node) -> Steps[_Place | None]:
        resolved = self._checked.calls.get(node.id)
        found: _Place | None = None
        if isinstance(node, Select):
            found = yield from self._step(node.operand, node.field, node.test)
        elif isinstance(node, Comprehension):
            found = yield from self._fold(node)
        elif resolved is not None and resolved.function in ("_[_]", "_[?_]", "_?._"):
            found = yield from self._step(resolved.args[0], resolved.args[1], False)
        elif resolved is not None and resolved.function == "@in":
            yield from self._membership(resolved)
        else:
            yield from self._values(node if resolved is None else resolved)
        return found

    def _name(self, name: str) -> _Place | None:
        stack = self._bound.get(name)
        if stack:
            return stack[-1]
        return _Place() if name in ("device", ".device") else None

    def _key(self, key: Node | str) -> str | None:
        if isinstance(key, str):
            return key
        value = key.value if isinstance(key, LiteralNode) else self._constants.get(key.id)
        return value if isinstance(value, str) else None

    def _step(self, operand: Node, key: Node | str, test: bool) -> Steps[_Place | None]:
        over = yield from self.place(operand)
        name = self._key(key)
        if name is None and not isinstance(key, str):
            yield from self._value(key)
        if over is None:
            return None
        if name is None:
            raise _Everything
        return self._within(over, name, test)

    def _within(self, over: _Place, name: str, test: bool) -> _Place | None:
        if not over.field:
            if name in _FIELDS:
                self.found.add(_FIELDS[name])
                return None
            if name not in _KINDS:
                raise _Everything
            return None if test else _Place(name)
        if over.domain is None:
            # Every domain can be looked up, so testing for one reads nothing.
            return None if test else _Place(over.field, name)
        self.found.add(Read(_KINDS[over.field][0], over.domain, name))
        return None

    def _membership(self, resolved: Resolved) -> Steps[None]:
        element, container = resolved.args
        over = yield from self.place(container)
        if over is None:
            yield from self._value(element)
            return
        name = self._key(element)
        if name is None or not over.field:
            raise _Everything
        value, domain = _KINDS[over.field]
        self.found.add(Read(domain, name) if over.domain is None else Read(value, over.domain, name))

    def _value(self, node: Node) -> Steps[None]:
        """Walk `node`, whose value is used in a way that would show every part of the device in it."""
        place = yield from self.place(node)
        if place is not None:
            raise _Everything

    def _values(self, node: Node | Resolved) -> Steps[None]:
        for each in node.operands if isinstance(node, Resolved) else children(node):
            if not isinstance(each, LiteralNode):
                yield from self._value(each)

    def _fold(self, node: Comprehension) -> Steps[_Place | None]:
        if node.macro == "bind":
            place: _Place | None = yield from self.place(node.init)
            bound: _Place | None = yield from self._scoped({node.accumulator: place}, (), node.result)
            return bound
        yield from self._value(node.range)
        yield from self._value(node.init)
        names: dict[str, _Place | None] = {node.accumulator: None, node.var: None}
        if node.var2:
            names[node.var2] = None
        found: _Place | None = yield from self._scoped(names, (node.condition, node.step), node.result)
        return found

    def _scoped(
        self, names: Mapping[str, _Place | None], parts: tuple[Node, ...], result: Node
    ) -> Steps[_Place | None]:
        for name, place in names.items():
            self._bound.setdefault(name, []).append(place)
        for part in parts:
            yield from self._value(part)
        found: _Place | None = yield from self.place(result)
        for name in names:
            self._bound[name].pop()
        return found
