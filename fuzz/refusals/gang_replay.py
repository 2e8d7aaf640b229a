"""
What is told of gangs, held against the nodes asked one by one and against the command, asked again with changed files.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import dra_alloc
from dra_alloc.api import ResourceClaim
from dra_alloc.cli.main import run
from fuzz.refusals.changes import all_of
from fuzz.refusals.drawing import Json
from fuzz.refusals.gangs import changed_by, changes_of_gang, fewer_of_gang, kinds_of
from fuzz.target import Broken

_TOGETHER: Final = re.compile(
    r"only (\d+) of \d+ pods fit together \((.+?)\)"
    r"(, in whatever order|, (?:but|though) "
    r"(?:one by one, (?:in this order|as kube-scheduler goes(?: with its defects)?)|in another order),? "
    r"(?:(?:only )?(\d+)|none)(?:: their order matters)?)?(?:; .+)?"
)
_WHERE: Final = re.compile(r"(\d+)(?: each)? on ((?:n\d+(?:, )?)+)")
_ALONE: Final = re.compile(r"(\S+) fits on no node(?:, not even alone.*| either, not even alone)")
_TAKES: Final = re.compile(r"((?:n\d+(?:, )?)+) takes? (none|\d+)(?: each)? of (\d+) pods like (\S+?)(?:[;,] .+)?")
_ONE: Final = re.compile(r"((?:n\d+(?:, )?)+) (takes?|do not take|does not take) (ns/\S+?)(?: each)?(?:[;,] .+)?")
_NO_CHANGE: Final = "no single change that was tried makes room for all of them"
_ASKING: Final = ("Pod", "ResourceClaimTemplate")
#: Changes that are told of those that help.
_TOLD: Final = 3
#: Orders of a gang's pods that are tried.
_MOST_ORDERS: Final = 40


def check_gang(world: Json) -> Counter[str]:
    """Return what became of a gang, and how much of what is told of it was tried. Raises: Broken."""
    code, told = _asked(world)
    if code not in (0, 1, 3):
        return Counter(["gangs not taken"])
    if code == 3:
        return Counter(["gangs undecided"])
    counts = Counter({"gangs": 1})
    if code == 0:
        return counts + Counter(["gangs that fit"])
    counts["refused gangs"] = 1
    takes = _hold_nodes(world, told, counts)
    if _ALONE.fullmatch(told["cause"]):
        _hold_alone(world, told, counts)
        return counts
    _hold_together(world, told["cause"], takes, counts)
    _hold_fixes(world, told["fix"], counts)
    return counts


def _asked(world: Json, without: str = "") -> tuple[int, Json]:
    """Return the exit code of the command and what it says of the gang."""
    options = world["options"]
    if without in options:
        at = options.index(without)
        options = [*options[:at], *options[at + 2 :]]
    printed = io.StringIO()
    asking = [each for each in world["objects"] if each["kind"] in _ASKING]
    there = [each for each in world["objects"] if each["kind"] not in _ASKING]
    with (
        _written(asking) as manifests,
        _written(there) as dump,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        code = run(["gang", manifests, "--cluster", dump, *options, "--format", "json"])
    return code, json.loads(printed.getvalue()) if code in (0, 1, 3) else {}


@contextlib.contextmanager
def _written(objects: Sequence[Json]) -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        file.flush()
        yield file.name


def _fits(world: Json) -> bool:
    return _asked(world)[0] == 0


class _Oracle:
    """A world's nodes asked one by one, by the allocator alone."""

    def __init__(self, world: Json, semantics: str = "") -> None:
        options = dict(zip(world["options"][::2], world["options"][1::2], strict=True))
        given = world["options"]
        gates = {part.partition("=")[0]: True for part in given if part.endswith("=true")}
        with _written([each for each in world["objects"] if each["kind"] not in _ASKING]) as dump:
            self.cluster = dra_alloc.load(
                dump,
                release=options["--release"],
                gates=gates,
                channel=options.get("--channel", "auto"),
                semantics=semantics or options.get("--semantics", "upstream"),
            )
        specs = {each["metadata"]["name"]: each["spec"]["spec"] for each in all_of(world, "ResourceClaimTemplate")}
        self.wanted = {
            f"ns/{each['metadata']['name']}": specs[each["spec"]["resourceClaims"][0]["resourceClaimTemplateName"]]
            for each in all_of(world, "Pod")
        }
        self.nodes = [each["metadata"]["name"] for each in all_of(world, "Node")]

    def claim(self, pod: str) -> ResourceClaim:
        meta = {"name": pod.replace("/", "-"), "namespace": "ns", "uid": pod}
        return ResourceClaim.from_wire({"metadata": meta, "spec": self.wanted[pod]})

    def takes(self, node: str, pods: Sequence[str]) -> bool | None:
        """Return whether a node has what all of the pods ask for at once; None if that is undecided."""
        if not pods:
            return True
        outcome = self.cluster.allocate(list(map(self.claim, pods)), node=node)
        return _decided(outcome)

    def most(self, node: str, pods: Sequence[str]) -> int | None:
        """Return how many of pods that ask for the same a node takes."""
        answers = [self.takes(node, pods[:count]) for count in range(1, len(pods) + 1)]
        if None in answers:
            return None
        return next((count for count in range(len(pods), 0, -1) if answers[count - 1]), 0)

    def one_by_one(self, pods: Sequence[str]) -> int | None:
        """Return how many pods find a node one after the other, each on the first that takes it."""
        cluster, count = self.cluster, 0
        for pod in pods:
            for node in self.nodes:
                outcome = cluster.allocate([self.claim(pod)], node=node)
                if _decided(outcome):
                    cluster, count = cluster.after(outcome), count + 1
                    break
                if _decided(outcome) is None:
                    return None
        return count


def _decided(outcome: Any) -> bool | None:
    name = type(outcome).__name__
    return True if name == "Allocated" else False if name == "Unsatisfiable" else None


def _hold_nodes(world: Json, told: Json, counts: Counter[str]) -> dict[str, dict[str, int]]:
    """Return how many of each kind each node takes, as told and as asked. Raises: Broken."""
    kinds, oracle = kinds_of(world), _Oracle(world, "intended")
    found: dict[str, dict[str, int]] = {}
    for line in told["nodesTake"]:
        if _ALONE.fullmatch(line) or line.startswith("how many "):
            continue
        several, one = _TAKES.fullmatch(line), _ONE.fullmatch(line)
        if several:
            names, amount, size, kind = several.groups()
            told_count = 0 if amount == "none" else int(amount)
            if int(size) != len(kinds[kind]):
                raise Broken(f"wrong size: {line}")
        elif one:
            names, told_count, kind = one[1], int(one[2] in ("take", "takes")), one[3]
        else:
            raise Broken(f"not understood: {line}")
        for name in names.split(", "):
            most = oracle.most(name, kinds[kind])
            if most is not None and most != told_count and not _all_by_defect(world, name, kinds[kind], told_count):
                raise Broken(f"wrong number on {name}: {most}, told is {line}")
            counts["nodes of gangs"] += 1
            found.setdefault(kind, {})[name] = told_count
    return found


def _all_by_defect(world: Json, node: str, pods: Sequence[str], count: int) -> bool:
    """Return whether all pods are told, and kube-scheduler, going one by one, has places for all of them there."""
    oracle = _Oracle(world)
    oracle.nodes = [node]
    return count == len(pods) and oracle.one_by_one(pods) == count


def _hold_alone(world: Json, told: Json, counts: Counter[str]) -> None:
    oracle = _Oracle(world, "intended")
    found = [each[1] for each in map(_ALONE.fullmatch, (told["cause"], *told["nodesTake"])) if each]
    counts["pods that fit nowhere"] += len(found)
    for pod in found:
        if any(oracle.takes(node, [pod]) for node in oracle.nodes):
            raise Broken(f"fits alone: {pod}")


def _hold_together(world: Json, cause: str, takes: dict[str, dict[str, int]], counts: Counter[str]) -> None:
    """Hold how many fit together, where, and what is told of their order. Raises: Broken."""
    if "--topology" in world["options"] and _TOGETHER.fullmatch(cause) is None:
        counts["gangs of one rack"] += 1
        return
    found = _TOGETHER.fullmatch(cause)
    if found is None:
        if "fits on some node alone, but not all of them together" not in cause:
            raise Broken(f"not understood: {cause}")
        return
    most = int(found[1])
    where = {node: int(count) for count, names in _WHERE.findall(found[2]) for node in names.strip(", ").split(", ")}
    if sum(where.values()) != most:
        raise Broken(f"not as many: {cause}")
    shared = any(each["spec"].get("allNodes") for each in all_of(world, "ResourceSlice"))
    # Of nodes that share a pool each could have all of it: that is a bound.
    best = _best(world)
    if best is not None and (best < most if shared else best != most):
        raise Broken(f"{best} fit together: {cause}")
    counts["gangs counted"] += best is not None
    if len(takes) == 1 and not shared:
        (only,) = takes.values()
        if any(count > only.get(node, count) for node, count in where.items()):
            raise Broken(f"more than a node takes: {cause}")
    _hold_order(world, found, most, counts)


def _best(world: Json) -> int | None:
    """Return how many pods fit together on nodes that share nothing, by trying what each of them takes."""
    oracle, kinds = _Oracle(world, "intended"), list(kinds_of(world).values())
    reached: set[tuple[int, ...]] = {tuple(0 for _ in kinds)}
    amounts = [range(len(each) + 1) for each in kinds]
    for node in oracle.nodes:
        menu = []
        for counts in itertools.product(*amounts):
            here = [pod for kind, count in zip(kinds, counts, strict=True) for pod in kind[:count]]
            answer = oracle.takes(node, here)
            if answer is None:
                return None
            if answer:
                menu.append(counts)
        reached = {
            tuple(min(a + b, len(kind)) for a, b, kind in zip(one, other, kinds, strict=True))
            for one in reached
            for other in menu
        }
    return max(map(sum, reached))


def _hold_order(world: Json, found: re.Match[str], most: int, counts: Counter[str]) -> None:
    oracle = _Oracle(world)
    given = [f"ns/{each['metadata']['name']}" for each in all_of(world, "Pod")]
    one_by_one = oracle.one_by_one(given)
    if one_by_one is None:
        return
    said = found[3] or ""
    if "one by one" in said:
        told = int(found[4] or 0)
        if told != one_by_one:
            raise Broken(f"one by one {one_by_one} fit: {found[0]}")
    elif one_by_one != most:
        raise Broken(f"one by one {one_by_one} fit: {found[0]}")
    if "whatever order" not in said and "order matters" not in said:
        return
    counts["orders of gangs"] += 1
    several = {oracle.one_by_one(each) for each in itertools.islice(_orders(world, given), _MOST_ORDERS)}
    if "whatever order" in said and several - {None, most}:
        raise Broken(f"in another order {several} fit: {found[0]}")
    if "order matters" in said and len(several - {None}) == 1:
        raise Broken(f"the order does not matter: {found[0]}")


def _orders(world: Json, given: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the orders that differ in more than names."""
    kinds = kinds_of(world)
    kind_of = {pod: kind for kind, pods in kinds.items() for pod in pods}
    for order in dict.fromkeys(itertools.permutations(map(kind_of.__getitem__, given))):
        waiting = {kind: iter(pods) for kind, pods in kinds.items()}
        yield [next(waiting[kind]) for kind in order]


def _hold_fixes(world: Json, fix: str, counts: Counter[str]) -> None:
    """Hold that each fix makes room for all, and that none is missing where fewer are told than could be."""
    if fix.startswith("letting them run on nodes of different "):
        if _asked(world, without="--topology")[0] != 0:
            raise Broken(f"wrong fix: {fix}")
        counts["fixes of gangs"] += 1
        return
    if "--topology" in world["options"]:
        return
    steps = [] if fix in ("", _NO_CHANGE) else re.sub(r" \(then (?:both|all \d+) fit\)$", "", fix).split(", or ")
    for step in steps:
        counts["fixes of gangs"] += 1
        if not _fits(_changed(world, step)):
            raise Broken(f"wrong fix: {step}")
    if not fix or len(steps) >= _TOLD:
        return
    fewer = [_first_helping(world, each) for each in fewer_of_gang(world)]
    helping = [each for each in changes_of_gang(world) if _fits(each.of(world))]
    for each in (*helping, *(each for each in fewer if each)):
        counts["changes of gangs"] += 1
        if each.fix not in steps:
            raise Broken(f"not listed: {each.fix}")


def _first_helping(world: Json, changes: Sequence[Any]) -> Any:
    return next((each for each in changes if _fits(each.of(world))), None)


def _changed(world: Json, step: str) -> Json:
    try:
        return changed_by(world, step).of(world)
    except ValueError:
        raise Broken(f"unknown step: {step}") from None
