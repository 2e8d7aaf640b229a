"""
The volumes that pods claim: what is known of them, what lets a pod wait, and the nodes that can use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import FrozenMap, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from dra_alloc.api.labels import selector_of
from dra_alloc.manifest import Documents
from dra_alloc.pods.objections import Objection
from dra_alloc.problem.nodes import takes_node

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT: Final = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_MODE: Final = "Filesystem"
_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
_AFFINITY: Final = "node(s) didn't match PersistentVolume's node affinity"
_ZONE: Final = "node(s) had no available volume zone"
_NONE: Final = "node(s) didn't find available persistent volumes to bind"
_OLD: Final = "failure-domain.beta.kubernetes.io/"
#: Labels of where a volume is, and those that newer nodes have for them.
_PLACES: Final = {
    **{each: each for each in ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")},
    **{f"{_OLD}{each}": f"topology.kubernetes.io/{each}" for each in ("zone", "region")},
}
_ATTACHED: Final = "how many volumes its node can attach, and whether they can be provisioned there, is not looked at"


def claims_of(pod: Pod) -> tuple[str, ...]:
    """Return the full names of the volume claims that a pod names."""
    namespace = pod.metadata.namespace or ""
    named = [each.persistent_volume_claim for each in pod.spec.volumes if each.persistent_volume_claim is not None]
    return tuple([f"{namespace}/{each.claim_name}" if namespace else each.claim_name for each in named])


@dataclass(frozen=True, slots=True)
class Volumes:
    """
    Volumes, their claims by full name, and their classes.

    A dump with any of the three has all claims; one with volumes or classes has all of these, too.
    What was applied and never stored has no uid, and says nothing of what else is there.
    """

    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=FrozenMap)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=FrozenMap)
    classes: Mapping[str, StorageClass] = field(default_factory=FrozenMap)
    all_claims: bool = False
    all_volumes: bool = False

    @classmethod
    def of(cls, documents: Documents) -> Volumes:
        """Return what documents say."""
        claims, volumes, classes = documents.volume_claims, documents.volumes, documents.storage_classes
        if not (claims or volumes or classes):
            return NO_VOLUMES
        of_cluster = any(each.metadata.uid for each in volumes) or any(each.metadata.uid for each in classes)
        return cls(
            FrozenMap({each.metadata.full_name: each for each in claims}),
            FrozenMap({each.metadata.name or "": each for each in volumes}),
            FrozenMap({each.metadata.name or "": each for each in classes}),
            of_cluster or any(each.metadata.uid for each in claims),
            of_cluster,
        )

    @property
    def objects(self) -> tuple[object, ...]:
        """All that is known."""
        return (*self.claims.values(), *self.volumes.values(), *self.classes.values())

    def against(self, pod: Pod) -> Objection | None:
        """Return what lets the pod wait, whatever the node. Spec: VOLUME-1, VOLUME-2."""
        for full_name in claims_of(pod):
            claim, name = self.claims.get(full_name), full_name.rpartition("/")[2]
            said = f'persistentvolumeclaim "{name}"'
            if claim is None:
                if self.all_claims:
                    return Objection("volume-missing", (f"{said} not found",))
                continue
            volume = claim.spec.volume_name or ""
            lost = self.all_volumes and _is_bound(claim) and volume not in self.volumes
            if lost or claim.status.phase == "Lost":
                return Objection("volume-missing", (f'{said} bound to non-existent persistentvolume "{volume}"',))
            if claim.metadata.deletion_timestamp is not None:
                return Objection("volume-missing", (f"{said} is being deleted",))
        for full_name in claims_of(pod):
            claim = self.claims.get(full_name)
            if claim is not None and not self._waits_for_pod(claim) and self._could_have(claim) == ():
                return Objection("volume-unbound", (_UNBOUND,), f"nothing that is there can be bound to {full_name}")
        return None

    def on_nodes(self, pod: Pod) -> Callable[[Node], Objection | None]:
        """
        Return what tells why the pod's volumes cannot be used on a node; which it could have is worked out once.

        Spec: VOLUME-3 to VOLUME-5.
        """
        claims = [(name, self.claims[name]) for name in claims_of(pod) if name in self.claims]
        asked = [(name, _is_bound(claim), self._could_have(claim)) for name, claim in claims]

        def on_node(node: Node) -> Objection | None:
            zones: Objection | None = None
            for name, bound, volumes in asked:
                if volumes is None:
                    continue
                near = [each for each in volumes if _takes(each, node)]
                if not near:
                    names = ", ".join([each.metadata.name or "" for each in volumes])
                    other = f"volume {names} of {name} is for other nodes"
                    wants = other if volumes else f"no volume is left for {name}"
                    return Objection("node-volumes", (_AFFINITY if bound else _NONE,), wants)
                if zones is None and bound:
                    zones = _zone_objection(near[0], node)
            return zones

        return on_node

    def notes(self, pod: Pod) -> Iterator[str]:
        """Yield what of the pod's volumes is not known and could change the answer."""
        names = claims_of(pod)
        for name in names:
            claim = self.claims.get(name)
            if claim is None:
                yield f"PersistentVolumeClaim {name} is not among the files: without it the pod waits"
            elif not _is_bound(claim):
                yield f"PersistentVolumeClaim {name} is not bound yet: until it is, the pod waits, or its binding fails"
            elif claim.spec.volume_name not in self.volumes:
                yield f"PersistentVolume {claim.spec.volume_name} is not among the files: it may leave fewer nodes"
        if names or any(each.ephemeral for each in pod.spec.volumes):
            yield f"volumes of the pod: {_ATTACHED}"

    def used_by_one(self, pod: Pod) -> tuple[str, ...]:
        """Return the claims of the pod that one pod alone can use."""
        known = [self.claims[name] for name in claims_of(pod) if name in self.claims]
        return tuple([each.metadata.full_name for each in known if "ReadWriteOncePod" in each.spec.access_modes])

    def _could_have(self, claim: PersistentVolumeClaim) -> tuple[PersistentVolume, ...] | None:
        """Return the volumes of which the claim has or gets one; None where that is not known, or one can be made."""
        wanted = claim.spec.volume_name
        if _is_bound(claim):
            volume = self.volumes.get(wanted or "")
            return None if volume is None else (volume,)
        if not self.all_volumes:
            return None
        name = self._class_of(claim)
        found = self.classes.get(name)
        if found is not None and found.provisioner != _NO_PROVISIONER and not wanted:
            return None
        given = [each for each in self.volumes.values() if not wanted or each.metadata.name == wanted]
        return tuple([each for each in given if _could_bind(claim, name, each)])

    def _waits_for_pod(self, claim: PersistentVolumeClaim) -> bool:
        found = self.classes.get(self._class_of(claim))
        late = found is not None and found.volume_binding_mode == "WaitForFirstConsumer"
        return _is_bound(claim) or (late and not claim.spec.volume_name)

    def _class_of(self, claim: PersistentVolumeClaim) -> str:
        given = claim.metadata.annotations.get(_CLASS, claim.spec.storage_class_name)
        if given is not None:
            return given
        said = [(each.metadata.annotations, each) for each in self.classes.values()]
        default = [each for annotations, each in said if "true" in map(annotations.get, _DEFAULT)]
        newest = max(default, key=lambda each: each.metadata.creation_timestamp or "", default=None)
        return "" if newest is None else newest.metadata.name or ""


NO_VOLUMES: Final = Volumes()


def _is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and _BOUND in claim.metadata.annotations


def _could_bind(claim: PersistentVolumeClaim, class_name: str, volume: PersistentVolume) -> bool:
    """Return whether nothing that is said of a volume keeps it from a claim without one."""
    has, wants, kept = volume.spec, claim.spec, volume.spec.claim_ref
    if volume.metadata.deletion_timestamp is not None or (has.volume_mode or _MODE) != (wants.volume_mode or _MODE):
        return False
    asked, offered = wants.resources.requests.get("storage"), has.capacity.get("storage")
    if asked is not None and (offered is None or offered < asked):
        return False
    if kept is not None:
        meta = claim.metadata
        named = (kept.namespace, kept.name) == (meta.namespace or "", meta.name)
        return named and (not kept.uid or kept.uid == meta.uid)
    chosen = wants.selector is None or selector_of(wants.selector).matches(volume.metadata.labels)
    return chosen and (has.storage_class_name or "") == class_name and set(wants.access_modes) <= set(has.access_modes)


def _takes(volume: PersistentVolume, node: Node) -> bool:
    affinity = volume.spec.node_affinity
    return affinity is None or affinity.required is None or takes_node(affinity.required, node)


def _zone_objection(volume: PersistentVolume, node: Node) -> Objection | None:
    there = node.metadata.labels
    if _PLACES.keys().isdisjoint(there):
        return None
    for key, newer in _PLACES.items():
        places = volume.metadata.labels.get(key)
        if places is not None and there.get(key, there.get(newer)) not in places.split("__"):
            said = f"volume {volume.metadata.name} is labelled {key}={places}"
            return Objection("node-volumes", (_ZONE,), said)
    return None
