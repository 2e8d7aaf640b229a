"""
The errors with which a search ends when it comes to a device, found out without a search.
"""

from __future__ import annotations

from typing import NamedTuple

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import About, RuleSet, SearchStopped, panic


def look(ask: Ask, device: DeviceRow, rules: RuleSet) -> bool:
    """
    Return whether no rule passes the device over before the first pick.

    Raises: SearchStopped, NodeSelectorError where looking at it ends the search.
    """
    return not any(rule.rejects(ask, device) for rule in rules.candidate)


def misfit(claim: str, ask: Ask, device: DeviceRow) -> SearchStopped:
    """Return the error of a device that All has to take although a constraint refuses it."""
    return SearchStopped(
        f"claim {claim}, request {ask.own_name}: cannot add device {device.key} because a claim constraint "
        "would not be satisfied",
        code="all-misfit",
    )


class Stop(NamedTuple):
    """
    Coming to the device for the request ends the search.

    It does so after all rules have allowed the pick if `panics` is set.
    """

    ask: Ask
    device: DeviceRow
    panics: bool


def raise_stop(claim: str, stop: Stop, rules: RuleSet) -> None:
    """
    End as the search does for the named claim; `rules` must be fresh.

    Raises: SearchStopped, NodeSelectorError.
    """
    if stop.panics:
        raise panic(claim, stop.ask, stop.device)
    if not stop.ask.all_devices:
        look(stop.ask, stop.device, rules)
    for rule in rules.take_for(stop.ask):
        if rule.about is About.CONSTRAINT:
            rule.allows(stop.ask, stop.device)
    if stop.ask.all_devices:
        raise misfit(claim, stop.ask, stop.device)
