"""
The authorizer functions: declared, so that they type-check, but no selector can reach an authorizer.

Through ``dyn`` they end in "no such overload", at their full price.

Spec: CEL-61
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from dra_alloc.cel.check.declarations import Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, CelType, opaque
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import NOMINAL, STRING, Range, fixed, plain_size, share
from dra_alloc.cel.values.runtime import no_such_overload

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_AUTHORIZER: Final = opaque("kubernetes.authorization.Authorizer")
_PATH: Final = opaque("kubernetes.authorization.PathCheck")
_GROUP: Final = opaque("kubernetes.authorization.GroupCheck")
_RESOURCE: Final = opaque("kubernetes.authorization.ResourceCheck")
_DECISION: Final = opaque("kubernetes.authorization.Decision")
#: What asking an authorizer is charged at.
_CHECK: Final = fixed(350_000)
_NEW_LIST, _REQUIREMENT = 10, 50


def _function(name: str, cost: Cost, *overloads: tuple[str, tuple[CelType, ...], CelType]) -> Function:
    def unreachable(*args: Any) -> NoReturn:
        raise no_such_overload(name, *args)

    declared = tuple(
        Overload(identifier, params, result, unreachable, member=True) for identifier, params, result in overloads
    )
    return Function(name, declared, cost=cost)


def _on_resource(name: str) -> Function:
    return _function(name, NOMINAL, (f"resourcecheck_{name}", (_RESOURCE, STRING_TYPE), _RESOURCE))


def _of_decision(name: str, result: CelType) -> Function:
    return _function(name, NOMINAL, (f"decision_{name}", (_DECISION,), result))


def _selector_price(size: int) -> int:
    """Parsing the text into requirements of at least two characters each."""
    return _NEW_LIST + share(size, STRING) + share(size, 0.5) * _REQUIREMENT


def _selector_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    size = estimator.size(args[0])
    each = size.scaled(0.5).times(Range(_REQUIREMENT, _REQUIREMENT))
    return estimator.call(size.scaled(STRING).plus(each).plus(Range(_NEW_LIST, _NEW_LIST)))


_SELECTOR: Final = Cost(lambda args, result: _selector_price(plain_size(args[1])), _selector_estimate)

AUTHZ_LIBRARY: Final = Library(
    "kubernetes.authz",
    functions=(
        _function("path", NOMINAL, ("authorizer_path", (_AUTHORIZER, STRING_TYPE), _PATH)),
        _function(
            "check",
            _CHECK,
            ("pathcheck_check", (_PATH, STRING_TYPE), _DECISION),
            ("resourcecheck_check", (_RESOURCE, STRING_TYPE), _DECISION),
        ),
        _function("group", NOMINAL, ("authorizer_group", (_AUTHORIZER, STRING_TYPE), _GROUP)),
        _function(
            "serviceAccount",
            NOMINAL,
            ("authorizer_serviceaccount", (_AUTHORIZER, STRING_TYPE, STRING_TYPE), _AUTHORIZER),
        ),
        _function("resource", NOMINAL, ("groupcheck_resource", (_GROUP, STRING_TYPE), _RESOURCE)),
        _on_resource("subresource"),
        _on_resource("namespace"),
        _on_resource("name"),
        _of_decision("allowed", BOOL),
        _of_decision("reason", STRING_TYPE),
        _of_decision("errored", BOOL),
        _of_decision("error", STRING_TYPE),
    ),
)

AUTHZ_SELECTORS_LIBRARY: Final = Library(
    "kubernetes.authzSelectors",
    functions=(
        _function("fieldSelector", _SELECTOR, ("authorizer_fieldselector", (_RESOURCE, STRING_TYPE), _RESOURCE)),
        _function("labelSelector", _SELECTOR, ("authorizer_labelselector", (_RESOURCE, STRING_TYPE), _RESOURCE)),
    ),
    window=Window(since=31),
)
