"""
A small client of a Kubernetes API server and of etcd's HTTP gateway, on the standard library alone.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
SECONDS: Final = 30
#: Resource names by kind; the API version is the object's own.
PLURALS: Final = {
    "ConfigMap": "configmaps",
    "CronJob": "cronjobs",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "DeviceClass": "deviceclasses",
    "DeviceTaintRule": "devicetaintrules",
    "Event": "events",
    "Job": "jobs",
    "LimitRange": "limitranges",
    "Namespace": "namespaces",
    "Node": "nodes",
    "Pod": "pods",
    "PodGroup": "podgroups",
    "PriorityClass": "priorityclasses",
    "ReplicaSet": "replicasets",
    "ReplicationController": "replicationcontrollers",
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "ResourceQuota": "resourcequotas",
    "ResourceSlice": "resourceslices",
    "RuntimeClass": "runtimeclasses",
    "Service": "services",
    "StatefulSet": "statefulsets",
    "Workload": "workloads",
}
_CLUSTER_WIDE: Final = frozenset(
    {"DeviceClass", "DeviceTaintRule", "Namespace", "Node", "PriorityClass", "ResourceSlice", "RuntimeClass"}
)
NAMESPACED: Final = frozenset(PLURALS) - _CLUSTER_WIDE


class ApiError(Exception):
    """The API server refused a request; `code` is the HTTP status, `causes` are what is wrong, field by field."""

    def __init__(self, code: int, text: str, causes: list[Json] | None = None) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.causes = causes or []


class _Connection:
    """One kept connection that answers JSON with JSON, and is made anew when it broke."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._open: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Json | None, headers: dict[str, str]) -> tuple[int, bytes]:
        for last in (False, True):
            if self._open is None:
                self._open = self._make()
            try:
                self._open.request(method, path, json.dumps(body) if body is not None else None, headers)
                answer = self._open.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError):
                self.close()
                if last or (method == "POST" and body is not None and "kind" in body):
                    raise
        raise AssertionError

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None


class Api:
    """An API server on this machine, asked as an administrator."""

    def __init__(self, port: int, token: str, certificate: Path) -> None:
        def connection() -> http.client.HTTPSConnection:
            context = ssl.create_default_context(cafile=str(certificate))
            return http.client.HTTPSConnection("127.0.0.1", port, timeout=SECONDS, context=context)

        self._connection = _Connection(connection)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def text(self, path: str) -> str:
        """Return what a path answers, as text."""
        code, body = self._connection.ask("GET", path, None, self._headers)
        if code >= http.client.BAD_REQUEST:
            raise ApiError(code, body.decode(errors="replace")[:1000])
        return body.decode()

    def ask(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """
        Return the answer to a request.

        Raises: ApiError with the server's own message.
        """
        code, raw = self._connection.ask(method, path, body, {**self._headers, "Content-Type": kind})
        answer: Json = json.loads(raw or b"{}")
        if code >= http.client.BAD_REQUEST:
            causes = (answer.get("details") or {}).get("causes")
            raise ApiError(code, str(answer.get("message", answer)), causes)
        return answer

    def create(self, given: Json) -> Json:
        """
        Return an object as it was stored; its status is written, too, where the server drops it at first.

        Raises: ApiError where the server refuses it.
        """
        made = self.ask("POST", path_of(given), given)
        status = given.get("status")
        if status and made.get("status") != status and given["kind"] in {"Node", "Pod", "ResourceClaim"}:
            made = self.ask("PUT", f"{path_of(given, named=True)}/status", made | {"status": status})
        return made

    def list(self, api_version: str, kind: str, namespace: str | None = None, query: str = "") -> list[Json]:
        """Return all objects of a kind, of one namespace or all; as the list has them, without kind."""
        given = {"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace}}
        found: list[Json] = self.ask("GET", path_of(given, everywhere=namespace is None) + query)["items"]
        return found

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def path_of(given: Json, *, named: bool = False, everywhere: bool = False) -> str:
    """Return the path of an object's collection, or of itself."""
    version, kind, meta = given["apiVersion"], given["kind"], given["metadata"]
    path = f"/{'apis' if '/' in version else 'api'}/{version}"
    if kind in NAMESPACED and not everywhere:
        path += f"/namespaces/{meta.get('namespace') or 'default'}"
    path += f"/{PLURALS[kind]}"
    return f"{path}/{meta['name']}" if named else path


class Etcd:
    """The store behind the API server: its revision says whether anything was written at all."""

    def __init__(self, port: int) -> None:
        self._connection = _Connection(lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS))

    def revision(self) -> int:
        """Return the store's revision, which each write raises."""
        return int(self._ask("range", {"key": _coded("0")})["header"]["revision"])

    def keys(self) -> set[str]:
        """Return the keys of all objects."""
        found = self._ask("range", {"key": _coded("/"), "range_end": _coded("0"), "keys_only": True})
        return {base64.b64decode(each["key"]).decode() for each in found.get("kvs", ())}

    def drop(self, keys: list[str]) -> None:
        """Delete keys in one transaction; who watches the objects sees them deleted, whatever finalizers they have."""
        if keys:
            self._ask("txn", {"success": [{"request_delete_range": {"key": _coded(key)}} for key in keys]})

    def _ask(self, verb: str, body: Json) -> Json:
        path = f"/v3/kv/{verb}"
        code, raw = self._connection.ask("POST", path, body, {"Content-Type": "application/json"})
        if code >= http.client.BAD_REQUEST:
            raise ApiError(code, raw.decode(errors="replace")[:1000])
        found: Json = json.loads(raw)
        return found

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _coded(key: str) -> str:
    return base64.b64encode(key.encode()).decode()
