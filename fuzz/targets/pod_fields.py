"""
Pods and workloads with wrong fields are refused as a real API server of the newest release refuses them; needs Go.

    python -m fuzz.targets.pod_fields [--cases 500] [--seed 1]
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from dra_alloc.manifest import validate_object
from dra_alloc.manifest.kinds import kind_named
from dra_alloc.manifest.make.objects import make
from fuzz.oracle_build import versions
from fuzz.plane.api import ApiError, path_of
from fuzz.plane.programs import PROGRAM, Plane
from fuzz.target import Broken, Json, Target, command

_NOW: Final = "DuringSchedulingIgnoredDuringExecution"
_REQUIRED, _PREFERRED = f"required{_NOW}", f"preferred{_NOW}"
_NAMES: Final = ("a", "A_b", "", "a.b", "a" * 64, "-a")
_KEYS: Final = ("a", "x.io/y", "a b", "", "A_/b", "a/b/c", "k" * 64)
_VALUES: Final = ("b", "", "c d", "v" * 64)
_AMOUNTS: Final = ("1", "2", "1500m", "0", "-1", "4Mi", "5Mi", "1Gi", "0.5")
_BOTH: Final = ("resourceClaimName", "resourceClaimTemplateName")
_RESOURCES: Final = (
    "cpu", "memory", "ephemeral-storage", "x.io/gpu", "x.io/gpu", "hugepages-2Mi", "hugepages-x", "gpu", "pods",
    "storage", "A_/b", "kubernetes.io/x", "a.kubernetes.io/x", "requests.x.io/y", "requests.cpu", "services", "a b",
)  # fmt: skip
_SELECTORS: Final[tuple[Json, ...]] = (
    {},
    {"matchLabels": {"a": "b"}},
    {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]},
    {"matchLabels": {"a": "c"}},
    {"matchLabels": {"a b": "c d"}},
    {"matchExpressions": [{"key": "a", "operator": "In"}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}, {"key": "", "operator": "NotIn"}]},
    {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["c d"]}]},
)
_SHARES: Final = (0, 1, -1, "0%", "25%", "100%", "101%", "x%", "1", "-5%")
_NUMBERS: Final = (0, 1, 5, -1, 100_000, 100_001)
_KINDS: Final = (
    "Pod", "Pod", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob",
    "ReplicationController",
)  # fmt: skip
_VERSIONS: Final = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
#: Faults of a selector with which the template is looked at all the same.
_LOOKS_ON: Final = re.compile("^Required|empty selector|not auto-generated")
_OF_SETS: Final = tuple(
    f'Unsupported value: "{each}": supported values: "Always"' for each in ("X", "OnFailure", "Never")
)
#: Of which the server says that it is wrong, and as what, in fields that it fills in itself.
_FILLED: Final = (".requests[", "metadata.labels")


class _Drawing:
    """One object with a few wrong fields."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, choices: Any) -> Any:
        return copy.deepcopy(self._random.choice(choices))

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def object(self) -> Json:
        kind = self.one(_KINDS)
        made: Json = {"apiVersion": _VERSIONS.get(kind, "apps/v1"), "kind": kind}
        made["metadata"] = {"name": self.one(("w", "w", "w", "w", "A_b", "a.b", "x" * 53)), "namespace": "default"}
        template: Json = {"metadata": {"labels": {"a": "b"}}, "spec": self.pod()}
        if kind in ("Job", "CronJob"):
            template["spec"]["restartPolicy"] = "Never"
        for _ in range(self.one((0, 1, 1, 2))):
            self.one(_POD_CHANGES)(self, template["spec"])
        if kind != "Pod" and self.chance(0.15):
            template["metadata"] = self.one(({}, {"labels": {"a": "c"}}, {"labels": {"a": "b", "x y": "c d"}}))
        if kind == "Pod":
            return {**made, "spec": template["spec"]}
        made["spec"] = self.spec(kind, template)
        return made

    def pod(self) -> Json:
        return {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}

    def container(self, pod: Json) -> Json:
        if self.chance(0.2):
            pod.setdefault("initContainers", [{"name": "e", "image": "i"}])
            first: Json = pod["initContainers"][0]
            return first
        chosen: Json = self._random.choice(pod["containers"] or [{}])
        return chosen

    def spec(self, kind: str, template: Json) -> Json:
        spec: Json = {"template": template}
        if kind == "CronJob":
            job: Json = {"template": template}
            self.some(job, _FIELDS["Job"], 0.6 / len(_FIELDS["Job"]))
            spec = {"schedule": self.one(("* * * * *",) * 4 + _SCHEDULES), "jobTemplate": {"spec": job}}
        elif kind != "Job":
            labels = {"a": "b"}
            spec["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
            if self.chance(0.15):
                spec["selector"] = self.one(({}, {"a": "c"}) if kind == "ReplicationController" else _SELECTORS)
        self.some(spec, _FIELDS[kind], 0.6 / len(_FIELDS[kind]))
        return spec

    def some(self, into: Json, fields: Json, share: float) -> None:
        """Give a share of the fields one of their values."""
        for name, values in fields.items():
            if self.chance(share):
                into[name] = self.one(values)


def _rolling(style: tuple[str, ...]) -> list[Json]:
    plain: list[Json] = [{"type": each} for each in style]
    plain.append({"type": "Recreate", "rollingUpdate": {"maxSurge": 1}})
    for down, up in itertools.product(_SHARES, _SHARES):
        plain.append({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": down, "maxSurge": up}})
    return plain


_SCHEDULES: Final = ("", "x", "* * * *", "@hourly", "@every 1h", "@never", "TZ=UTC * * * * *", "* * * * * *")
_FIELDS: Final[Json] = {
    "Deployment": {
        "replicas": _NUMBERS,
        "minReadySeconds": _NUMBERS,
        "revisionHistoryLimit": _NUMBERS,
        "progressDeadlineSeconds": _NUMBERS,
        "strategy": _rolling(("RollingUpdate", "Recreate", "X")),
    },
    "ReplicaSet": {"replicas": _NUMBERS, "minReadySeconds": _NUMBERS},
    "StatefulSet": {
        "replicas": _NUMBERS,
        "minReadySeconds": _NUMBERS,
        "podManagementPolicy": ("OrderedReady", "Parallel", "X"),
        "serviceName": _NAMES,
        "ordinals": ({"start": 1}, {"start": -1}),
        "persistentVolumeClaimRetentionPolicy": ({"whenDeleted": "Retain", "whenScaled": "X"}, {"whenDeleted": "X"}),
    },
    "DaemonSet": {
        "minReadySeconds": _NUMBERS,
        "revisionHistoryLimit": _NUMBERS,
        "updateStrategy": _rolling(("RollingUpdate", "OnDelete", "X")),
    },
    "ReplicationController": {"replicas": _NUMBERS, "minReadySeconds": _NUMBERS},
    "Job": {
        "parallelism": _NUMBERS,
        "completions": _NUMBERS,
        "activeDeadlineSeconds": _NUMBERS,
        "backoffLimit": _NUMBERS,
        "ttlSecondsAfterFinished": _NUMBERS,
        "completionMode": ("NonIndexed", "Indexed", "X"),
        "backoffLimitPerIndex": _NUMBERS,
        "maxFailedIndexes": _NUMBERS,
        "podReplacementPolicy": ("Failed", "TerminatingOrFailed", "X"),
        "manualSelector": (True, False),
    },
    "CronJob": {
        "startingDeadlineSeconds": _NUMBERS,
        "successfulJobsHistoryLimit": _NUMBERS,
        "failedJobsHistoryLimit": _NUMBERS,
        "concurrencyPolicy": ("Allow", "Forbid", "Replace", "X"),
    },
}


def _put(draw: _Drawing, pod: Json) -> None:
    """Change one field of a pod."""
    name = draw.one(("restartPolicy", "nodeSelector", "containers", "nodeName", "schedulingGates", "hostNetwork"))
    values: Json = {
        "restartPolicy": ("Always", "OnFailure", "Never", "X"),
        "nodeSelector": [{key: draw.one(_VALUES)} for key in _KEYS],
        "containers": ([], [{"name": "c"}], [{"image": "i"}], [{"name": "c", "image": "i"}] * 2),
        "nodeName": ("n", "A_b"),
        "schedulingGates": ([{"name": "a"}], [{"name": "a"}] * 2, [{"name": "a b"}, {"name": ""}]),
        "hostNetwork": (True,),
    }
    pod[name] = draw.one(values[name])


def _name(draw: _Drawing, pod: Json) -> None:
    draw.container(pod)["name"] = draw.one(("c", "d", *_NAMES))


def _amounts(draw: _Drawing, pod: Json) -> None:
    found: Json = {}
    for kind in draw.one((("requests",), ("limits",), ("requests", "limits"), ("requests", "limits"))):
        found[kind] = {draw.one(_RESOURCES): draw.one(_AMOUNTS) for _ in range(draw.one((1, 2)))}
    if len(found) == 2 and draw.chance(0.7):
        found["limits"] |= {name: draw.one(_AMOUNTS) for name in found["requests"]}
    draw.container(pod)["resources"] = found


def _whole(draw: _Drawing, pod: Json) -> None:
    """Let the pod ask for something as a whole, and perhaps its containers, too."""
    found: Json = {}
    names = ("cpu", "cpu", "memory", "memory", "hugepages-2Mi", *_RESOURCES)
    for kind in draw.one((("requests",), ("limits",), ("requests", "limits"))):
        found[kind] = {draw.one(names): draw.one(_AMOUNTS) for _ in range(draw.one((1, 1, 2)))}
    pod["resources"] = found
    for _ in range(draw.one((0, 1, 2))):
        kinds = draw.one((("requests",), ("limits",), ("requests", "limits")))
        amounts = {draw.one(names[:5]): draw.one(("1", "2", "1500m", "4Mi", "8Mi"))}
        draw.container(pod)["resources"] = {kind: dict(amounts) for kind in kinds}
    if draw.chance(0.2):
        pod["initContainers"] = [{"name": "s", "image": "i", "restartPolicy": draw.one(("Always", "OnFailure"))}]
        pod["initContainers"][0]["resources"] = {"requests": {draw.one(names[:5]): draw.one(_AMOUNTS)}}


def _ports(draw: _Drawing, pod: Json) -> None:
    for _ in range(draw.one((1, 2))):
        port: Json = {"containerPort": draw.one((80, 81, 80, 0, -1, 70_000))}
        draw.some(
            port,
            {
                "hostPort": (80, 80, 81, -1, 70_000),
                "protocol": ("UDP", "TCP", "X"),
                "name": ("x", "a--b", "A_", "-a", "1", "a" * 16),
            },
            0.4,
        )
        draw.container(pod).setdefault("ports", []).append(port)


def _toleration(draw: _Drawing, pod: Json) -> None:
    made: Json = {}
    draw.some(
        made,
        {
            "key": _KEYS,
            "operator": ("Equal", "Exists", "X", ""),
            "value": _VALUES,
            "effect": ("NoSchedule", "NoExecute", "PreferNoSchedule", "X"),
            "tolerationSeconds": (5,),
        },
        0.5,
    )
    pod.setdefault("tolerations", []).append(made)


def _spreading(draw: _Drawing, pod: Json) -> None:
    made: Json = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    draw.some(
        made,
        {
            "maxSkew": (0, -1, 2),
            "topologyKey": _KEYS,
            "whenUnsatisfiable": ("ScheduleAnyway", "X"),
            "labelSelector": _SELECTORS,
            "minDomains": (0, 1, -1),
            "nodeAffinityPolicy": ("Honor", "X"),
            "nodeTaintsPolicy": ("Ignore", "X"),
        },
        0.2,
    )
    pod.setdefault("topologySpreadConstraints", []).append(made)


def _near(draw: _Drawing, pod: Json) -> None:
    term: Json = {"topologyKey": draw.one(("z", "z", *_KEYS))}
    draw.some(
        term,
        {
            "labelSelector": _SELECTORS,
            "namespaceSelector": _SELECTORS,
            "namespaces": [[each] for each in _NAMES],
        },
        0.3,
    )
    near = pod.setdefault("affinity", {}).setdefault(draw.one(("podAffinity", "podAntiAffinity")), {})
    if draw.chance(0.5):
        near[_REQUIRED] = [term]
    else:
        near[_PREFERRED] = [{"weight": draw.one((0, 1, 100, 101)), "podAffinityTerm": term}]


def _nodes(draw: _Drawing, pod: Json) -> None:
    requirement: Json = {"key": draw.one(_KEYS), "operator": draw.one(("In", "Exists", "Gt", "X"))}
    if draw.chance(0.6):
        requirement["values"] = [draw.one(_VALUES) for _ in range(draw.one((1, 2)))]
    field = {"key": draw.one(("metadata.name", "a")), "operator": draw.one(("In", "Exists")), "values": ["n"]}
    term = draw.one(({"matchExpressions": [requirement]}, {"matchFields": [field]}, {}))
    nodes = pod.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    if draw.chance(0.5):
        nodes[_REQUIRED] = {"nodeSelectorTerms": draw.one(([term], [term], []))}
    else:
        nodes[_PREFERRED] = [{"weight": draw.one((0, 1, 100, 101)), "preference": term}]


def _claims(draw: _Drawing, pod: Json) -> None:
    claims = pod.setdefault("resourceClaims", [])
    for _ in range(draw.one((1, 1, 2, 3))):
        made: Json = {"name": draw.one(("x", "x", "y", *_NAMES))}
        for name in draw.one((("resourceClaimName",), ("resourceClaimTemplateName",), (), _BOTH)):
            made[name] = draw.one(("t", "t", "t", "a.b", *_NAMES, "b" * 253, "b" * 254))
        claims.append(made)
    uses = draw.container(pod).setdefault("resources", {}).setdefault("claims", [])
    for _ in range(draw.one((1, 1, 2, 3))):
        use = {"name": draw.one(("x", "x", "y", "z", ""))}
        if draw.chance(0.5):
            use["request"] = draw.one(("r", "r", "s", "r/s", "é", "b" * 63, *_NAMES))
        uses.append(use)


_POD_CHANGES: Final = (_put, _name, _amounts, _amounts, _whole, _ports, _toleration, _spreading, _near, _nodes, _claims)


def drawn(seed: int) -> Json:
    """Return a pod or a workload of which some fields may be wrong."""
    return _Drawing(Random(seed)).object()


def _cases(seed: int) -> Iterator[Json]:
    """Yield random objects with what the API server finds wrong with them."""
    with Plane(versions(PROGRAM)[-1]) as plane:
        for number in itertools.count():
            made = drawn(seed * 1_000_003 + number)
            try:
                plane.api.ask("POST", f"{path_of(made)}?dryRun=All", made)
                said: Json = {"refused": False}
            except ApiError as error:
                said = {"refused": True, "causes": error.causes, "text": str(error)}
            yield {"object": made, "upstream": said}


def _ours(made: Json) -> list[tuple[str, str]]:
    kind = kind_named(made["kind"])
    found = make(copy.deepcopy(made), kind, made["apiVersion"].rpartition("/")[2], 64)
    if found.item is None:
        return [(str(flaw.path), flaw.message) for flaw in found.findings]
    return [(problem.where.path, problem.message) for problem in validate_object(found.item)]


def _check(case: Json) -> str:
    ours, upstream = set(_ours(case["object"])), case["upstream"]
    theirs = {(each.get("field", ""), each.get("message", "")) for each in upstream.get("causes", ())}
    if bool(ours) != upstream["refused"]:
        raise Broken(f"upstream {upstream}, ours {sorted(ours)}: {json.dumps(case['object'])}")
    if not theirs:
        return "accepted"
    if any(field == "spec.selector" and _LOOKS_ON.search(text) is None for field, text in theirs):
        # The server looks no further, but at what is of every StatefulSet's pods alone; we tell all at once.
        of_sets = _OF_SETS if case["object"]["kind"] == "StatefulSet" else ()
        ours = {each for each in ours if not each[0].startswith("spec.template.") or each[1] in of_sets}
    filled = {each for each in theirs - ours if each[0] == _FILLED[1] or _FILLED[0] in each[0]}
    if theirs - filled != ours:
        only, more = sorted(theirs - filled - ours), sorted(ours - theirs)
        raise Broken(f"only upstream {only}, only ours {more}: {json.dumps(case['object'])}")
    return "refused"


TARGET = Target("pod_fields", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
