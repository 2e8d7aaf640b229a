"""
Published manifests: every workload among them is expanded or named.
"""

from __future__ import annotations

from collections import Counter

import pytest

from dra_alloc.manifest import Documents, Manner, load_readable
from dra_alloc.pods.naming import in_namespace, named
from dra_alloc.pods.workloads.table import NO_MAKERS, maker_of
from dra_alloc.scenario.expand import expand

#: Folders of samples, and the least number of their pods.
FOLDERS = {
    "core-gang": 2,
    "dra-example-driver": 20,
    "grove": 30,
    "jobset": 12,
    "kai": 20,
    "kuberay": 10,
    "kueue": 4,
    "lws": 40,
    "nvidia": 40,
    "stack": 60,
    "volcano": 17,
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_workload_is_expanded_or_named(folder, shared):
    documents, _ = load_readable([shared / "samples" / folder], manner=Manner("ignore"))
    documents = named(in_namespace(documents, "default"), Documents())
    found = expand(documents)
    made = Counter(id(each.owner) for each in found.pods)
    told = {problem.where.object for problem in found.problems} | {note.partition(":")[0] for note in found.notes}
    silent = [
        f"{each.kind} {each.name}"
        for each in documents.workloads
        if (each.group, each.kind) not in NO_MAKERS
        and not made[id(each)]
        and not any(each.name in one and each.kind in one for one in told)
    ]
    assert len(found.pods) >= FOLDERS[folder]
    assert silent == []


def test_all_kinds_of_the_samples_are_known(shared):
    documents, _ = load_readable([shared / "samples" / each for each in FOLDERS], manner=Manner("ignore"))
    unknown = {each.kind for each in documents.workloads if maker_of(each) is None}
    assert unknown <= {kind for _, kind in NO_MAKERS}
