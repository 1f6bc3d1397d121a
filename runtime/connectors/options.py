"""What a connector is told in its server's configuration: JSON in, checked options out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from xiokv.runtime.arguments import check_options, integer, seconds
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.checksums import ALGORITHMS, DEFAULT, Algorithm
from xiokv.runtime.kvcache.keyspace import Keyspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a connector reaches its namespace, and whose blocks are in it.

    Attributes:
        controller: ``/dev/ng0n1`` or such, ``emulator`` for one that lives in this process,
            ``rados://pool/namespace?...`` for one whose values are in a Ceph pool, or a name
            that `controllers.offer` has.
        tenant: namespace of the tenant.
        policy: namespace within it.
        secret_file: a file of up to 64 bytes, the key of the tenant's digests; all of its
            servers have the same.
        nsid: NSID of the namespace.
        queues: queue pairs.
        depth: entries of each.
        timeout: seconds without any completion after which queues are given up; None as `attach`
            has it.
        retry: seconds for which nothing is tried after that.
        target: kind of device that runs the engine: ``host``, ``cuda``, ``hip``.
        checksum: how payloads are checked.
        verify: whether every block that is fetched is checked.
        clear: what clearing the cache does: ``refuse``, or ``namespace`` where all that is in
            the namespace may be deleted.
    """

    controller: str
    tenant: str
    policy: str = ""
    secret_file: str | None = None
    nsid: int = 1
    queues: int = 4
    depth: int = 256
    timeout: float | None = None
    retry: float = 30.0
    target: str | None = None
    checksum: Algorithm = DEFAULT
    verify: bool = True
    clear: str = "refuse"

    def __post_init__(self) -> None:
        for name in ("nsid", "queues", "depth"):
            integer(name, getattr(self, name))
        seconds("retry", self.retry)
        if self.timeout is not None:
            seconds("timeout", self.timeout)
        if not isinstance(self.verify, bool):
            raise ArgumentFault(f"verify is {self.verify!r}; allowed are true and false")
        _check_choice("clear", self.clear, ("refuse", "namespace"))
        _check_choice("checksum", self.checksum, tuple(ALGORITHMS))
        _check_choice("target", self.target, (None, "host", "cuda", "hip"))
        if not isinstance(self.controller, str) or not self.controller:
            raise ArgumentFault(f"controller is {self.controller!r}; name one, or a device")

    def keyspace(self) -> Keyspace:
        """Return whose blocks they are."""
        return Keyspace(self.tenant, self.policy, self._secret())

    def _secret(self) -> bytes:
        if self.secret_file is None:
            return b""
        try:
            secret = Path(self.secret_file).read_bytes()
        except (OSError, TypeError) as error:
            raise ArgumentFault(f"secret_file {self.secret_file!r}: {error}") from error
        if not secret:
            raise ArgumentFault(f"secret_file {self.secret_file!r} is empty")
        return secret


def read_options(given: Mapping[str, Any] | None, others: Iterable[str] = ()) -> Options:
    """Return the options of a connector.

    Args:
        given: names and values, as the server's configuration has them.
        others: names that are the server's own, which are passed over.

    Raises:
        ArgumentFault: one is unknown, missing or not allowed.
    """
    passed = set(others)
    own = {name: value for name, value in (given or {}).items() if name not in passed}
    check_options("the connector", own, [field.name for field in fields(Options)])
    for field in fields(Options):
        if field.default is MISSING and field.name not in own:
            raise ArgumentFault(f"the connector needs {field.name}: say it in the configuration")
    return Options(**own)


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        names = ", ".join(str(one) for one in allowed if one is not None)
        raise ArgumentFault(f"{name} is {value!r}; allowed are {names}")
