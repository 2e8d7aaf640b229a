"""
The reasons of refusals, replayed from outside: every fix helps, none is missing, facts suffice, hints hold.

    python -m fuzz.targets.reasons_replay --cases 1000 [--seed 1] [--kind gangs]

Asked is the command, with files: whatever it proposes is done to the files, and it is asked again. Of eight worlds one
has a gang, of which `gang` is asked, and one a gate that is off; the others have a pod.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import dra_alloc
from dra_alloc.cli.main import run
from dra_alloc.explain.fewer import TWO_CHANGES
from dra_alloc.gates import gates_of
from fuzz.refusals.changes import Change, asking_for, changes_of, guarding, is_asking, writing
from fuzz.refusals.drawing import Json, drawn
from fuzz.refusals.gang_replay import check_gang
from fuzz.refusals.gangs import gangs
from fuzz.refusals.gated import GATED, gated
from fuzz.refusals.pod_changes import asking_for_less, of_the_pod, of_the_quota, raising, without_quotas
from fuzz.target import Broken, Target, command

#: Pairs of changes that are tried where no single one helps.
_MOST_PAIRS: Final = 120
_COUNT: Final = re.compile(r"asking for (\d+)(?:Gi)? instead of (\d+).*")
_GATES: Final = re.compile(r"(?:on (\S+), )?Kubernetes \S+ would allocate this with (.+) switched on")
_SWITCHED: Final = re.compile(r"switching the gates? (.+?) on\b")
_NEWER: Final = re.compile(r"Kubernetes (\S+) with its default gates would allocate this")
_DEFECT: Final = re.compile(r"defects? of kube-scheduler")
#: At most so many lines for a refusal on one node, and for one on many.
_LINES, _LINES_OF_MANY = 12, 15
_COLUMNS: Final = 80
#: What nodes have against the pod itself.
_OWN: Final = frozenset(
    {
        "node-affinity",
        "node-ports",
        "node-resources",
        "node-selector",
        "node-taint",
        "node-unschedulable",
        "pod-affinity",
        "pod-anti-affinity",
        "quota",
        "topology-spread",
    }
)
_POD: Final = "ns/pod"
#: Who draws worlds, by what is refused in them, and whose turn it is.
_KINDS: Final = {"pods": drawn, "gangs": gangs, "gates": gated}
_TURNS: Final = (*["pods"] * 6, "gangs", "gates")
#: Gates of which there are worlds where they are the cause.
_OF_DEVICES: Final = frozenset(GATED)


def asked(world: Json, *more: str, text: bool = False) -> tuple[int, str]:
    """Return the exit code and the output of a check of the world."""
    objects, dumped = world["objects"], list[Json]()
    if world.get("dumped"):
        dumped = [each for each in objects if not _waits(each)]
        objects = [each for each in objects if _waits(each)]
    with _written(objects) as path, _written(dumped) as dump:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            shape = () if text else ("--format", "json")
            cluster = ("--cluster", str(dump)) if dumped else ()
            code = run(["check", str(path), *cluster, *world["options"], *shape, *more])
    return code, printed.getvalue()


def _waits(each: Json) -> bool:
    """Return whether it is what is asked for, not what the cluster has."""
    return each["kind"] in ("Pod", "ResourceClaim", "ResourceClaimTemplate") and "status" not in each


@contextlib.contextmanager
def _written(objects: Sequence[Json]) -> Iterator[Path]:
    """Put objects into a file for a while."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        file.flush()
        yield Path(file.name)


def _pod(world: Json, *more: str) -> Json | None:
    """Return what is said of the pod; None for a world that the command does not take."""
    code, printed = asked(world, *more)
    if code not in (0, 1, 3):
        return None
    return next((each for each in json.loads(printed)["placements"] if each["name"] == _POD), None)


def _fits(world: Json, *more: str) -> bool:
    found = _pod(world, *more)
    return found is not None and found["verdict"] == "allocated"


def _could(world: Json, node: str | None = None) -> bool:
    """Return whether the pod finds a node, or would were there that one alone: as `_fits`, and quicker."""
    if world.get("dumped"):
        # What is asked for loses fields whose gates are off, what is loaded does not.
        return _fits(world, *(() if node is None else ("--node", node)))
    options = dict(_pairwise(world["options"]))
    gates = _gates_of(world)
    channel, semantics = options.get("--channel", "auto"), options.get("--semantics", "upstream")
    objects = [each for each in world["objects"] if node in (None, each["metadata"]["name"]) or each["kind"] != "Node"]
    # Pods and slices of nodes that are not there are left out with them.
    objects = [each for each in objects if node in (None, each["spec"].get("nodeName", node))]
    pod = objects.pop()
    with _written(objects) as path:
        given: Json = {"release": options["--release"], "gates": gates, "channel": channel, "semantics": semantics}
        cluster = dra_alloc.load(path, **given)
    return cluster.schedule([pod]).scheduled == 1


def _gates_of(world: Json) -> dict[str, bool]:
    """Return the gates that the options set."""
    given = (each.partition("=") for name, each in _pairwise(world["options"]) if name == "--gate")
    return {gate: value == "true" for gate, _, value in given}


def _pairwise(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(options[::2], options[1::2], strict=True)


def _check(world: Json) -> Counter[str]:
    """Return how the world was refused, and how much of what is told of it was tried. Raises: Broken."""
    if world.get("gang"):
        return check_gang(world)
    with tempfile.NamedTemporaryFile() as text:
        found = _pod(world, "--report", f"text={text.name}")
        printed = Path(text.name).read_text(encoding="utf-8")
    if found is None:
        return Counter(["not taken"])
    if found["verdict"] != "unsatisfiable":
        return Counter([str(found["verdict"])])
    _hold_lines(printed, found)
    counts = Counter({"refused worlds": 1})
    counts["gates"] += _hold_gates(world, found.get("fix"))
    counts["gates alone"] += _hold_causes(world, found)
    for each in _worth(found["refusals"]):
        kind = _replayed(world, each, counts)
        counts[kind] += 1
    return counts


def _hold_lines(printed: str, found: Json) -> None:
    """Hold that a refusal is a screen, and begins with its cause."""
    told = next(part for part in printed.split("\n\n") if part.startswith(f"{_POD} (Pod)")).splitlines()[1:]
    most = _LINES if found["nodesAsked"] == 1 else _LINES_OF_MANY
    if len(told) > most or max(map(len, told)) > _COLUMNS:
        raise Broken(f"too many lines: {len(told)}\n" + "\n".join(told))
    begins = any(line.strip().startswith("cause: ") for line in told[:2])
    if not begins and all(each["code"] == "no-fit" for each in found["refusals"]):
        raise Broken("no cause:\n" + "\n".join(told))


def _worth(refusals: Sequence[Json]) -> list[Json]:
    """
    Return the first and the last refusal that were looked into: the last may share another's reasons.

    And the same of those that have something against the pod itself.
    """
    looked = [each for each in refusals if each["reasons"] is not None and each["code"] not in _OWN]
    own = [each for each in refusals if each["code"] in _OWN]
    return [*looked[:1], *looked[1:][-1:], *own[:1], *own[1:][-1:]]


def _replayed(world: Json, refusal: Json, counts: Counter[str]) -> str:
    """Hold what is said of one node, and count what of it. Raises: Broken."""
    reasons, node = refusal["reasons"] or {"fixes": [], "hints": []}, refusal["node"]
    here = ("--node", node)
    listed = {tuple(fix["steps"]) for fix in reasons["fixes"]}
    changes = _changes(world, node)
    by_quota = refusal["code"] == "quota"
    own = {each.fix: each for each in (of_the_quota(world) if by_quota else of_the_pod(world, node))}
    for steps in listed:
        changed = world
        for step in steps:
            # What a step before it made of a selector is called what it is now.
            changed = _named(step, _changes(changed, node) | changes | own, world).of(changed)
        if is_asking(world) and not is_asking(changed):
            raise Broken(f"nothing is asked for any more: {' and '.join(steps)} on {node}")
        for more in (here, ()):
            if not _fits(changed, *more):
                raise Broken(f"wrong fix{'' if more else ' in the cluster'}: {' and '.join(steps)} on {node}")
    counts["fixes"] += len(listed)
    counts["hints"] += _hold_hints(world, node, reasons["hints"])
    if by_quota:
        if "must specify" in refusal["error"]:
            return "by a quota"
        _hold_quota(world, node, listed, list(own.values()))
        return "by a quota" + (", with a fix" if listed else "")
    if refusal["code"] in _OWN:
        for each in (each for each in own.values() if _helps(each.of(world), node)):
            if (each.fix,) not in listed:
                raise Broken(f"not listed: {each.fix} on {node}")
        return "by nodes" + (", with a fix" if listed else "")
    if not refusal["error"]:
        _hold_facts(world, node, reasons["facts"])
        counts["sets of facts"] += bool(reasons["facts"])
    for each in (each for each in changes.values() if _helps(each.of(world), node)):
        if (each.fix,) not in listed and each.fix not in reasons["notTried"]:
            raise Broken(f"not listed: {each.fix} on {node}")
    if not any(each.startswith("asking for ") for each in reasons["notTried"]):
        _hold_counts(world, node, {step for steps in listed if len(steps) == 1 for step in steps})
    if refusal["error"]:
        return "with an error"
    if any(len(each) == 1 for each in listed):
        return "one change"
    return _pairs(world, node, list(changes.values()), reasons)


def _changes(world: Json, node: str) -> dict[str, Change]:
    return {each.fix: each for each in changes_of(world, node) if each.fix}


def _helps(changed: Json, node: str) -> bool:
    """Return whether a changed world has a place for the pod on the node, and the others do not spoil it."""
    alone = sum(each["kind"] == "Node" for each in changed["objects"]) == 1
    return _could(changed, node) and (alone or _could(changed))


def _named(step: str, changes: dict[str, Change], world: Json) -> Change:
    """Return the change that a step names. Raises: Broken for one that nobody understands."""
    if step in changes:
        return changes[step]
    less = asking_for_less(step) or guarding(world, step) or writing(world, step) or raising(step)
    if less is not None:
        return less
    counted = _COUNT.fullmatch(step)
    if counted is not None:
        for _, counting in asking_for(world):
            change = counting(int(counted[1]))
            if change.fix == step:
                return change
    raise Broken(f"unknown step: {step}")


def _hold_hints(world: Json, node: str, hints: Sequence[str]) -> int:
    """Return how many hints are about another scheduler that is asked. Raises: Broken if it answers otherwise."""
    held = 0
    for hint in hints:
        options, where = None, node
        if found := _GATES.fullmatch(hint):
            where = found[1] or node
            gates = [option for gate in found[2].split(" and ") for option in ("--gate", f"{gate}=true")]
            options = [*_without_channel(world["options"]), *gates]
        elif found := _NEWER.fullmatch(hint):
            semantics = ["--semantics", "intended"] if "intended" in world["options"] else []
            options = ["--release", found[1], *semantics]
        elif _DEFECT.search(hint):
            options = [*world["options"], "--semantics", "intended"]
        if options is not None and not _fits({**world, "options": options}, "--node", where):
            raise Broken(f"hint does not hold: {hint} on {where}")
        held += options is not None
    return held


def _hold_gates(world: Json, fix: str | None) -> int:
    """Return whether gates are told as the fix. Raises: Broken if they are and the pod is refused with them on, too."""
    found = _SWITCHED.match(fix or "")
    if found is None:
        return 0
    gates = [option for gate in found[1].split(" and ") for option in ("--gate", f"{gate}=true")]
    if not _fits({**world, "options": [*_without_channel(world["options"]), *gates]}):
        raise Broken(f"gates do not help: {fix}")
    return 1


def _hold_causes(world: Json, found: Json) -> int:
    """Return how many gates are the cause, each alone. Raises: Broken if one of them is not told."""
    options = dict(_pairwise(world["options"]))
    given = _gates_of(world)
    told = f"{found.get('fix')}{[each['reasons'] for each in found['refusals']]}"
    count = 0
    for gate in [gate for gate, on in gates_of(options["--release"], given).items() if not on and gate in _OF_DEVICES]:
        switched = [*_without_channel(world["options"]), "--gate", f"{gate}=true"]
        if _fits({**world, "options": switched}):
            count += 1
            if gate not in told:
                raise Broken(f"gate is not told: {gate}")
    return count


def _without_channel(options: Sequence[str]) -> list[str]:
    return [each for pair in _pairwise(options) if pair[0] != "--channel" for each in pair]


def _hold_facts(world: Json, node: str, facts: Sequence[Json]) -> None:
    if not facts:
        return
    left = world
    for each in changes_of(world, node):
        if each.fact and not any(fact["text"].startswith(each.fact) for fact in facts):
            left = each.of(left)
    if _could(left, node):
        raise Broken(f"facts do not suffice on {node}: {'; '.join(fact['text'] for fact in facts)}")


def _hold_quota(world: Json, node: str, listed: Collection[tuple[str, ...]], changes: Sequence[Change]) -> None:
    """Hold that limits are raised where that is enough, and nothing else is left out. Raises: Broken."""
    here = ("--node", node)
    free = without_quotas(world)
    raised = any(step.startswith("raising ") for (step, *_) in listed)
    if not raised and _asks_by_quota(world) and _fits(free, *here) and _fits(free):
        raise Broken(f"not listed: raising limits on {node}")
    for each in changes:
        if (each.fix,) not in listed and _fits(each.of(world), *here) and _fits(each.of(world)):
            raise Broken(f"not listed: {each.fix} on {node}")


def _asks_by_quota(world: Json) -> bool:
    """Return whether all that a quota refuses is made before the scheduler looks: extended resources are not."""
    (container,) = world["objects"][-1]["spec"]["containers"]
    return "limits" not in container["resources"]


def _hold_counts(world: Json, node: str, listed: set[str]) -> None:
    for wanted, counting in asking_for(world):
        fewer = range(wanted - 1, 0, -1)
        fitting = next((count for count in fewer if _helps(counting(count).of(world), node)), 0)
        if fitting and counting(fitting).fix not in listed:
            raise Broken(f"not listed: {counting(fitting).fix} on {node}")


def _pairs(world: Json, node: str, changes: Sequence[Change], reasons: Json) -> str:
    """Return whether two changes are told that help, or left untried though two do, or there are none."""
    if any(len(each["steps"]) == 2 for each in reasons["fixes"]):
        return "two changes"
    pairs = (pair for pair in itertools.combinations(changes, 2) if not _is_nothing(world, pair))
    for first, second in itertools.islice(pairs, _MOST_PAIRS):
        if _helps(second.of(first.of(world)), node):
            if TWO_CHANGES in reasons["notTried"]:
                return "two changes, told as not tried"
            raise Broken(f"pair not found: {first.fix} and {second.fix} on {node}")
    return "three changes" if reasons["fixes"] else "nothing helps"


def _is_nothing(world: Json, pair: Sequence[Change]) -> bool:
    """Return whether changes leave nothing that is asked for."""
    first, second = pair
    return all(each.fix.startswith("dropping ") for each in pair) and not is_asking(second.of(first.of(world)))


def _worlds(seed: int, kinds: Sequence[str] = tuple(_KINDS)) -> Iterator[Json]:
    """Return worlds without end, of one kind or of all."""
    streams = {kind: _KINDS[kind](seed) for kind in kinds}
    if len(kinds) == 1:
        yield from streams[kinds[0]]
    for kind in itertools.cycle(_TURNS):
        yield next(streams[kind])


TARGET: Final = Target("reasons_replay", _worlds, _check, shrinks=False, kinds=tuple(_KINDS))


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
