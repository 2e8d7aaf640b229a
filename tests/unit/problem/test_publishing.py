"""
What threads make at the same time is the same for all of them afterwards.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from dra_alloc.api import AllocationResult, ResourceClaim, ResourceSlice
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Unsatisfiable
from dra_alloc.problem import devices as devices_module
from dra_alloc.problem.devices import SliceRow
from dra_alloc.solve.outcome import Solved, Work


class Interrupted:
    """Makes a tuple, and has another thread look at the member before the first is done."""

    def __init__(self, item: type[Any], member: str) -> None:
        self.owner: Any = None
        self.seen: list[Any] = []
        self._item = item
        self._member = member
        self._thread: Thread | None = None

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        if self._thread is None:
            self._thread = Thread(target=lambda: self.seen.append(getattr(self.owner, self._member)))
            self._thread.start()
            self._thread.join()
        return (self._item(),) if self._item is not NodeRefusal else (NodeRefusal("n", "no-fit"),)


@pytest.mark.parametrize(
    ("owner", "make"),
    [
        (lambda make: Allocated("n", make, Work()), Interrupted(ResourceClaim, "claims")),
        (Unsatisfiable, Interrupted(NodeRefusal, "refusals")),
        (lambda make: Solved(make, (), Work()), Interrupted(AllocationResult, "results")),
        (lambda make: Solved((), make, Work()), Interrupted(object, "picks")),
    ],
)
def test_outcomes_look_the_same_to_all_threads(owner, make):
    make.owner = owner(make)
    found = getattr(make.owner, make._member)
    assert make.seen[0] is found is getattr(make.owner, make._member)


def test_devices_of_a_slice_are_the_same_objects_to_all_threads(monkeypatch):
    devices = [{"name": "a"}, {"name": "b"}]
    row = SliceRow(ResourceSlice.from_wire({"metadata": {"name": "s"}, "spec": {"devices": devices}}), 0)
    seen: list[Any] = []
    thread = Thread(target=lambda: seen.append(row.devices))

    def slow(*given):
        if thread.ident is None:
            thread.start()
            thread.join()
        return made(*given)

    made = devices_module.DeviceRow
    monkeypatch.setattr(devices_module, "DeviceRow", slow)
    # Those who hold a device look it up in its slice.
    assert row.devices is seen[0] is row.devices
