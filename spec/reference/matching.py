"""
Whether a device is what a request asks for, whoever else has it.
"""

from __future__ import annotations

from functools import cache

from dra_alloc import cel
from dra_alloc.api import DeviceSelector, DeviceTaint, DeviceToleration
from spec.reference.amounts import amounts, capacities
from spec.reference.nodes import device_is_for
from spec.reference.pools import Pool
from spec.reference.question import Offer, Question, Wanted


def matches(wanted: Wanted, offer: Offer, question: Question) -> bool:
    """
    Return whether selectors, node and binding conditions allow the device.

    A selector that fails makes it no match here; in a search it ends the question.

    Spec: SEL-1, NODE-1, BIND-1.
    """
    if offer.device.binding_conditions and not question.on("DeviceBindingAndStatus"):
        return False
    device_class = question.classes[wanted.wire.device_class_name]
    selectors = (*device_class.spec.selectors, *wanted.wire.selectors)
    return all(_is_true(each, offer) for each in selectors) and device_is_for(offer.device, offer.slice, question.node)


def _is_true(selector: DeviceSelector, offer: Offer) -> bool:
    assert selector.cel is not None
    device = offer.device
    capacity = {name: each.value for name, each in device.capacity.items()}
    driver, multiple = offer.slice.spec.driver, device.allow_multiple_allocations
    seen = cel.prepare_device(driver, device.attributes, capacity, multiple, cel.Reading(lists=True))
    try:
        return _program(selector.cel.expression).matches(seen)
    except (cel.CompileError, cel.EvaluationError):
        return False


@cache
def _program(expression: str) -> cel.Program:
    return cel.environment("1.37", "stored", list_attributes=True).compile(expression)


def all_devices(wanted: Wanted, pools: list[Pool], question: Question) -> list[Offer]:
    """
    Return the devices that All means: those that match and have the capacity asked for, used or not.

    Spec: ADMIT-5.
    """
    partitionable = question.on("PartitionableDevices")
    offers = [offer for pool in pools for offer in pool.offers(partitionable=partitionable)]
    return [offer for offer in offers if matches(wanted, offer, question) and _is_large_enough(wanted, offer, question)]


def _is_large_enough(wanted: Wanted, offer: Offer, question: Question) -> bool:
    taken = amounts(wanted, offer, question)
    capacity = capacities(offer)
    return taken is not None and all(taken[name] <= capacity[name].value.nano for name in taken)


def tolerated(wanted: Wanted, offer: Offer, question: Question) -> bool:
    """
    Return whether every taint that keeps others off is tolerated.

    Spec: TAINT-1, TAINT-2.
    """
    taints = [taint for taint in offer.device.taints if taint.effect in ("NoSchedule", "NoExecute")]
    return not question.on("DeviceTaints") or all(
        any(_covers(toleration, taint) for toleration in wanted.wire.tolerations) for taint in taints
    )


def _covers(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in (None, "", "Equal") and (toleration.value or "") == (taint.value or "")
