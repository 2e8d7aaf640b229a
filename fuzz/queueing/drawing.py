"""
Random questions of the harness's op `rule` that upstream's own code can be asked, too.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

Json = dict[str, Any]
_CLASSES: Final = ("gpu.example.com", "mig.example.com", "nic.example.com", "part.example.com")
_IMPLICIT: Final = "requests.deviceclass.resource.kubernetes.io/"
_WEIGHTS: Final = (0, 0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 7, 1000)


def quota_tree(random: Random) -> Json:
    """Return a tree of Kueue's queues and cohorts with what is used, and requests, of one flavor."""
    resources = ("gpus", "memory", "nics")[: random.randint(1, 3)]
    large = random.random() < 0.1
    cohorts = [f"cohort-{number}" for number in range(random.randint(0, 4))]
    nodes = []
    for number, name in enumerate(cohorts):
        above = random.choice(["", *cohorts[:number]]) if number else ""
        nodes.append(_node(random, name, above, resources, large=large) | {"Cohort": True})
    queues = [f"queue-{number}" for number in range(random.randint(1, 5))]
    for name in queues:
        above = random.choice(cohorts) if cohorts and random.random() < 0.9 else ""
        node = _node(random, name, above, resources, large=large)
        used = {each: _amount(random, large=large) for each in resources if random.random() < 0.7}
        # What a queue has no quota of it cannot have in use.
        node["Usage"] = {
            each: used[each] for each in used if any(quota["Resource"] == each for quota in node["Quotas"])
        }
        nodes.append(node)
    asked = [
        {
            "Queue": random.choice(queues),
            "Flavor": "f",
            "Resource": random.choice(resources),
            "Amount": _amount(random, large=large),
        }
        for _ in range(random.randint(1, 4))
    ]
    random.shuffle(nodes)
    return {"Nodes": nodes, "Requests": asked}


def _node(random: Random, name: str, parent: str, resources: tuple[str, ...], *, large: bool) -> Json:
    quotas = []
    for each in resources:
        if random.random() < 0.8:
            quota: Json = {"Flavor": "f", "Resource": each, "Nominal": _amount(random, large=large)}
            for limit in ("Borrowing", "Lending"):
                if parent and random.random() < 0.4:
                    quota[limit] = _amount(random, large=large)
            quotas.append(quota)
    weight = {"Weight": random.choice(_WEIGHTS)} if random.random() < 0.5 else {}
    return {"Name": name, "Parent": parent, "Cohort": False, "Quotas": quotas, **weight}


def _amount(random: Random, *, large: bool) -> int:
    if large and random.random() < 0.5:
        return random.randint(0, 2**40)
    return random.choice((0, 1, random.randint(0, 12), random.randint(0, 60)))


def device_charge(random: Random) -> Json:
    """
    Return a pod with claims from templates, and mappings of classes: by the number of devices, as every Kueue charges.

    A template has one fault at most: which of several is told first is not the same in all releases.
    """
    classes = random.sample(_CLASSES, len(_CLASSES))
    cut = sorted(random.sample(range(1, len(classes) + 1), random.randint(1, 3)))
    mapped = [classes[start:end] for start, end in zip((0, *cut), cut, strict=False)]
    mappings = [{"name": f"resource-{n}", "deviceClassNames": names} for n, names in enumerate(mapped)]
    known = [name for names in mapped for name in names]
    templates: list[Json] = []
    for number in range(random.randint(1, 3)):
        requests = [_exact(random, f"r{n}", random.choice(known)) for n in range(random.randint(1, 3))]
        if random.random() < 0.25:
            requests[random.randrange(len(requests))] = _refused(random, classes, known)
        for position, each in enumerate(requests):
            each["name"] = f"r{position}"
        meta = {"name": f"t{number}", "namespace": "ns"}
        templates.append({"metadata": meta, "spec": {"spec": {"devices": {"requests": requests}}}})
    names = [each["metadata"]["name"] for each in templates]
    if random.random() < 0.1:
        names.append("missing")
    return {
        "deviceClassMappings": mappings,
        "deviceClasses": [{"metadata": {"name": name}, "spec": {}} for name in classes],
        "resourceClaimTemplates": templates,
        "resourceSlices": [],
        "podResourceClaimTemplateNames": [random.choice(names) for _ in range(random.randint(0, 4))],
    }


def _exact(random: Random, name: str, device_class: str) -> Json:
    count = random.choice((1, 2, random.randint(1, 40)))
    return {"name": name, "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}}


def _refused(random: Random, classes: list[str], known: list[str]) -> Json:
    """Return a request that Kueue cannot charge: alternatives, all devices, or a class that is not mapped."""
    alternative = {"name": "a", "deviceClassName": known[0], "allocationMode": "ExactCount", "count": 1}
    unmapped = [each for each in classes if each not in known] or ["other.example.com"]
    return random.choice(
        (
            {"name": "r", "firstAvailable": [alternative]},
            {"name": "r", "exactly": {"deviceClassName": known[0], "allocationMode": "All"}},
            _exact(random, "r", random.choice(unmapped)),
        )
    )


def claim_usage(random: Random) -> Json:
    """Return a claim, what classes are called as extended resources, and what its pod has paid."""
    requests: list[Json] = []
    for number in range(random.randint(0, 4)):
        if random.random() < 0.6:
            asked = _asked(random)
            if random.random() < 0.2:
                asked["adminAccess"] = True
            requests.append({"name": f"r{number}", "exactly": asked})
        else:
            below = [{"name": f"s{n}", **_asked(random)} for n in range(random.randint(1, 4))]
            requests.append({"name": f"r{number}", "firstAvailable": below})
    meta = {"name": "claim", "namespace": "ns"}
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    named = {each: f"example.com/{each.partition('.')[0]}" for each in _CLASSES if random.random() < 0.5}
    keys = [f"{_IMPLICIT}{each}" for each in _CLASSES] + [f"requests.{each}" for each in named.values()]
    on = random.random() < 0.8
    paid = {key: str(random.randint(0, 40)) for key in random.sample(keys, random.randint(0, 3))} if on else {}
    return {
        "claim": {**kind, "metadata": meta, "spec": {"devices": {"requests": requests}}},
        "extendedResourceNames": named,
        "podUsage": paid,
        "draExtendedResource": on,
    }


def _asked(random: Random) -> Json:
    of_class = {"deviceClassName": random.choice(_CLASSES)}
    if random.random() < 0.2:
        return {**of_class, "allocationMode": "All"}
    return {**of_class, "allocationMode": "ExactCount", "count": random.choice((1, random.randint(1, 40)))}
