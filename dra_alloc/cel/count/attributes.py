"""
What looking into values costs: 1 for the variable and 1 for every step taken.

Presence tests are free beyond their operand, and so is the variable of an
attribute that is the branch of a ternary or a computed index.

Spec: CEL-32
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.cel.check.checking import Checked
from dra_alloc.cel.environments import Declarations
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.library.budget import LIMIT_EXCEEDED
from dra_alloc.cel.plan.build import Planned
from dra_alloc.cel.plan.frame import UNSET, Failed
from dra_alloc.cel.plan.qualifiers import MISSING, bad_qualifier, lookup, lookup_if_present
from dra_alloc.cel.plan.rereading import reread
from dra_alloc.cel.syntax.ast import Ident, Literal, Node, Select
from dra_alloc.cel.trampoline import Steps
from dra_alloc.cel.values.runtime import NONE, Optional, started

INDEXING: Final = frozenset(("_[_]", "_[?_]", "_?._"))
#: Stands for a value that takes more than a look.
PENDING: Final = object()


class Binding:
    """A macro variable; `init` is evaluated in the scope around it when it is first read."""

    __slots__ = ("init", "name", "outer", "value")

    def __init__(self, name: str, value: Any, outer: Binding | None, init: Node | None = None) -> None:
        self.name = name
        self.value = value
        self.outer = outer
        self.init = init


class _Step(NamedTuple):
    """One step of an attribute; `key` is a name, or the node of an index."""

    key: str | Node
    optional: bool = False
    test: bool = False


class _Chain(NamedTuple):
    """An attribute taken apart: its variable or the node it starts from, and the steps."""

    variable: str | None
    root: Node
    steps: tuple[_Step, ...]
    #: Whether the attribute as such costs 1 when observed.
    charged: bool


class AttributeCounter:
    """The meter, the variables, and attributes; what else there is to evaluate is added by subclasses."""

    def __init__(self, checked: Checked, plan: Planned, declared: Declarations, device: Any, limit: int) -> None:
        self.total = 0
        self.checked = checked
        self.plan = plan
        self.functions = declared.functions
        self.settings = declared.settings
        self.rereads = declared.settings.rereads_optionals
        self.scope: Binding | None = None
        self._device = device
        self._limit = limit
        self._chains: dict[int, _Chain] = {}

    def charge(self, amount: int) -> None:
        """Add to the cost; raises CelAbort beyond the limit."""
        self.total += amount
        if self.total > self._limit:
            raise CelAbort(LIMIT_EXCEEDED)

    def charge_steps(self, count: int) -> None:
        """Charge `count` hidden steps of 1 each; upstream would stop at the first beyond the limit."""
        self.total += count
        if self.total > self._limit:
            self.total = self._limit + 1
            raise CelAbort(LIMIT_EXCEEDED)

    def value(self, node: Node, *, observed: bool = True) -> Steps[Any]:
        """The value of `node`, or a Failed."""
        raise NotImplementedError

    def quick(self, node: Node, *, observed: bool = True) -> Any:
        """The value of a constant, or of a variable and constant steps; `PENDING` for what needs more."""
        constants = self.plan.constants
        if node.id in constants:
            return constants[node.id]
        if type(node) is Literal:
            return node.value
        if type(node) is Ident:
            value = self._bound(self.checked.names[node.id])
            if value is not PENDING and observed:
                self.charge(1)
            return reread(value) if type(value) is Optional and self.rereads else value
        return PENDING

    def is_index(self, node: Node) -> bool:
        """Whether `node` is an index or optional selection."""
        resolved = self.checked.calls.get(node.id)
        return resolved is not None and resolved.function in INDEXING

    def attribute(self, node: Node, *, observed: bool) -> Steps[Any]:
        """The value of an attribute; not `observed` are branches of ternaries and computed indices."""
        chain = self._chains.get(node.id)
        if chain is None:
            chain = self._chains[node.id] = self._taken_apart(node)
        if chain.variable is None:
            root = yield self.value(chain.root)
        else:
            root = self._bound(chain.variable)
            if root is PENDING:
                root = yield from self.variable(chain.variable)
        value = root
        if chain.steps and type(root) is not Failed:
            value = yield from self._stepped(root, chain.steps)
        elif chain.variable is not None and self.rereads:
            value = reread(root)
        if observed and chain.charged:
            self.charge(1)
        return value

    def _taken_apart(self, node: Node) -> _Chain:
        steps: list[_Step] = []
        names = self.checked.names
        while node.id not in names:
            if isinstance(node, Select):
                steps.append(_Step(node.field, test=node.test))
                node = node.operand
            elif self.is_index(node):
                resolved = self.checked.calls[node.id]
                steps.append(_Step(resolved.args[1], optional=resolved.function != "_[_]"))
                node = resolved.args[0]
            else:
                break
        resolved_root = self.checked.calls.get(node.id)
        ternary = resolved_root is not None and resolved_root.function == "_?_:_"
        charged = not ternary and not (steps and steps[0].test)
        return _Chain(names.get(node.id), node, tuple(reversed(steps)), charged)

    def _binding(self, name: str) -> Binding | None:
        binding = self.scope
        while binding is not None and binding.name != name:
            binding = binding.outer
        return binding

    def _bound(self, name: str) -> Any:
        """The value of a variable, `PENDING` if it has to be evaluated first."""
        binding = self._binding(name)
        if binding is None:
            return self._device
        return PENDING if binding.value is UNSET else binding.value

    def variable(self, name: str) -> Steps[Any]:
        """The value of a variable, evaluated now if nobody has read it yet."""
        binding = self._binding(name)
        assert binding is not None
        if binding.value is UNSET:
            assert binding.init is not None
            here, self.scope = self.scope, binding.outer
            value = yield self.value(binding.init)
            self.scope = here
            binding.value = value if type(value) is Failed else started(value)
        return binding.value

    def _stepped(self, value: Any, steps: Sequence[_Step]) -> Steps[Any]:
        testing = steps[-1].test
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return False if testing else value
            value = value.value
        for step in steps:
            optional = optional or step.optional
            key = step.key if isinstance(step.key, str) else (yield from self._key(step.key))
            found = _looked_up(value, key, if_present=optional or step.test)
            if type(found) is Failed:
                if not optional or self.settings.stops_at_failure:
                    self.charge(1)
                return found
            if found is MISSING:
                if step.test and not optional:
                    self.charge(1)
                return False if testing else NONE
            self.charge(1)
            value = found
        if testing:
            return True
        return Optional(value) if optional else value

    def _key(self, node: Node) -> Steps[Any]:
        """The value of an index, a Failed if it cannot index anything."""
        key = self.quick(node, observed=False)
        if key is PENDING:
            key = yield self.value(node, observed=False)
        if type(key) is Failed:
            return key
        bad = bad_qualifier(key)
        return key if bad is None else Failed(CelError(bad))


def _looked_up(value: Any, key: Any, *, if_present: bool) -> Any:
    if type(key) is Failed:
        return key
    try:
        return lookup_if_present(value, key) if if_present else lookup(value, key)
    except CelError as error:
        return Failed(error)
