"""
The errors with which a search ends when it comes to a device, found out without a search.
"""

from __future__ import annotations

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import RuleSet, SearchStopped

__all__ = ["look", "misfit", "raise_stop"]


def look(ask: Ask, device: DeviceRow, rules: RuleSet) -> bool:
    """
    Return whether no rule passes the device over before the first pick.

    Raises: SearchStopped, NodeSelectorError where looking at it ends the search.
    """
    return all(rule.allows(ask, device) for rule in rules.candidate)


def misfit(claim: str, ask: Ask, device: DeviceRow) -> SearchStopped:
    """Return the error of a device that All has to take although a constraint refuses it."""
    return SearchStopped(
        f"claim {claim}, request {ask.own_name}: cannot add device {device.key} because a claim constraint "
        "would not be satisfied",
        code="all-misfit",
    )


def raise_stop(claim: str, ask: Ask, device: DeviceRow, rules: RuleSet) -> None:
    """
    End as the search does when it comes to the device for the request; `rules` must be fresh.

    Raises: SearchStopped, NodeSelectorError.
    """
    if ask.all_devices:
        raise misfit(claim, ask, device)
    look(ask, device, rules)
