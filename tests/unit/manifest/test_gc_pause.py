"""The collector is held back and put back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import gc_pause, load
from dra_alloc.manifest.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def _collector_restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    was_on = gc.isenabled()
    monkeypatch.setattr(gc_pause, "_PAUSES", type(gc_pause._PAUSES)())
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("was_on", [True, False])
@pytest.mark.parametrize("settle", [True, False])
def test_state_before_is_put_back(was_on: bool, settle: bool) -> None:
    (gc.enable if was_on else gc.disable)()
    with gc_paused(settle=settle):
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is was_on


def test_exception_puts_state_back(tmp_path: Path) -> None:
    gc.enable()
    path = tmp_path / "broken.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ManifestError):
        load([path])
    assert gc.isenabled()


def test_last_of_several_threads_puts_state_back() -> None:
    gc.enable()
    inside, leave = Event(), Event()

    def hold() -> None:
        with gc_paused():
            inside.set()
            leave.wait(10)

    other = Thread(target=hold)
    with gc_paused():
        other.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    other.join(10)
    assert gc.isenabled()


def test_settling_empties_the_young_generation() -> None:
    gc.enable()
    kept = []
    with gc_paused(settle=True):
        kept = [[number] for number in range(50_000)]
    assert gc.get_count()[0] < len(kept) // 10


def test_a_few_objects_do_not_have_what_is_frozen_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.enable()
    counted: list[bool] = []

    def count() -> int:
        counted.append(True)
        return 1

    monkeypatch.setattr(gc, "get_freeze_count", count)
    with gc_paused(settle=True):
        few = [[number] for number in range(1_000)]
    assert few
    assert not counted
    with gc_paused(settle=True):
        many = [[number] for number in range(50_000)]
    assert many
    assert counted


def test_garbage_is_not_made_old_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.enable()
    settled: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: settled.append(True))
    monkeypatch.setattr(gc, "get_count", lambda: (1_000_000, 0, 0))
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 0)
    walks = 1
    monkeypatch.setattr(gc, "get_stats", lambda: [{}, {}, {"collections": walks}])

    def ask(times: int) -> int:
        settled.clear()
        for _ in range(times):
            with gc_paused(settle=True):
                pass
        return len(settled)

    assert ask(100) == 64
    assert ask(100) == 0
    walks = 2
    assert ask(100) == 64
