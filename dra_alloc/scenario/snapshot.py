"""
From files to a cluster in one call.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.manifest import load as load_documents
from dra_alloc.releases import DEFAULT_RELEASE


def load(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    release: str = DEFAULT_RELEASE,
    gates: Mapping[str, bool] | None = None,
    channel: str = "auto",
    semantics: str = "upstream",
) -> Cluster:
    """
    Return the cluster described by files or folders of YAML or JSON, as kubectl prints them.

    `release` is a Kubernetes release such as "1.36" or "1.36.2", `gates`
    overrides its feature gates, `channel` is "auto", "stable", "incubating" or
    "experimental", `semantics` is "upstream" or "intended".

    What is odd and no error is in the cluster's `warnings`.

    Raises: ManifestError with every problem of every file; InputError for no
    path at all and for settings that are not known.
    """
    if not isinstance(paths, str | os.PathLike):
        paths = list(paths)
    if paths in ("", []):
        raise InputError("paths names no file or folder to load")
    settings = Settings(release, {} if gates is None else gates, channel, semantics)
    settings.profile()
    return Cluster.of(load_documents(paths), settings)
