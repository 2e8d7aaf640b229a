"""
Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler on this machine, and ends them again.

    python -m fuzz.plane serve --release 1.37

Nothing is shared between two control planes, so that several run at once: ports are free ones of the loopback
interface, files are in a folder that goes with them. The programs end with their standard input, and so does what
removes the folder: nothing is left when whoever started them is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import http.client
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from fuzz.oracle_build import OracleUnavailable, build, resolve
from fuzz.plane.api import Api, ApiError, Etcd

PROGRAM: Final = "controlplane"
READY_SECONDS: Final = 120
_ATTEMPTS: Final = 3
_FOLDER: Final = "dra-alloc-plane-"
#: Waits until who started it is no more, gives the programs a second to end, too, and removes the folder.
_KEEPER: Final = ("sh", "-c", 'cat; sleep 1; rm -rf -- "$1"', "sh")
_KEY: Final = "accounts.key"
_END_SECONDS: Final = 10
_CONTROLLERS: Final = (
    "resourceclaim",
    "deployment",
    "replicaset",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "replicationcontroller",
    "resourcequota",
)
#: The first wants token objects; the second taints every new Node not-ready, which its controller would take off again.
_WITHOUT: Final = "ServiceAccount,TaintNodesByCondition"
#: Attempts, and at the scheduler's loop the scores, too.
_LOGGED: Final = ("--v=3", "--vmodule=schedule_one=10,schedule_one_podgroup=4")


class _Died(Exception):
    """A program ended before it was ready; another one may have taken its port."""


@dataclass
class Plane:
    """
    A running control plane of one release: a context manager.

    `gates` are feature gates beside the release's defaults; with `evicts` the controllers for taints of devices
    and nodes run, too. `api` and `etcd` are its clients, `scheduler_log`
    is what the scheduler writes: attempts and scores.
    Raises: OracleUnavailable where there is no Go, or the modules cannot be had, or it does not start.
    """

    release: str = "1.37"
    gates: Mapping[str, bool] = field(default_factory=dict)
    evicts: bool = False
    folder: Path = field(init=False)
    api: Api = field(init=False)
    etcd: Etcd = field(init=False)
    metrics: _Metrics = field(init=False)
    _running: list[subprocess.Popen[bytes]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.release = resolve(self.release, PROGRAM)

    @property
    def scheduler_log(self) -> Path:
        """The file into which the scheduler writes."""
        return self.folder / "kube-scheduler.log"

    def __enter__(self) -> Self:
        binary = build(self.release, PROGRAM)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._start(binary)
            except _Died as reason:
                self.close()
                if attempt == _ATTEMPTS:
                    raise OracleUnavailable(f"the control plane of {self.release} does not start: {reason}") from None
            except BaseException:
                self.close()
                raise
            else:
                break
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the programs, the last first, and remove their folder."""
        atexit.unregister(self.close)
        for client in (getattr(self, name, None) for name in ("api", "etcd", "metrics")):
            if client is not None:
                client.close()
        for process in reversed(self._running):
            process.terminate()
        end = time.monotonic() + _END_SECONDS
        for process in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, end - time.monotonic()))
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self._running.clear()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, binary: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        keeper = subprocess.Popen([*_KEEPER, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True)
        self._running.append(keeper)
        atexit.register(self.close)
        etcd, peer, secure, metrics = _free_ports(4)
        token = secrets.token_hex(16)
        self._run(binary, "etcd", _etcd(self.folder, etcd, peer))
        self.etcd = Etcd(etcd)
        self._wait("etcd", self.etcd.revision)
        self._key(binary)
        self._run(binary, "kube-apiserver", [*_apiserver(self.folder, etcd, secure, token), *self._gates()])
        certificate = self.folder / "certificates" / "apiserver.crt"
        self._wait("kube-apiserver", certificate.read_text)
        self.api = Api(secure, token, certificate)
        self._wait("kube-apiserver", lambda: self.api.text("/readyz"))
        kubeconfig = _kubeconfig(self.folder, secure, token)
        self._run(binary, "kube-controller-manager", [*_manager(kubeconfig, evicts=self.evicts), *self._gates()])
        arguments = [*_scheduler(self.folder, kubeconfig, metrics), *_LOGGED, *self._gates()]
        self._run(binary, "kube-scheduler", arguments)
        self.metrics = _Metrics(Api(metrics, token, self.folder / "scheduler" / "kube-scheduler.crt"))
        self._wait("kube-scheduler", self.metrics.read)

    def _key(self, binary: Path) -> None:
        done = subprocess.run([str(binary), "signing-key"], capture_output=True, check=True, timeout=READY_SECONDS)
        (self.folder / _KEY).write_bytes(done.stdout)

    def _gates(self) -> list[str]:
        text = ",".join(f"{name}={str(on).lower()}" for name, on in self.gates.items())
        return [f"--feature-gates={text}"] if text else []

    def _run(self, binary: Path, name: str, arguments: list[str]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(binary), name, *arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # an interrupt from the keyboard is for us to pass on
            )
        self._running.append(process)

    def _wait(self, name: str, ready: Any) -> None:
        end = time.monotonic() + READY_SECONDS
        while True:
            try:
                ready()
            except (OSError, http.client.HTTPException, ApiError) as error:
                ended = any(process.poll() is not None for process in self._running)
                if ended or time.monotonic() > end:
                    raise _Died(f"{name}: {self._last_words(name) or error}") from error
                time.sleep(0.05)
            else:
                return

    def _last_words(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-2000:]


class _Metrics:
    """The scheduler's own counts of what it has in its queues and in its cache."""

    def __init__(self, server: Api) -> None:
        self._server = server

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def read(self) -> dict[str, int]:
        """Return pods by queue (active, backoff, unschedulable, gated) and what the cache holds (nodes, pods, ...)."""
        found = {}
        for line in self._server.text("/metrics").splitlines():
            for start in (
                "scheduler_pending_pods{queue=",
                "scheduler_cache_size{type=",
                "scheduler_scheduler_cache_size{type=",
            ):
                if line.startswith(start):
                    found[line.split('"')[1]] = int(float(line.rpartition(" ")[2]))
        return found


def _free_ports(count: int) -> Iterator[int]:
    """Return free ports; another program may still take one before it is used."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return iter([each.getsockname()[1] for each in sockets])


def _etcd(folder: Path, client: int, peer: int) -> list[str]:
    urls = {"client": f"http://127.0.0.1:{client}", "peer": f"http://127.0.0.1:{peer}"}
    return [
        f"--data-dir={folder / 'etcd'}",
        "--name=plane",
        f"--listen-client-urls={urls['client']}",
        f"--advertise-client-urls={urls['client']}",
        f"--listen-peer-urls={urls['peer']}",
        f"--initial-advertise-peer-urls={urls['peer']}",
        f"--initial-cluster=plane={urls['peer']}",
        "--unsafe-no-fsync",
        "--max-txn-ops=100000",
        "--log-level=error",
    ]


def _apiserver(folder: Path, etcd: int, port: int, token: str) -> list[str]:
    (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n", encoding="utf-8")
    key = folder / _KEY
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        f"--cert-dir={folder / 'certificates'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=AlwaysAllow",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://plane.invalid",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--disable-admission-plugins={_WITHOUT}",
        "--runtime-config=api/all=true",
        "--enable-priority-and-fairness=false",
    ]


def _manager(kubeconfig: Path, *, evicts: bool) -> list[str]:
    controllers = (*_CONTROLLERS, "device-taint-eviction", "taint-eviction") if evicts else _CONTROLLERS
    return [
        f"--kubeconfig={kubeconfig}",
        f"--controllers={','.join(f'{name}-controller' for name in controllers)}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
    ]


def _scheduler(folder: Path, kubeconfig: Path, port: int) -> list[str]:
    settings = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 2000},
        "leaderElection": {"leaderElect": False},
        "podMaxBackoffSeconds": 1,
    }
    (folder / "scheduler.json").write_text(json.dumps(settings), encoding="utf-8")
    return [
        f"--config={folder / 'scheduler.json'}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder / 'scheduler'}",
        "--authentication-skip-lookup",
        "--authorization-always-allow-paths=/metrics,/readyz",
    ]


def _kubeconfig(folder: Path, port: int, token: str) -> Path:
    authority = str(folder / "certificates" / "apiserver.crt")
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": authority}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "plane", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "plane", "context": {"cluster": "plane", "user": "admin"}}],
        "current-context": "plane",
    }
    path = folder / "kubeconfig.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path
