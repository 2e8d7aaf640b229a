"""
Quotas after a change: what is gone is no longer charged to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dra_alloc.api import FrozenMap, ResourceQuota
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.pods.quota.book import QuotaBook, chargeable


def relieved(before: ClusterState, after: ClusterState) -> ClusterState:
    """
    Return the state after a change with less used of its quotas: what was charged for the objects that are gone.

    Their controller works that out anew as soon as objects go; what a status
    does not say is counted from what is there in any case.

    Spec: WHATIF-6.
    """
    if not after.dump.quotas:
        return after
    left = {_key(each) for each in chargeable(after.dump)}
    gone = [each for each in chargeable(before.dump) if _key(each) not in left]
    if not gone:
        return after
    extended = bool(after.settings.effective_gates().get("DRAExtendedResource", False))
    there = before.dump
    book = QuotaBook.of(after.dump.quotas, there, there.classes, extended=extended).relieved(gone, there.pods)
    used = {(space, each.name): each.used for space, accounts in book.accounts.items() for each in accounts}

    def told(quota: ResourceQuota) -> ResourceQuota:
        now = used[quota.metadata.namespace or "", quota.metadata.name or ""]
        said = FrozenMap({key: now[key] for key in quota.status.used})
        return quota.replaced(status=quota.status.replaced(used=said))

    return replace(after, dump=after.dump.mapped(told, "quotas"))


def _key(item: Any) -> tuple[str, str]:
    return item.kind, item.metadata.full_name
