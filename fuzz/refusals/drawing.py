"""
Random clusters in which a pod asks for devices that it most likely does not get, as manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]

DRIVER: Final = "x.io"
#: What class gpu serves, where it serves an extended resource.
RESOURCE: Final = "x.io/gpu"
API: Final = "resource.k8s.io/v1"
_MODELS: Final = ("a100", "h100", "l4")
_TAINTS: Final = (("x.io/xid", "79", "NoSchedule"), ("x.io/hot", "", "NoExecute"), ("x.io/slow", "yes", "NoSchedule"))
#: Taints of nodes: by people, by how a node is, by what it waits for.
_STATES: Final = ("disk-pressure", "memory-pressure", "pid-pressure", "network-unavailable", "unschedulable")
_LOST: Final = ("not-ready", "unreachable")
_NODE_TAINTS: Final = (
    *([{"key": "dedicated", "effect": "NoSchedule"}] for _ in range(8)),
    *([{"key": f"node.kubernetes.io/{each}", "effect": "NoSchedule"}] for each in _STATES),
    *(
        [{"key": f"node.kubernetes.io/{each}", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
        for each in _LOST
    ),
    [{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}],
)
_PORT: Final = {"containerPort": 80, "hostPort": 8080}
_EXPRESSIONS: Final = (
    'device.driver == "x.io"',
    'device.attributes["x.io"].model == "h100"',
    'device.attributes["x.io"].model != "l4"',
    'device.attributes["x.io"].numa < 1',
    'device.capacity["x.io"].mem.compareTo(quantity("40Gi")) >= 0',
    'device.attributes["x.io"].model == "H100"',
)
_COUNTED: Final = "count/resourceclaims.resource.k8s.io"
#: What a namespace may be limited to.
_QUOTAS: Final = (
    {"requests.cpu": "1"},
    {"pods": "2"},
    {_COUNTED: "2"},
    {"gpu.deviceclass.resource.k8s.io/devices": "3"},
)
#: What keeps a pod off nodes, or to them, besides devices.
_NEAR: Final = [{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]
_HARD: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_SSD: Final = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
_SPREADS: Final = [
    {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **more}
    for selector in ({"matchLabels": {"app": "db"}}, {"matchLabels": {"app": "new"}})
    for key, more in (
        ("kubernetes.io/hostname", {}),
        ("disk", {}),
        ("kubernetes.io/hostname", {"nodeTaintsPolicy": "Honor"}),
        ("disk", {"nodeAffinityPolicy": "Ignore"}),
    )
]
_WISHES: Final = (
    {"nodeSelector": {"disk": "ssd"}},
    {"nodeSelector": {"disk": "ssd"}},
    {"affinity": {"nodeAffinity": {_HARD: {"nodeSelectorTerms": [_SSD]}}}},
    {"affinity": {"nodeAffinity": {_HARD: {"nodeSelectorTerms": [_SSD]}}, "podAntiAffinity": {_HARD: _NEAR}}},
    {"topologySpreadConstraints": _SPREADS[:1]},
    {"topologySpreadConstraints": _SPREADS[1:2]},
    {"topologySpreadConstraints": _SPREADS[2:3]},
    {"topologySpreadConstraints": _SPREADS[5:6]},
    {"topologySpreadConstraints": [_SPREADS[0], _SPREADS[7]], "nodeSelector": {"disk": "ssd"}},
    {"topologySpreadConstraints": _SPREADS[4:6]},
    {"affinity": {"podAffinity": {_HARD: _NEAR}}},
    {"affinity": {"podAntiAffinity": {_HARD: _NEAR}}},
    {"affinity": {"podAntiAffinity": {_HARD: _NEAR}}},
)
_GATES: Final = ("DRAPartitionableDevices", "DRADeviceTaints", "DRAConsumableCapacity")
#: Whose answers are asked for, in turn; of the last two gates are off of what the cluster has stored.
PROFILES: Final = (
    ("--release", "1.34"),
    ("--release", "1.35", "--gate", "DRAPartitionableDevices=true", "--gate", "DRADeviceTaints=true"),
    ("--release", "1.36"),
    ("--release", "1.37", "--channel", "experimental"),
    ("--release", "1.36", "--semantics", "intended"),
    ("--release", "1.37", "--channel", "experimental", "--semantics", "intended"),
    ("--release", "1.36.0"),
    ("--release", "1.35", *(part for each in _GATES for part in ("--gate", f"{each}=true"))),
    ("--release", "1.35"),
    ("--release", "1.36", *(part for each in _GATES for part in ("--gate", f"{each}=false"))),
)
DUMPED: Final = PROFILES[-2:]


def drawn(seed: int) -> Iterator[Json]:
    """
    Return worlds without end: objects, and the options that say whose answer is wanted.

    Where `dumped`, what the cluster has was stored by a server that knew all of it.
    """
    random = Random(seed)
    for options in _turns():
        yield {
            "options": list(options),
            "dumped": options in DUMPED,
            "objects": Drawing(random, options).objects(),
        }


def _turns() -> Iterator[tuple[str, ...]]:
    while True:
        yield from PROFILES


class Drawing:
    """One random world: what hardware there is, who holds what, and what is asked for."""

    def __init__(self, random: Random, options: tuple[str, ...]) -> None:
        self._random = random
        self._old = options[1] == "1.34"
        self._differs = options in PROFILES[2:]
        often = 0.6 if options in DUMPED else 0.3
        self._shares = self._differs and self._chance(often)
        self._counts = not self._old and self._chance(often)
        self._extended = self._differs and options[1] != "1.35" and self._chance(0.12)
        self._few_values = self._chance(0.7)

    def objects(self) -> list[Json]:
        """Return the manifests."""
        count = self._one((1, 1, 1, 1, 2, 2, 3, 4, 8, 20))
        nodes = [self._node(f"n{number}") for number in range(count)]
        slices = [each for node in nodes for each in self._pool(node["metadata"]["name"], node["metadata"]["name"])]
        if self._chance(0.1):
            slices += self._pool("net", None)
        made = [*nodes, *slices, self._class("gpu"), self._class("any", 0.1)]
        if self._extended:
            made[-2]["spec"]["extendedResourceName"] = RESOURCE
        made += [self._rule(number, slices) for number in range(self._one((0, 0, 0, 0, 0, 1, 2)))]
        made += self._holders(slices)
        made += [self._running(f"p{number}", self._one(nodes)) for number in range(self._one((0, 0, 1, 3)))]
        if self._chance(0.05):
            made.append(namespaced("v1", "ResourceQuota", "quota", {"hard": self._one(_QUOTAS)}))
        claims = [self._claim(f"c{number}", slices) for number in range(self._one((1, 1, 1, 2, 3)))]
        claims = [template(each) if self._chance(0.15) else each for each in claims]
        return [*made, *claims, self._pod(claims)]

    def _one(self, choices: Any) -> Any:
        return self._random.choice(choices)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _node(self, name: str) -> Json:
        spec: Json = {"taints": self._one(_NODE_TAINTS)} if self._chance(0.12) else {}
        if self._chance(0.03):
            spec["unschedulable"] = True
        offered = {"cpu": self._one(("1", "8", "8", "8")), "memory": "16Gi", "pods": "10"}
        meta = {"name": name, "labels": {"kubernetes.io/hostname": name, "disk": self._one(("ssd", "ssd", "hdd"))}}
        return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": {"allocatable": offered}}

    def _pool(self, name: str, node: str | None) -> list[Json]:
        devices = [self._device(f"d{number}") for number in range(self._one((1, 2, 3, 4, 6)))]
        reach: Json = {"allNodes": True} if node is None else {"nodeName": node}
        sets = [{"name": "cs", "counters": {"m": {"value": str(self._one((4, 6, 8)))}}}] if self._counts else []
        parts: list[Json] = [{"devices": devices}]
        if sets:
            parts.append({"sharedCounters": sets})
        incomplete = not self._old and self._chance(0.06)
        pool = {"name": name, "generation": 1, "resourceSliceCount": len(parts) + incomplete}
        return [
            {
                "apiVersion": API,
                "kind": "ResourceSlice",
                "metadata": {"name": f"{name}-{number}"},
                "spec": {"driver": DRIVER, "pool": pool, **reach, **part},
            }
            for number, part in enumerate(parts)
        ]

    def _device(self, name: str) -> Json:
        made: Json = {"name": name, "attributes": {}}
        if self._few_values or self._chance(0.9):
            made["attributes"]["model"] = {"string": self._one(_MODELS[: self._one((1, 2, 3))])}
        if self._chance(0.9):
            made["attributes"]["numa"] = {"int": self._one((0, 1))}
        made["capacity"] = {"mem": {"value": self._one(("20Gi", "40Gi", "80Gi"))}}
        if self._shares and self._chance(0.7):
            made["allowMultipleAllocations"] = True
            if self._chance(0.5):
                policy = self._one(({"validRange": {"min": "1Gi", "step": "1Gi"}}, {"validValues": ["5Gi", "10Gi"]}))
                made["capacity"]["mem"]["requestPolicy"] = {"default": "5Gi", **policy}
        if self._counts and self._chance(0.8):
            drawn_ = [{"counterSet": "cs", "counters": {"m": {"value": str(self._one((1, 2, 3)))}}}]
            made["consumesCounters"] = drawn_
        if self._chance(0.12):
            key, value, effect = self._one(_TAINTS)
            made["taints"] = [{"key": key, "value": value, "effect": effect, "timeAdded": "2026-01-01T00:00:00Z"}]
        return made

    def _class(self, name: str, share: float = 0.6) -> Json:
        expressions = [self._one(_EXPRESSIONS[:3])] if self._chance(share) else []
        spec: Json = {"selectors": [{"cel": {"expression": each}} for each in expressions]}
        return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}

    def _rule(self, number: int, slices: list[Json]) -> Json:
        spec = self._one(slices)["spec"]
        key, value, effect = self._one(_TAINTS)
        selected = {"driver": DRIVER, "pool": spec["pool"]["name"]}
        if spec.get("devices") and self._chance(0.6):
            selected["device"] = self._one(spec["devices"])["name"]
        taint = {"key": key, "value": value, "effect": effect, "timeAdded": "2026-01-01T00:00:00Z"}
        made: Json = {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule"}
        return {**made, "metadata": {"name": f"t{number}"}, "spec": {"deviceSelector": selected, "taint": taint}}

    def _running(self, name: str, node: Json) -> Json:
        used = {"requests": {"cpu": self._one(("100m", "1", "4")), "memory": "1Gi"}}
        container = {"name": "main", "image": "x", "resources": used, "ports": [_PORT] if self._chance(0.2) else []}
        spec = {"nodeName": node["metadata"]["name"], "containers": [container]}
        made = namespaced("v1", "Pod", name, spec)
        made["metadata"]["labels"] = {"app": self._one(("db", "web"))}
        return {**made, "status": {"phase": "Running"}}

    def _holders(self, slices: list[Json]) -> list[Json]:
        places = [(each, device) for each in slices for device in each["spec"].get("devices", ())]
        self._random.shuffle(places)
        taken = places[: round(len(places) * self._one((0, 0.2, 0.4, 0.6)))]
        made: list[Json] = []
        while taken:
            size = self._one((1, 1, 2))
            part, taken = taken[:size], taken[size:]
            made.append(self._holder(f"h{len(made)}", part))
        return made

    def _holder(self, name: str, part: list[tuple[Json, Json]]) -> Json:
        results, requests = [], []
        for number, (each, device) in enumerate(part):
            spec = each["spec"]
            result = {"request": f"r{number}", "driver": DRIVER, "pool": spec["pool"]["name"], "device": device["name"]}
            if device.get("allowMultipleAllocations"):
                result["shareID"] = f"00000000-0000-0000-0000-{self._random.randrange(10**12):012d}"
                result["consumedCapacity"] = {"mem": self._one(("5Gi", "10Gi", "15Gi"))}
            results.append(result)
            requests.append({"name": f"r{number}", "exactly": {"deviceClassName": "any"}})
        made = namespaced(API, "ResourceClaim", name, {"devices": {"requests": requests}})
        made["status"] = {"allocation": {"devices": {"results": results}}}
        return made

    def _claim(self, name: str, slices: list[Json]) -> Json:
        most = max(len(each["spec"].get("devices", ())) for each in slices)
        count = self._one((1, 1, 1, 2))
        requests = [self._request(f"r{number}", most) for number in range(count)]
        named = [each["name"] for each in requests]
        constraints = []
        for share, kind in ((0.35, "matchAttribute"), (0.15 if self._differs else 0.0, "distinctAttribute")):
            if self._chance(share):
                made: Json = {kind: f"x.io/{self._one(('numa', 'numa', 'model'))}"}
                if count > 1 and self._chance(0.3):
                    made["requests"] = [self._one(named)]
                constraints.append(made)
        devices = {"requests": requests, **({"constraints": constraints} if constraints else {})}
        return namespaced(API, "ResourceClaim", name, {"devices": devices})

    def _request(self, name: str, most: int) -> Json:
        if self._chance(0.12):
            subs = [{"name": f"s{number}", **self._ask(most, old=True)} for number in range(2)]
            return {"name": name, "firstAvailable": subs}
        return {"name": name, "exactly": self._ask(most)}

    def _ask(self, most: int, *, old: bool = False) -> Json:
        made: Json = {"deviceClassName": self._one(("gpu", "gpu", "any"))}
        if self._chance(0.15):
            made["allocationMode"] = "All"
        else:
            made["count"] = self._random.randint(1, most + 1)
        if self._chance(0.35):
            made["selectors"] = [{"cel": {"expression": self._one(_EXPRESSIONS[1:])}} for _ in range(self._one((1, 2)))]
        if self._shares and self._chance(0.5):
            made["capacity"] = {"requests": {"mem": self._one(("5Gi", "10Gi", "30Gi", "50Gi"))}}
        if self._chance(0.1):
            key, _, effect = self._one(_TAINTS)
            made["tolerations"] = [{"key": key, "operator": "Exists", "effect": effect}]
        if not old and self._chance(0.03):
            made["adminAccess"] = True
        return made

    def _pod(self, claims: list[Json]) -> Json:
        named = {"ResourceClaim": "resourceClaimName", "ResourceClaimTemplate": "resourceClaimTemplateName"}
        names = [(each["metadata"]["name"], named[each["kind"]]) for each in claims]
        spec: Json = {"resourceClaims": [{"name": name, field: name} for name, field in names]}
        used: Json = {"claims": [{"name": name} for name, _ in names]}
        if self._chance(0.2):
            used["requests"] = {"cpu": self._one(("2", "4500m")), "memory": self._one(("1Gi", "16Gi"))}
        if self._extended:
            used["limits"] = {RESOURCE: self._random.randint(1, 4)}
        ports = [_PORT] if self._chance(0.15) else []
        spec["containers"] = [{"name": "main", "image": "x", "resources": used, "ports": ports}]
        if self._chance(0.2):
            spec |= self._one(_WISHES)
        made = namespaced("v1", "Pod", "pod", spec)
        made["metadata"]["labels"] = {"app": "new"}
        return made


def namespaced(version: str, kind: str, name: str, spec: Json) -> Json:
    meta = {"name": name, "namespace": "ns", "uid": f"u-{name}"}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def template(claim: Json) -> Json:
    """Return a template of which the claim could have been made."""
    return namespaced(API, "ResourceClaimTemplate", claim["metadata"]["name"], {"spec": claim["spec"]})


def asks(devices: Json) -> Iterator[tuple[str, Json]]:
    """Yield the requests of a claim, and the alternatives of one, by their names."""
    for request in devices["requests"]:
        if "exactly" in request:
            yield request["name"], request["exactly"]
        for sub in request.get("firstAvailable", ()):
            yield f"{request['name']}/{sub['name']}", sub
