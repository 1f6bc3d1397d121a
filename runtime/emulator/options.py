"""The controller's options, from Python's arguments to the C structure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from xiokv.runtime import rados
from xiokv.runtime.arguments import integer, within
from xiokv.runtime.emulator.library import THREADS_MAX, Config
from xiokv.runtime.errors import ArgumentFault

#: Where values may be: the word for the controller's own memory, and a URL's scheme.
STORES = ("memory", f"{rados.SCHEME}://")

# Bits of xiokv_emu_config.flags.
_FLAGS = {
    "strict": 1 << 0,
    "hashed_list": 1 << 1,
    "wrap_list": 1 << 2,
    "delete_missing_fails": 1 << 3,
    "sct1": 1 << 4,
    "store_returns_size": 1 << 5,
    "null": 1 << 6,
    "distinct_dw0": 1 << 7,
    "split_cqe": 1 << 8,
    "exec": 1 << 10,
    "exec_input_length": 1 << 11,
}
_PINNED = 1 << 9

# Numbers that have a member of their own name, and its width in bits.
_NUMBERS = {
    "queues": 32,
    "mqes": 32,
    "mdts": 32,
    "dstrd": 32,
    "key_max": 32,
    "value_max": 32,
    "max_keys": 32,
    "capacity": 64,
    "active_format": 32,
    "seed": 64,
}

# Numbers whose 0 stands for no limit or for the number itself; of others, the C side takes
# 0 for "the default", which an explicit 0 is not.
_MAY_BE_ZERO = ("mdts", "dstrd", "max_keys", "active_format", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a controller is made with.

    Attributes:
        threads: worker threads; 0 for none. By default one, or one for each of `cpus`.
        cpus: for each thread the number of a core of its own, where it polls without rest;
            with none, threads go where the system puts them, and rest when they are idle.
        queues: most I/O queue pairs.
        mqes: most entries of a queue, less 1.
        mdts: most bytes of a transfer, as a power of two of 4096; 0 for no limit.
        dstrd: doorbells are 4 << dstrd bytes apart.
        key_max: longest key in bytes, to 255; an entry carries up to 16, Exec's data more.
        value_max: largest value in bytes, or less where a Ceph pool is known to take less.
        max_keys: most keys; 0 for no limit.
        capacity: most bytes of values.
        active_format: index of the format in force; those below have other limits.
        strict: refuse non-zero reserved bits.
        hashed_list: List goes in the order of a hash, not of the keys' bytes.
        wrap_list: List goes on from the first key.
        delete_missing_fails: Delete of a missing key is an error.
        sct1: report key-value statuses with SCT 1.
        store_returns_size: a Store's DW0 is the value's size.
        null: complete every command at once, with no look-up and no data.
        distinct_dw0: in null mode, a Retrieve's DW0 counts up.
        split_cqe: in steps, write a completion's phase in a step of its own.
        exec: opcode 83h is the vendor command Exec; else there is none.
        exec_input_length: an Exec's CDW10 is the length of its input alone.
        seed: of faults and of the order of steps.
        store: where values are kept: "memory", or the URL of a Ceph pool and namespace, as
            `RadosUrl` takes it. Of a pool, `capacity` and `max_keys` are its quota's business,
            and the order of List is its own.
    """

    threads: int | None = None
    cpus: Sequence[int] = ()
    queues: int = 64
    mqes: int = 65535
    mdts: int = 0
    dstrd: int = 0
    key_max: int = 16
    value_max: int = 32 << 20
    max_keys: int = 0
    capacity: int = 1 << 40
    active_format: int = 0
    strict: bool = False
    hashed_list: bool = False
    wrap_list: bool = False
    delete_missing_fails: bool = False
    sct1: bool = False
    store_returns_size: bool = False
    null: bool = False
    distinct_dw0: bool = False
    split_cqe: bool = False
    exec: bool = False
    exec_input_length: bool = False
    seed: int = 0
    store: str = "memory"

    def config(self) -> Config:
        """Return the C structure.

        Every number fits its member; whether it is within its limits is the C side's to say.

        Raises:
            ArgumentFault: an option does not fit.
        """
        self._check_store()
        threads = within("threads", self.thread_count, 0, THREADS_MAX)
        cpus = self._cores(threads)
        numbers = {name: self._number(name) for name in _NUMBERS}
        flags = sum(bit for name, bit in _FLAGS.items() if getattr(self, name))
        flags |= _PINNED if cpus else 0
        return Config(threads=threads or 1, flags=flags, cpus=tuple(cpus), **numbers)

    @property
    def pool(self) -> rados.RadosUrl | None:
        """Where values are in a cluster: see `pool_of`."""
        return pool_of(self.store)

    def _check_store(self) -> None:
        if self.pool is None:
            return
        for field in fields(self):
            name = field.name
            if name in rados.MEMORY_ONLY and getattr(self, name) != field.default:
                rados.refuse_memory_only(name)

    @property
    def thread_count(self) -> int:
        """Worker threads."""
        if self.threads is None:
            return len(self.cpus) or 1
        return integer("threads", self.threads)

    def _cores(self, threads: int) -> list[int]:
        cpus = [integer("cpus", cpu) for cpu in self.cpus]
        there = os.sched_getaffinity(0)
        if not there.issuperset(cpus):
            raise ArgumentFault(
                f"cpus is {cpus}; the cores of this process are {sorted(there)}: give some of them"
            )
        if len(set(cpus)) != len(cpus) or len(cpus) not in (0, threads):
            raise ArgumentFault(
                f"cpus is {cpus}; each of {threads} threads needs a core that no other has"
            )
        return cpus

    def _number(self, name: str) -> int:
        low = 0 if name in _MAY_BE_ZERO else 1
        return within(name, getattr(self, name), low, (1 << _NUMBERS[name]) - 1)


def pool_of(store: Any) -> rados.RadosUrl | None:
    """Return where values are in a cluster; None for the controller's own memory.

    Args:
        store: as `Emulator` takes it.

    Raises:
        ArgumentFault: it is neither.
    """
    if store == STORES[0]:
        return None
    if not isinstance(store, str) or not store.startswith(STORES[1]):
        raise ArgumentFault(f"store is {store!r}; allowed are: {', '.join(STORES)}...")
    return rados.RadosUrl.parse(store)
