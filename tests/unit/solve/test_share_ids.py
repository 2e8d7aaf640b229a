"""The ids of shares are random UUIDs that no two allocations have in common, forked processes included."""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from dra_alloc.solve.allocator import new_uuid


def test_no_two_are_the_same_in_several_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [each for many in pool.map(lambda _: [new_uuid() for _ in range(500)], range(8)) for each in many]
    assert len(set(made)) == len(made)
    for text in made:
        known = uuid.UUID(text)
        assert (str(known), known.version, known.variant) == (text, 4, uuid.RFC_4122)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_is_forked_off_has_others() -> None:
    new_uuid()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, "\n".join(new_uuid() for _ in range(100)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as text:
        theirs = text.read().split("\n")
    assert len(theirs) == 100
    assert set(theirs).isdisjoint(new_uuid() for _ in range(100))
