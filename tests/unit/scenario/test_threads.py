"""
Questions from several threads at once have the answers that one thread gets.

Races are played out step by step where they can be; the last tests are plain
stress, which says more where threads really run at the same time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from dra_alloc import load
from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.known import Known, KnownParts
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.cluster.standings import FITS, Asked, Roster, Standings
from dra_alloc.manifest import Documents
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.occupancy import Occupancy
from dra_alloc.problem.usage import Usage
from dra_alloc.solve.allocator import not_found
from dra_alloc.solve.columns import Columns
from dra_alloc.solve.ladder import DEFAULT_BUDGET
from dra_alloc.solve.outcome import NoFit, Solved, SolveOutcome, Work
from dra_alloc.solve.survey import Survey
from tests.threads import at_once, restless

DRIVER = "gpu.example.com"


def a_slice(node: str, devices: int) -> ResourceSlice:
    spec = {
        "driver": DRIVER,
        "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
    }
    return ResourceSlice.from_wire({"metadata": {"name": f"s-{node}"}, "spec": spec})


def a_claim(name: str, **exactly: Any) -> ResourceClaim:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", **exactly}}
    return ResourceClaim.from_wire(
        {"metadata": {"name": name, "namespace": "n"}, "spec": {"devices": {"requests": [request]}}}
    )


CLASS = DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}})


class Standing:
    """Standings of nodes that have to be searched; `later` are found out about during the first search."""

    def __init__(self, fits: Sequence[bool], later: Sequence[int]) -> None:
        nodes = [Node.from_wire({"metadata": {"name": str(number)}}) for number in range(len(fits))]
        empty = Inventory.build(())
        survey = Survey(empty, {}, Cluster.of(Documents()).settings.profile(), not_found)
        self.standings = Standings(Roster(nodes), survey, Occupancy.of(Usage(), empty.by_pool), self)
        self.asked = Asked.of([a_claim("c", allocationMode="All")], survey, DEFAULT_BUDGET)
        self.places: list[int] = []
        self._fits = fits
        self._later = list(later)

    def directly(self, node: Node, admitted: object, budget: object) -> None:
        """Say nothing without a search."""

    def shared(self, admitted: object) -> Callable[[object], None]:
        """Say nothing of shares either."""
        return lambda row: None

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: object) -> SolveOutcome:
        place = int(node.metadata.name or "")
        self.places.append(place)
        meanwhile, self._later = self._later, []
        for each in meanwhile:
            # What another thread does that asks the same question.
            self.standings.code(self.asked, each)
        return Solved((), (), Work()) if self._fits[place] else NoFit(Work())


def test_the_first_node_is_the_first_whoever_found_out_about_it():
    standing = Standing([False, True, True], later=[1])
    assert standing.standings.first(standing.asked) == (1, FITS)


def test_the_first_node_is_the_first_if_all_others_were_found_out_about_meanwhile():
    standing = Standing([False, False, True, True], later=[1, 2, 3])
    assert standing.standings.first(standing.asked) == (2, FITS)


def test_a_question_forgotten_by_another_thread_is_not_missed():
    standing = Standing([True], later=[])

    class Forgetful(dict[Any, Any]):
        def __getitem__(self, key: Any) -> Any:
            raise KeyError(key)  # another thread asked so many questions that this one is gone

    standing.standings.codes(standing.asked)
    standing.standings._codes = Forgetful(standing.standings._codes)
    forked = standing.standings.forked(standing.standings.survey, standing.standings._occupancy, standing)
    assert forked.codes(standing.asked) == bytes([FITS])


class Late(KnownParts):
    """What is known of a cluster; another thread finds out what is held as soon as it was seen not to be known."""

    held: Occupancy

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "occupancy" and found is None:
            self.occupancy = self.held
        return found

    def now(self) -> KnownParts:
        return KnownParts(**{each.name: getattr(self, each.name) for each in fields(KnownParts)})


def test_what_another_thread_finds_out_during_a_change_is_not_taken_for_what_holds_afterwards():
    cluster = Cluster.of(Documents(slices=(a_slice("a", 1),), classes=(CLASS,)))
    found = cluster.allocate([a_claim("first")])
    assert isinstance(found, Allocated)
    fresh = Cluster.of(Documents(slices=(a_slice("a", 1),), classes=(CLASS,)))
    late = Late(survey=fresh.known.survey)
    late.held = Known(fresh.known.contents).occupancy
    fresh.known.parts = late
    assert not fresh.with_claims(found.claims).allocate([a_claim("second")])
    assert late.occupancy is late.held


NODES = 24
EXPRESSIONS = (
    "device.driver == 'gpu.example.com'",
    "device.attributes['gpu.example.com'].model.matches('^(a|b)')",
    "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('2Gi'))",
    "device.attributes['gpu.example.com'].index < 2",
)


def slices(nodes: int = NODES, changed: int = 0) -> list[dict[str, Any]]:
    """Return slices of few kinds, as a dump has them; `changed` makes the first ones larger."""
    made = []
    for number in range(nodes):
        devices = [
            {
                "name": f"gpu-{index}",
                "attributes": {"model": {"string": "abcd"[number % 4]}, "index": {"int": index}},
                "capacity": {"memory": {"value": f"{1 + number % 3}Gi"}},
            }
            for index in range(2 + (number < changed))
        ]
        spec = {
            "driver": DRIVER,
            "nodeName": f"n{number}",
            "pool": {"name": f"n{number}", "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        }
        wire = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"s{number}"}}
        made.append({**wire, "spec": spec})
    return made


def asked(number: int) -> list[ResourceClaim]:
    selectors = [{"cel": {"expression": EXPRESSIONS[number % len(EXPRESSIONS)]}}]
    return [a_claim(f"c{number}", selectors=selectors, count=1 + number % 2)]


def spelled(claims: Sequence[ResourceClaim]) -> str:
    return json.dumps([claim.to_wire() for claim in claims], sort_keys=True)


def filtered(cluster: Cluster) -> object:
    return [tuple(cluster.filter(asked(number))) for number in range(6)]


def allocated(cluster: Cluster) -> object:
    outcomes = [cluster.allocate(asked(number)) for number in range(6)]
    return [(each.node, spelled(each.claims)) if isinstance(each, Allocated) else repr(each) for each in outcomes]


def placed(cluster: Cluster) -> object:
    found = cluster.place([asked(number) for number in range(40)])
    names = [each.node if isinstance(each, Allocated) else "" for each in found.outcomes]
    return found.placed, names, found.cluster.state_hash


def with_slices(cluster: Cluster) -> object:
    larger = [ResourceSlice.from_wire(each) for each in slices(4, changed=4)]
    return filtered(cluster.with_slices(larger)), cluster.state_hash


def applied(cluster: Cluster) -> object:
    events = [{"type": "MODIFIED", "object": each} for each in slices(3, changed=2)]
    first = cluster.apply([*events, {"type": "DELETED", "object": slices(6)[5]}])
    outcome = first.allocate(asked(1))
    assert isinstance(outcome, Allocated)
    return filtered(first.after(outcome)), first.after(outcome).state_hash


def shared(cluster: Cluster, outcome: Allocated) -> object:
    return spelled(outcome.claims), tuple(cluster.after(outcome).filter(asked(2)))


KINDS: tuple[Callable[[Cluster], object], ...] = (filtered, allocated, placed, with_slices, applied)


def a_cluster(folder: Path) -> Cluster:
    dump = {"apiVersion": "v1", "kind": "List", "items": slices()}
    items = [*slices(), {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", **CLASS.to_wire()}]
    path = folder / "dump.json"
    if not path.exists():
        path.write_text(json.dumps({**dump, "items": items}))
    return load([path])


def test_one_cluster_answers_eight_threads_as_it_answers_one(tmp_path):
    alone = a_cluster(tmp_path)
    expected = [kind(alone) for kind in KINDS]
    outcome = alone.allocate(asked(0))
    assert isinstance(outcome, Allocated)
    expected.append(shared(alone, outcome))
    with restless():
        for turn in range(4):
            cluster = a_cluster(tmp_path)  # nothing is known of it yet
            outcome = cluster.allocate(asked(0))
            assert isinstance(outcome, Allocated)
            kinds = [*(partial(kind, cluster) for kind in KINDS), partial(shared, cluster, outcome)]
            numbers = [(turn + each) % len(kinds) for each in range(8)]
            found = at_once([kinds[number] for number in numbers])
            assert found == [expected[number] for number in numbers]


def test_more_questions_than_are_remembered_at_once(tmp_path):
    cluster = a_cluster(tmp_path)
    questions = [
        [a_claim("c", selectors=[{"cel": {"expression": f"device.attributes['{DRIVER}'].index >= {number % 3 - 1}"}}])]
        for number in range(3)
    ]
    expected = [tuple(cluster.filter(each)) for each in questions]

    def ask(first: int) -> None:
        for number in range(40):
            place = (first + number) % 3
            # Each budget makes another question of it.
            found = cluster.filter(questions[place], budget=replace(DEFAULT_BUDGET, steps=10_000 + first * 40 + number))
            assert tuple(found) == expected[place]
            assert cluster.with_slices(()).filter(questions[place]).nodes == expected[place]

    with restless():
        at_once([partial(ask, first) for first in range(6)])


def test_files_are_loaded_by_several_threads(tmp_path):
    expected = a_cluster(tmp_path).state_hash
    with restless():
        assert at_once([lambda: a_cluster(tmp_path).state_hash] * 8) == [expected] * 8


def test_tokens_seen_by_several_threads_have_a_number_each():
    columns = Columns()
    with restless():
        found = at_once([lambda: [columns.id(("token", number)) for number in range(3000)]] * 8)
    assert all(each == found[0] for each in found)
    assert len(set(found[0])) == 3000


FIRST_USE = """
import sys
from functools import partial
from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cel import environment
from dra_alloc.manifest import load
from tests.threads import at_once, restless

def model(kind):
    return kind.from_wire({"metadata": {"name": "x"}}).to_wire()

def file(path):
    return load([path]).slices

def program(text):
    return environment().compile(text)

with restless():
    models = [partial(model, kind) for kind in (ResourceSlice, ResourceClaim, DeviceClass, Node)]
    programs = [partial(program, "device.driver == 'd'")]
    found = at_once([*models, *[partial(file, sys.argv[1])] * 3, *programs])
assert len(found[4]) == 24
# Records of different classes are never equal.
assert found[4] == found[5] == found[6] == load([sys.argv[1]]).slices
assert found[7] is environment().compile("device.driver == 'd'")
"""


def test_first_use_of_everything_may_be_in_several_threads(tmp_path):
    a_cluster(tmp_path)
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", FIRST_USE, str(tmp_path / "dump.json")]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
