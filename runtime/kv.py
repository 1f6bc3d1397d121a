"""The calls of a `KV`: keys and values in, one result a key out.

They check their arguments against the controller's limits before anything is submitted.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sized
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xiokv.generated.nvme_kv import RetrieveOption, StoreOption
from xiokv.runtime import abandoned, listing, payloads
from xiokv.runtime.arguments import integer, seconds
from xiokv.runtime.batch import NoRun, Request
from xiokv.runtime.buffers import (
    NO_VALUES,
    Shape,
    Values,
    slots_to_fill,
    values_to_store,
)
from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.keys import Keys, pack_keys, pack_long_keys, pack_start_key
from xiokv.runtime.operation import Operation
from xiokv.runtime.queues import QueueSet
from xiokv.runtime.results import Result
from xiokv.runtime.semantic import pack_semantic
from xiokv.runtime.spans import Span, span_of
from xiokv.runtime.submit import Submitter

if TYPE_CHECKING:
    from xiokv.runtime.module import Module


class KV(Closing):
    """Keys and values on one namespace; a context manager.

    A call without a stream returns when the batch has ended. One with a stream returns at
    once, and its result waits where it has to. Calls may come from any thread: their
    batches run one after the other.

    An interrupt cancels the batch of a call without a stream and is raised when it has ended;
    a second one is raised at once, and the next call then waits for what is left of the batch.

    A batch needs 37 bytes a key beside its values. They are allocated ahead and used again;
    a batch that is larger than any before waits for those that run.

    Attributes:
        limits: what controller and namespace allow.
        block_size: bytes of a slot, or None.
        timeout: seconds without any completion after which a queue is given up.
    """

    def __init__(
        self,
        module: Module,
        open_queues: Callable[[], QueueSet],
        block_size: int | None,
        timeout: float,
        place: Place,
    ) -> None:
        """Create the queues; `attach` calls this."""
        self.block_size = block_size
        self.timeout = timeout
        self._module = module
        self._fields = module.description.fields
        self._driver = module.driver
        self._submitter = Submitter(module, open_queues, place)
        self._dropped = weakref.finalize(self, abandoned.take_in, self._submitter)
        self._dropped.atexit = False
        self.limits = self.queues.limits
        self._transfer_max = self.queues.max_transfer
        self._page_lock = threading.Lock()

    @property
    def queues(self) -> QueueSet:
        """The queue pairs, with their counters."""
        return self._submitter.queues

    def store(
        self,
        keys: Any,
        values: Any,
        *,
        sizes: Any = None,
        offsets: Any = None,
        key_lengths: Any = None,
        if_absent: bool = False,
        if_present: bool = False,
        no_compress: bool = False,
        copy: bool = False,
        stream: Any = None,
        timeout: float | None = None,
        **semantic: Any,
    ) -> Result:
        """Store a value under each key; of equal keys one gets its value.

        Args:
            keys: a sequence of bytes, 1 to 16 each, or an (n, 16) uint8 array.
            values: a contiguous buffer that holds value i at i times a slot, or at
                `offsets[i]`; or a list of n buffers on the host, which is copied. A slot
                has the attached block_size, or else the n-th part of the buffer. A GPU's
                driver takes memory of its GPU and page-locked memory.
            sizes: bytes of each value, or one number for all; a slot's by default.
            offsets: where each value begins, in multiples of 4 bytes.
            key_lengths: for an array of keys, the length of each; 16 by default.
            if_absent: store only keys that are not there; others become EXISTS.
            if_present: store only keys that are there; others become MISSING.
            no_compress: ask the device to keep the values uncompressed.
            copy: copy values that lie in pageable memory, where the driver does not take it.
            stream: run in this stream of the driver, and return at once.
            timeout: seconds without any completion; as attached by default.
            semantic: fields that the module's profile declares, an integer each; where
                their scope is the key, also one a key.
        """
        if if_absent and if_present:
            raise ArgumentFault("if_absent and if_present: no key is both; give one of them")
        options = StoreOption.DONT_STORE_IF_KEY_EXISTS * bool(if_absent)
        options |= StoreOption.DONT_STORE_IF_KEY_NOT_EXISTS * bool(if_present)
        options |= StoreOption.DONT_COMPRESS * bool(no_compress)
        packed = pack_keys(keys, key_lengths, self.limits.key_max)
        size_max = min(self._transfer_max, self.limits.value_max)
        shape = Shape(len(packed), sizes, offsets, self.block_size, size_max, copy)
        placed = values_to_store(self._driver, values, shape)
        return self._run(
            Operation.STORE,
            packed,
            placed,
            options,
            stream=stream,
            timeout=timeout,
            semantic=semantic,
        )

    def retrieve(
        self,
        keys: Any,
        out: Any,
        *,
        sizes: Any = None,
        offsets: Any = None,
        key_lengths: Any = None,
        raw: bool = False,
        copy: bool = False,
        stream: Any = None,
        timeout: float | None = None,
        **semantic: Any,
    ) -> Result:
        """Retrieve the value of each key into its slot of `out`.

        A value that is larger than its slot fills the slot and becomes TRUNCATED; its
        `value_size` is the whole size. Bytes of a slot past the value stay as they were.

        Args:
            keys: as for `store`.
            out: a contiguous, writable buffer; slots as for `store`. They may not overlap.
            sizes: bytes of each slot to fill; the whole slot by default.
            offsets: as for `store`.
            key_lengths: as for `store`.
            raw: return values as they are kept, without decompressing them.
            copy: as for `store`; `out` is filled when the result is taken.
            stream: as for `store`; `out` may not be touched until the result is there.
            timeout: as for `store`.
            semantic: as for `store`.
        """
        packed = pack_keys(keys, key_lengths, self.limits.key_max)
        shape = Shape(len(packed), sizes, offsets, self.block_size, self._transfer_max, copy)
        slots = slots_to_fill(self._driver, out, shape)
        options = RetrieveOption.RAW * bool(raw)
        return self._run(
            Operation.RETRIEVE,
            packed,
            slots,
            options,
            stream=stream,
            timeout=timeout,
            semantic=semantic,
        )

    def exist(
        self,
        keys: Any,
        *,
        key_lengths: Any = None,
        stream: Any = None,
        timeout: float | None = None,
        **semantic: Any,
    ) -> Result:
        """Ask which keys are there: OK or MISSING."""
        packed = pack_keys(keys, key_lengths, self.limits.key_max)
        return self._run(Operation.EXIST, packed, stream=stream, timeout=timeout, semantic=semantic)

    def delete(
        self,
        keys: Any,
        *,
        key_lengths: Any = None,
        stream: Any = None,
        timeout: float | None = None,
        **semantic: Any,
    ) -> Result:
        """Delete keys; whether a key that is not there is OK or MISSING is the device's."""
        packed = pack_keys(keys, key_lengths, self.limits.key_max)
        return self._run(
            Operation.DELETE, packed, stream=stream, timeout=timeout, semantic=semantic
        )

    def exec(
        self,
        keys: Any,
        operation: int,
        *,
        input: Any = b"",
        out: Any = None,
        sizes: Any = None,
        offsets: Any = None,
        key_lengths: Any = None,
        stream: Any = None,
        timeout: float | None = None,
    ) -> Result:
        """Run an operation of the controller next to the value of each key: OK or MISSING.

        An output that is larger than its slot of `out` fills the slot and becomes TRUNCATED;
        `value_size` is its whole size. Bytes of a slot past the output stay as they were. Only
        a module that was built with ``exec = true`` has this vendor's command.

        Args:
            keys: as for `store`; those in a sequence may have up to 255 bytes.
            operation: what is to be done; its meaning is the controller's.
            input: bytes for the operation, the same for all keys or a list of one a key.
            out: a contiguous, writable buffer on the host, or one of `Module.empty`; slots are
                its n-th parts, or lie at `offsets`. It is filled when the result is taken.
                Without it outputs are not returned.
            sizes: bytes of each slot to fill; the whole slot by default.
            offsets: where each slot begins, in multiples of 4 bytes.
            key_lengths: as for `store`.
            stream: as for `store`; `out` may not be touched until the result is there.
            timeout: as for `store`.
        """
        self._check_exec()
        packed = pack_long_keys(keys, key_lengths, payloads.KEY_MAX)
        count = len(packed)
        inputs = payloads.inputs_of(input, count)
        numbers = payloads.numbers_of(inputs, operation)
        shape = Shape(count, sizes, offsets, None, self._transfer_max)
        slots = payloads.outputs_of(self._driver, out, shape)
        data = payloads.pack_payloads(packed, inputs, slots, self._transfer_max)
        deadline = self.timeout if timeout is None else seconds("timeout", timeout)
        return self._submit(
            Request(Operation.EXEC, packed, data.values, numbers, 0, deadline, stream, data)
        )

    def list(
        self, start: bytes = b"", limit: int | None = None, **semantic: Any
    ) -> Iterator[bytes]:
        """Return the keys from `start` on in the device's order, at most `limit`."""
        pack_start_key(start, self.limits.key_max)
        pack_semantic(self._fields, Operation.LIST, semantic, 1)
        return listing.walk(partial(self._list_page, semantic), bytes(start), limit)

    def xio_batched_kv_retrieve(
        self, block_keys: Any, n: int, gpu_buffer: Any, stream: Any, **options: Any
    ) -> Result:
        """Retrieve n blocks; key i lands at i * block_size of `gpu_buffer`, which they fill.

        Args:
            block_keys: n keys, as for `store`.
            n: how many.
            gpu_buffer: n * block_size bytes, as for `retrieve`.
            stream: as for `store`.
            options: further arguments of `retrieve`.
        """
        if self.block_size is None:
            raise ArgumentFault("xio_batched_kv_retrieve needs a block_size at attach")
        if integer("n", n) != (len(block_keys) if isinstance(block_keys, Sized) else n):
            raise ArgumentFault(f"n is {n}, and there are {len(block_keys)} block_keys")
        have = span_of("gpu_buffer", gpu_buffer, self._driver.exchange).size
        if have != n * self.block_size:
            raise ArgumentFault(
                f"gpu_buffer has {have} bytes; {n} blocks of {self.block_size} bytes have"
                f" {n * self.block_size}"
            )
        return self.retrieve(block_keys, gpu_buffer, stream=stream, **options)

    def quiesce(self) -> None:
        """Wait until no batch runs."""
        self._submitter.drain()

    def reset(self) -> None:
        """Replace the queues by new ones; a dead queue's memory is free from then on."""
        self._submitter.reset()

    def confirm_deleted(self) -> None:
        """Say that the controller was reset, so that it has none of the queues any more.

        Without this, `reset` and `close` ask it to delete them, which it then refuses.
        """
        self._submitter.confirm_deleted()

    def close(self) -> None:
        """Wait for all batches, delete the queues and free memory; again: do nothing.

        Where the controller does not delete a queue, the error goes to the caller and the
        memory is kept, since the controller may still write to it.
        """
        self._submitter.close()
        self._dropped.detach()

    def _run(
        self,
        command: Operation,
        keys: Keys,
        values: Values = NO_VALUES,
        options: int = 0,
        *,
        stream: Any = None,
        timeout: float | None = None,
        semantic: Mapping[str, Any] = MappingProxyType({}),
    ) -> Result:
        deadline = self.timeout if timeout is None else seconds("timeout", timeout)
        bits = pack_semantic(self._fields, command, semantic, len(keys))
        return self._submit(Request(command, keys, values, bits, options, deadline, stream))

    def _submit(self, request: Request) -> Result:
        if len(request.keys) == 0:
            return Result(request.command, request.keys, NoRun())
        run = self._submitter.submit(request)
        if request.stream is None:
            run.wait_or_cancel()
        return Result(request.command, request.keys, run)

    def _check_exec(self) -> None:
        """Refuse a module without the command, which most are."""
        if payloads.COMMAND not in self._module.description.kernels:
            raise ArgumentFault(
                f"{self._module.path} was built without the vendor command Exec: say exec = true"
                " under [semantics] of xiokv.toml, run xiokv-gen build --target"
                f" {self._module.target}, and load that module"
            )

    def _list_page(self, semantic: Mapping[str, Any], start: bytes) -> bytes:
        with self._page_lock:
            keys = pack_start_key(start, self.limits.key_max)
            memory = self._submitter.list_page
            size = min(memory.size, self._transfer_max)
            page = Values(Span(memory.iova, size, memory), None, size, None, 0)
            self._run(Operation.LIST, keys, page, semantic=semantic).raise_for_status()
            memory.download(0, size)
            return bytes(memory.view[:size])
