"""
Random pod templates: what they ask of a node, and where they want to be.
"""

from __future__ import annotations

from typing import Final

from fuzz.plane.drawing.nodes import PLUGIN
from fuzz.plane.drawing.sketch import HOSTNAME, ZONE, Json, Sketch

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_LARGE: Final = ("100m", "250m", "500m", "1", "1500m", "2")
#: So little that something else decides.
_SMALL: Final = ("10m", "50m", "100m", "250m")
_KEYS: Final = (HOSTNAME, ZONE, ZONE)


def draw_pod(sketch: Sketch, app: str) -> Json:
    """Return labels and spec of a pod template."""
    cpus = _LARGE if sketch.may("large") or sketch.draw.chance(0.3) else _SMALL
    containers = [_container(sketch, f"c{index}", sketch.one(cpus)) for index in range(sketch.one((1, 1, 1, 2)))]
    spec: Json = {"containers": containers}
    if sketch.has("init"):
        spec["initContainers"] = [_init(sketch, index) for index in range(sketch.one((1, 1, 2)))]
    if sketch.has("podlevel"):
        spec["resources"] = {"requests": _amounts(sketch, sketch.one(("2", "3"))), "limits": {"cpu": "4"}}
        for each in containers:
            each["resources"]["requests"] = {"cpu": "500m", "memory": "64Mi"}
        spec["resources"]["requests"]["memory"] = sketch.one(("1Gi", "2Gi"))
    if sketch.has("overhead"):
        spec["runtimeClassName"] = "heavy"
    if sketch.has("ports"):
        containers[0]["ports"] = [_port(sketch)]
        if sketch.draw.chance(0.2):
            spec["hostNetwork"] = True
            containers[0]["ports"][0] |= {"containerPort": containers[0]["ports"][0]["hostPort"]}
    if sketch.has("gates"):
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    if sketch.has("priority"):
        spec["priorityClassName"] = sketch.one(("high", "low"))
    _place(sketch, spec)
    _neighbours(sketch, spec, app)
    return {"metadata": {"labels": {"app": app, "tier": sketch.one(("web", "db"))}}, "spec": spec}


def _container(sketch: Sketch, name: str, cpu: str) -> Json:
    resources: Json = {"requests": _amounts(sketch, cpu)}
    if sketch.draw.chance(0.1):
        resources = {} if sketch.draw.chance(0.5) else {"limits": resources["requests"]}
    if sketch.has("storage"):
        resources.setdefault("requests", {})["ephemeral-storage"] = sketch.one(("2Gi", "6Gi", "11Gi"))
    if sketch.has("hugepages"):
        resources.setdefault("limits", {})["hugepages-2Mi"] = sketch.one(("256Mi", "512Mi"))
        resources.setdefault("requests", {}).setdefault("cpu", "100m")
    if sketch.has("plugin"):
        resources.setdefault("limits", {})[PLUGIN] = sketch.one(("1", "2"))
    return {"name": name, "image": "x", "resources": resources}


def _amounts(sketch: Sketch, cpu: str) -> Json:
    memories = ("64Mi", "128Mi") if cpu in _SMALL else ("64Mi", "256Mi", "1Gi", "2Gi", "3Gi")
    found = {"cpu": cpu, "memory": sketch.one(memories)}
    if sketch.draw.chance(0.1):
        del found[sketch.one(("cpu", "memory"))]
    return found


def _init(sketch: Sketch, index: int) -> Json:
    resources = {"requests": _amounts(sketch, sketch.one(("500m", "1", "3")))}
    made: Json = {"name": f"i{index}", "image": "x", "resources": resources}
    if sketch.draw.chance(0.5):
        made["restartPolicy"] = "Always"
    return made


def _port(sketch: Sketch) -> Json:
    port: Json = {"containerPort": 80, "hostPort": sketch.one((8080, 8080, 9090))}
    if sketch.draw.chance(0.3):
        port["hostIP"] = sketch.one(("127.0.0.1", "10.0.0.1"))
    if sketch.draw.chance(0.2):
        port["protocol"] = "UDP"
    return port


def _place(sketch: Sketch, spec: Json) -> None:
    """Tolerations, selectors and affinity to nodes."""
    if sketch.has("taints") or sketch.has("cordon"):
        spec["tolerations"] = [_toleration(sketch) for _ in range(sketch.one((1, 1, 2)))]
    if sketch.has("selector"):
        spec["nodeSelector"] = sketch.one(({"disk": "ssd"}, {ZONE: "a"}, {"disk": "hdd", ZONE: "b"}, {"gen": "3"}))
    affinity: Json = {}
    if sketch.has("affinity"):
        terms = [_term(sketch) for _ in range(sketch.one((1, 1, 2)))]
        affinity[REQUIRED] = {"nodeSelectorTerms": terms}
    if sketch.has("preferred"):
        affinity[PREFERRED] = [{"weight": sketch.one((1, 20, 80)), "preference": _term(sketch)} for _ in range(2)]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}


def _toleration(sketch: Sketch) -> Json:
    return dict(
        sketch.one(
            (
                {"key": "dedicated", "operator": "Exists"},
                {"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
                {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"},
                {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "slow", "value": "yes"},
                {"operator": "Exists"},
            )
        )
    )


def _term(sketch: Sketch) -> Json:
    if sketch.draw.chance(0.1):
        name = {"key": "metadata.name", "operator": "In", "values": [sketch.node_name()]}
        return {"matchFields": [name]}
    return {"matchExpressions": [_expression(sketch) for _ in range(sketch.one((1, 1, 2)))]}


def _expression(sketch: Sketch) -> Json:
    return dict(
        sketch.one(
            (
                {"key": ZONE, "operator": "In", "values": ["a", "b"]},
                {"key": ZONE, "operator": "NotIn", "values": ["a"]},
                {"key": "disk", "operator": "Exists"},
                {"key": "disk", "operator": "DoesNotExist"},
                {"key": "gen", "operator": "Gt", "values": ["2"]},
                {"key": "gen", "operator": "Lt", "values": ["4"]},
                {"key": "disk", "operator": "NotIn", "values": ["hdd"]},
            )
        )
    )


def _neighbours(sketch: Sketch, spec: Json, app: str) -> None:
    """Affinity to and from other pods, and spreading."""
    affinity = spec.get("affinity", {})
    for feature, key in (("anti-affinity", "podAntiAffinity"), ("pod-affinity", "podAffinity")):
        found: Json = {}
        if sketch.has(feature):
            found[REQUIRED] = [_pod_term(sketch, app)]
        if sketch.has(f"preferred-{feature}"):
            found[PREFERRED] = [{"weight": sketch.one((5, 50, 100)), "podAffinityTerm": _pod_term(sketch, app)}]
        if found:
            affinity[key] = found
    if affinity:
        spec["affinity"] = affinity
    if sketch.has("spread"):
        spec["topologySpreadConstraints"] = [_spread(sketch, app, key) for key in _spread_keys(sketch)]


def _pod_term(sketch: Sketch, app: str) -> Json:
    name = sketch.one([app, app, *sketch.apps, "old"])
    selector: Json = {"matchLabels": {"app": name}}
    if sketch.draw.chance(0.2):
        selector = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["web"]}]}
    term: Json = {"topologyKey": sketch.one(_KEYS), "labelSelector": selector}
    if sketch.draw.chance(0.1):
        term["namespaceSelector"] = sketch.one(({}, {"matchLabels": {"team": "red"}}))
    if sketch.draw.chance(0.1):
        term["namespaces"] = [sketch.one((sketch.namespace, sketch.neighbour))]
    if sketch.draw.chance(0.1):
        term[sketch.one(("matchLabelKeys", "mismatchLabelKeys"))] = ["tier"]
    return term


def _spread_keys(sketch: Sketch) -> list[str]:
    return sketch.one(([HOSTNAME], [ZONE], [ZONE], [ZONE, HOSTNAME]))


def _spread(sketch: Sketch, app: str, key: str) -> Json:
    found: Json = {
        "maxSkew": sketch.one((1, 1, 2)),
        "topologyKey": key,
        "whenUnsatisfiable": sketch.one(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": {"matchLabels": {"app": app} if sketch.draw.chance(0.8) else {"tier": "web"}},
    }
    if found["whenUnsatisfiable"] == "DoNotSchedule" and sketch.draw.chance(0.2):
        found["minDomains"] = sketch.one((2, 3))
    if sketch.draw.chance(0.2):
        found["nodeAffinityPolicy"] = sketch.one(("Honor", "Ignore"))
    if sketch.draw.chance(0.2):
        found["nodeTaintsPolicy"] = sketch.one(("Honor", "Ignore"))
    if sketch.draw.chance(0.2):
        found["matchLabelKeys"] = [sketch.one(("pod-template-hash", "controller-revision-hash"))]
    return found
