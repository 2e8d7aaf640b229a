"""
Random devices: slices, classes, claims and templates, and what was allocated before.
"""

from __future__ import annotations

from typing import Final

from fuzz.plane.drawing.sketch import DRIVER, EXTENDED, RESOURCES, Json, Sketch

#: What every class stands for without saying so.
_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/big"
_BIG: Final = f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('20Gi'))"
_MODELS: Final = ("a", "b")
#: Of a claim that is allocated.
_KEPT: Final = "resource.kubernetes.io/delete-protection"


def draw_devices(sketch: Sketch) -> None:
    """Add device classes and the slices of the nodes, and one that several nodes reach."""
    if not sketch.may("devices"):
        return
    mine = {"cel": {"expression": f"device.driver == '{DRIVER}'"}}
    gpu: Json = {"selectors": [mine]}
    if sketch.may("extended"):
        gpu["extendedResourceName"] = EXTENDED
    big = {"selectors": [mine, {"cel": {"expression": _BIG}}]}
    for name, spec in (("gpu", gpu), ("big", big)):
        sketch.cluster.append(
            {"apiVersion": RESOURCES, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}
        )
    for node in sketch.nodes:
        if sketch.draw.chance(0.9):
            _node_pool(sketch, node["metadata"]["name"])
    if sketch.has("network"):
        _network_pool(sketch)


def _node_pool(sketch: Sketch, node: str) -> None:
    if sketch.has("counters"):
        _partitioned(sketch, node)
        return
    devices = [_device(sketch, index) for index in range(sketch.one((0, 1, 2, 2, 3, 4)))]
    if not sketch.has("pools"):
        _slice(sketch, node, {"nodeName": node, "devices": devices})
        return
    # In two slices, of which the second may be missing, or in one that is older than the next.
    half = len(devices) // 2
    old = sketch.draw.chance(0.3)
    for number, part in enumerate((devices[:half], devices[half:])):
        if number == 0 or sketch.draw.chance(0.8):
            of_pool = {"generation": 1 + number} if old else {"resourceSliceCount": 2}
            _slice(sketch, node, {"nodeName": node, "devices": part}, f"{node}-{number}", **of_pool)


def _slice(sketch: Sketch, pool: str, spec: Json, name: str = "", **of_pool: int) -> None:
    whole = {
        "driver": DRIVER,
        "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1, **of_pool},
        **spec,
    }
    meta = {"name": name or f"{pool}-gpu"}
    sketch.cluster.append({"apiVersion": RESOURCES, "kind": "ResourceSlice", "metadata": meta, "spec": whole})


def _device(sketch: Sketch, index: int) -> Json:
    memory: Json = {"value": sketch.one(("16Gi", "40Gi", "80Gi"))}
    found: Json = {
        "name": f"d{index}",
        "attributes": {"model": {"string": sketch.one(_MODELS)}, "numa": {"int": sketch.draw.integer(0, 1)}},
        "capacity": {"memory": memory},
    }
    if sketch.has("shares"):
        found["allowMultipleAllocations"] = True
        memory["requestPolicy"] = {"default": "8Gi", "validRange": {"min": "4Gi", "step": "4Gi"}}
    if sketch.has("device-taints"):
        found["taints"] = [{"key": "sick", "value": "yes", "effect": sketch.one(("NoSchedule", "NoExecute"))}]
    if sketch.has("node-resources"):
        found["nodeAllocatableResources"] = _node_resources(sketch, shared="allowMultipleAllocations" in found)
    return found


def _node_resources(sketch: Sketch, *, shared: bool) -> Json:
    """Return what a device takes of its node; a share of it in part, which no device does that is taken whole."""
    found: Json = {}
    if sketch.draw.chance(0.6):
        found["cpu"] = {"mapping": {"deviceMultiplier": sketch.one(("250m", "1", "2", "3", "1500u"))}}
    if sketch.draw.chance(0.4) or not found:
        found["memory"] = {"overhead": {sketch.one(("perPod", "perContainer")): sketch.one(("512Mi", "1Gi", "3Gi"))}}
    if shared or sketch.draw.chance(0.03):
        key = {"capacityKey": "memory", "capacityMultiplier": sketch.one(("1", "500m", "2"))}
        found.setdefault("memory", {})["mapping"] = key
    if sketch.has("hugepages"):
        found["hugepages-2Mi"] = {"overhead": {"perPod": "128Mi", "perContainer": "64Mi"}}
    return found


def _partitioned(sketch: Sketch, node: str) -> None:
    """One device whole, in halves and in quarters; their sum is bounded by counters."""
    counters = [{"name": "set", "counters": {"memory": {"value": "80Gi"}, "engines": {"value": "8"}}}]
    devices = []
    for part, memory, engines, count in (
        ("whole", "80Gi", "8", 1),
        ("half", "40Gi", "4", 2),
        ("quarter", "20Gi", "2", 3),
    ):
        for index in range(count):
            uses = {"memory": {"value": memory}, "engines": {"value": engines}}
            devices.append(
                {
                    "name": f"{part}-{index}",
                    "attributes": {"model": {"string": part}, "numa": {"int": 0}},
                    "capacity": {"memory": {"value": memory}},
                    "consumesCounters": [{"counterSet": "set", "counters": uses}],
                }
            )
    devices = sketch.draw.sample(devices, len(devices)) if sketch.draw.chance(0.3) else devices
    _slice(sketch, node, {"nodeName": node, "sharedCounters": counters}, f"{node}-counters", resourceSliceCount=2)
    _slice(sketch, node, {"nodeName": node, "devices": devices}, f"{node}-parts", resourceSliceCount=2)


def _network_pool(sketch: Sketch) -> None:
    devices = [_device(sketch, index) for index in range(sketch.one((1, 2, 3)))]
    where: Json = {"allNodes": True}
    if sketch.draw.chance(0.6):
        key = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [sketch.one("abc")]}
        where = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [key]}]}}
    _slice(sketch, "fabric", {**where, "devices": devices})


def _claim_spec(sketch: Sketch) -> Json:
    """Return the spec of a claim with one or two requests."""
    names = ["r0"] if sketch.draw.chance(0.75) else ["r0", "r1"]
    devices: Json = {"requests": [_request(sketch, name) for name in names]}
    if sketch.has("match") or (len(names) > 1 and sketch.draw.chance(0.3)):
        which = "distinctAttribute" if sketch.may("shares") and sketch.draw.chance(0.3) else "matchAttribute"
        devices["constraints"] = [{"requests": names, which: f"{DRIVER}/{sketch.one(('model', 'numa'))}"}]
    return {"devices": devices}


def _request(sketch: Sketch, name: str) -> Json:
    if sketch.has("alternatives"):
        return {"name": name, "firstAvailable": [_exactly(sketch, f"s{index}") for index in range(2)]}
    exactly = _exactly(sketch, "")
    del exactly["name"]
    if sketch.has("admin"):
        exactly["adminAccess"] = True
    return {"name": name, "exactly": exactly}


def _exactly(sketch: Sketch, name: str) -> Json:
    found: Json = {"name": name, "deviceClassName": sketch.one(("gpu", "gpu", "big"))}
    if sketch.has("all-mode"):
        found["allocationMode"] = "All"
    else:
        found["count"] = sketch.one((1, 1, 1, 2))
    if sketch.draw.chance(0.3):
        model = sketch.one((*_MODELS, "half", "quarter")) if sketch.may("counters") else sketch.one(_MODELS)
        found["selectors"] = [{"cel": {"expression": f"device.attributes['{DRIVER}'].model == '{model}'"}}]
    if sketch.may("shares") and sketch.draw.chance(0.7):
        found["capacity"] = {"requests": {"memory": sketch.one(("4Gi", "10Gi", "30Gi"))}}
    if sketch.may("device-taints") and sketch.draw.chance(0.4):
        found["tolerations"] = [{"key": "sick", "operator": "Exists"}]
    return found


def draw_prepared_claims(sketch: Sketch) -> None:
    """Add templates, claims to share, and claims that pods hold already."""
    if not sketch.may("devices"):
        return
    for index in range(3):
        sketch.prepare.append(
            {
                "apiVersion": RESOURCES,
                "kind": "ResourceClaimTemplate",
                "metadata": sketch.meta(f"t{index}"),
                "spec": {"spec": _claim_spec(sketch)},
            }
        )
    if sketch.may("shared"):
        for index in range(2):
            claim = {"apiVersion": RESOURCES, "kind": "ResourceClaim", "metadata": sketch.meta(f"shared-{index}")}
            sketch.prepare.append({**claim, "spec": _claim_spec(sketch)})
    if sketch.may("bound"):
        _held(sketch)


def _held(sketch: Sketch) -> None:
    """Claims of pods that run already, with the first devices of their node's pool."""
    of_namespace = [each for each in sketch.cluster if each["metadata"].get("namespace") == sketch.namespace]
    pods = [each for each in of_namespace if each["kind"] == "Pod"]
    left = {
        each["spec"]["nodeName"]: list(each["spec"]["devices"])
        for each in sketch.cluster
        if each["kind"] == "ResourceSlice" and each["spec"].get("devices") and "nodeName" in each["spec"]
    }
    for pod in pods:
        node, name = pod["spec"]["nodeName"], pod["metadata"]["name"]
        if not left.get(node) or sketch.draw.chance(0.4):
            continue
        device = left[node].pop(0)
        if device.get("allowMultipleAllocations") or device.get("consumesCounters"):
            continue
        pod["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": f"{name}-g"}]
        pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "g"}]
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        result = {"request": "r", "driver": DRIVER, "pool": node, "device": device["name"]}
        # Schedulers before 1.36 leave it out.
        dated = {"allocationTimestamp": "2026-01-01T00:00:00Z"} if sketch.draw.chance(0.5) else {}
        sketch.cluster.append(
            {
                "apiVersion": RESOURCES,
                "kind": "ResourceClaim",
                "metadata": sketch.meta(f"{name}-g", finalizers=[_KEPT]),
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
                "status": {
                    "allocation": {
                        "devices": {"results": [result]},
                        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
                        **dated,
                    },
                    "reservedFor": [{"resource": "pods", "name": name, "uid": pod["metadata"]["uid"]}],
                },
            }
        )


def _extended(sketch: Sketch, spec: Json) -> None:
    """Let one or two containers ask for devices by the name of a resource."""
    containers = [*spec.get("initContainers", ()), *spec["containers"]]
    for container in sketch.draw.sample(containers, 1 if sketch.draw.chance(0.7) else min(2, len(containers))):
        name = sketch.one((EXTENDED, EXTENDED, EXTENDED, _IMPLICIT))
        container["resources"].setdefault("limits", {})[name] = sketch.one(("1", "1", "2"))


def draw_claim_of(sketch: Sketch, pod: Json) -> None:
    """Let a pod ask for devices: by template, a shared claim, or an extended resource."""
    container = pod["spec"]["containers"][0]
    if sketch.has("extended"):
        _extended(sketch, pod["spec"])
        if sketch.draw.chance(0.6):
            return
    if not sketch.has("devices"):
        return
    claims: list[Json] = []
    held = [each["metadata"]["name"] for each in sketch.cluster if each["kind"] == "ResourceClaim"]
    if held and sketch.has("joined"):
        claims.append({"name": "held", "resourceClaimName": sketch.one(held)})
    for index in range(sketch.one((1, 1, 1, 2)) if not claims else 0):
        name = f"g{index}"
        if sketch.has("shared"):
            claims.append({"name": name, "resourceClaimName": sketch.one(("shared-0", "shared-1"))})
        else:
            claims.append({"name": name, "resourceClaimTemplateName": sketch.one(("t0", "t1", "t2"))})
    if len({each.get("resourceClaimName") for each in claims}) < len(claims) and "resourceClaimName" in claims[0]:
        claims = claims[:1]
    pod["spec"]["resourceClaims"] = claims
    container["resources"]["claims"] = [{"name": each["name"]} for each in claims]
