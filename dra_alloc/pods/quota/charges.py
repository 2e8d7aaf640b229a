"""
What an object is charged when it is made, and which keys of a quota concern it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Quantity, ScopedResourceSelectorRequirement

#: Amounts by key of a quota.
Amounts = Mapping[str, Quantity]
ONE: Final = Quantity("1")


@dataclass(frozen=True, slots=True)
class Charge:
    """
    What one object uses of quotas; `resource` is what the API calls its kind, such as ``jobs.batch``.

    This is the charge of an object that is only counted; pods and claims have more.
    """

    resource: str
    usage: Amounts

    def concerns(self, key: str) -> bool:
        """Say whether a key alone makes a quota one for objects of this kind."""
        return key in self.usage

    def is_in(self, scope: ScopedResourceSelectorRequirement) -> bool:
        """Say whether the object is in a scope: only pods ever are."""
        return False

    def counted_as(self, key: str) -> str:
        """Return how it comes to what it uses of a key, where the object does not say so much."""
        return ""

    def unspecified(self, keys: Iterable[str]) -> str:
        """Return what the object has to say of these keys and does not, in upstream's words."""
        return ""


def counted(api_version: str, kind: str) -> Charge:
    """
    Return the charge of an object of which quotas know only that it is there.

    Spec: QUOTA-8.
    """
    resource = plural(api_version, kind)
    names = [f"count/{resource}", *([resource] if resource in _ALIASED else [])]
    return Charge(resource, dict.fromkeys(names, ONE))


def plural(api_version: str, kind: str) -> str:
    """Return what the API calls a kind, with its group; for kinds of custom resources it is the usual guess."""
    group, name = api_version.rpartition("/")[0], kind.lower()
    if name.endswith("s"):
        name += "es"
    elif name.endswith("y"):
        name = f"{name[:-1]}ies"
    else:
        name += "s"
    return f"{name}.{group}" if group else name


#: Kinds that are also counted under their bare name.
_ALIASED: Final = frozenset({"replicationcontrollers", "resourcequotas"})
