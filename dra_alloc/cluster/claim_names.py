"""
Claims by their names: which are one and the same, and what those without a name are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.arguments import objects_in
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.errors import InputError
from dra_alloc.problem.requests import claim_name

#: What claims are called that have no generateName either.
_NAMELESS = "claim-"


def asked_claims(given: Iterable[ResourceClaim], argument: str = "claims") -> Sequence[ResourceClaim]:
    """Return a pod's claims with the API server's defaults. Raises: InputError for other things and one claim twice."""
    return defaulted(each_once(objects_in(given, argument, ResourceClaim, "ResourceClaim"), argument))


def each_once(claims: Sequence[ResourceClaim], argument: str) -> Sequence[ResourceClaim]:
    """Return the claims of one pod. Raises: InputError for a name that two of them have."""
    if len(claims) < 2:
        return claims
    first: dict[str, int] = {}
    for number, claim in enumerate(claims):
        name = claim_name(claim)
        if claim.metadata.name and first.setdefault(name, number) != number:
            raise InputError(
                f"{argument} has claim {name} twice, [{first[name]}] and [{number}]",
                hint="a claim is allocated once; claims of one pod differ in name, or have none",
            )
    return claims


def by_name(claims: Iterable[ResourceClaim], taken: Mapping[str, object]) -> dict[str, ResourceClaim]:
    """
    Return the claims by name, of one name the last.

    Claims without a name get one: generateName, or `claim-` without that, and
    a number that makes it a name that no other claim has, these and those
    `taken`; the first one where numbers are taken without a gap. An allocated
    claim that is there several times is one.
    """
    found: dict[str, ResourceClaim] = {}
    nameless: dict[object, ResourceClaim] = {}
    for number, claim in enumerate(claims):
        if claim.metadata.name:
            found[claim_name(claim)] = claim
        else:
            nameless[number if claim.status.allocation is None else (id(claim),)] = claim
    last: dict[str, int] = {}
    for claim in nameless.values():
        base = claim.metadata.generate_name or _NAMELESS
        prefix = f"{claim.metadata.namespace}/{base}" if claim.metadata.namespace else base
        number = last[prefix] = _free(prefix, last.get(prefix, 0), (found, taken))
        found[f"{prefix}{number}"] = claim.replaced(metadata=claim.metadata.replaced(name=f"{base}{number}"))
    return found


def _free(prefix: str, below: int, taken: Sequence[Mapping[str, object]]) -> int:
    """Return a number above `below` that is free, as its predecessor is not; many are passed over at a time."""
    step = 1
    while any(f"{prefix}{below + step}" in names for names in taken):
        step *= 2
    low, high = below + step // 2, below + step
    while high - low > 1:
        middle = (low + high) // 2
        if any(f"{prefix}{middle}" in names for names in taken):
            low = middle
        else:
            high = middle
    return high


def settled(
    pods: Sequence[Sequence[ResourceClaim]], had: Mapping[str, ResourceClaim]
) -> Iterator[tuple[Sequence[ResourceClaim], list[str]]]:
    """
    Yield each pod's claims with their names; a claim that is allocated by then as it is there.

    That is so where the cluster `had` it, or an earlier pod gave it, with an allocation.

    Raises: InputError for a claim that is another than the one that has its name.
    """
    known: dict[str, ResourceClaim] = {}
    for pod, claims in enumerate(pods):
        names: list[str] = []
        replaced: dict[int, ResourceClaim] = {}
        for number, claim in enumerate(claims):
            name = claim_name(claim)
            names.append(name)
            if not claim.metadata.name:
                continue
            before = known.get(name)
            if before is None:
                before = had.get(name)
                if before is None or before.status.allocation is None or claim.status.allocation is not None:
                    known[name] = claim
                    continue
                known[name] = before
            if before is claim:
                continue
            if before.spec is not claim.spec and defaulted([before])[0].spec != claim.spec:
                raise _another(name, pods, (pod, number))
            if claim.status.allocation is None and before.status.allocation is not None:
                replaced[number] = before
        yield [replaced.get(number, claim) for number, claim in enumerate(claims)] if replaced else claims, names


def _another(name: str, pods: Sequence[Sequence[ResourceClaim]], place: tuple[int, int]) -> InputError:
    """Return the error for a claim that is not the one of its name."""
    places = (
        (pod, number)
        for pod, claims in enumerate(pods)
        for number, claim in enumerate(claims)
        if claim.metadata.name and claim_name(claim) == name
    )
    first = next(places)
    where = "pods[{}][{}]".format
    if first == place:
        return InputError(
            f"{where(*place)}: claim {name} is allocated in the cluster, with another spec",
            hint="take it out by without_claims first, or give the new claim its own name",
        )
    return InputError(
        f"{where(*place)}: claim {name} has another spec than {where(*first)}",
        hint="pods that share a claim name the same claim; other claims need their own names",
    )
