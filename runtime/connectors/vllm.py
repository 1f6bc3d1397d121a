"""vLLM's KV connector on a key-value namespace: blocks between it and the GPU's own caches.

`XiokvConnector` and the metadata that goes from scheduler to workers are made on vLLM's classes
when they are first asked for, which is what vLLM's factory does; `Connector` has all of the
methods, and needs of its base only that it keeps the metadata of a step. Loads are synchronous:
a step waits for its blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xiokv.runtime.connectors.attachment import Attachment
from xiokv.runtime.connectors.blocks import Blocks
from xiokv.runtime.connectors.guard import Guard
from xiokv.runtime.connectors.options import read_options
from xiokv.runtime.connectors.vllm_facts import Facts
from xiokv.runtime.connectors.vllm_scheduler import Scheduler, Step
from xiokv.runtime.connectors.vllm_worker import Transfer, Worker

_T = TypeVar("_T")


class Connector:
    """Blocks of one engine, in its scheduler or in one of its workers.

    Once it is made and has its caches, no method raises: blocks that could not be loaded are
    named by `get_block_ids_with_load_errors`, and what happened is logged once a kind.

    Args:
        vllm_config: vLLM's `VllmConfig`; kv_connector_extra_config has the `Options`.
        role: vLLM's `KVConnectorRole`.
        kv_cache_config: vLLM's `KVCacheConfig`.

    Raises:
        ArgumentFault: an option is not allowed, or the model's cache is of a kind that is not
            taken here.
        RuntimeFault: the controller cannot be reached.
    """

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any) -> None:
        super().__init__(vllm_config, role, kv_cache_config)  # type: ignore[call-arg]
        options = read_options(vllm_config.kv_transfer_config.kv_connector_extra_config)
        facts = Facts(vllm_config, kv_cache_config)
        self._guard = Guard("the vLLM connector")
        self._errors: set[int] = set()
        self._scheduler: Scheduler | None = None
        self._worker: Worker | None = None
        self._attachment: Attachment | None = None
        if role.name == "SCHEDULER":
            self._attachment = Attachment(options, "host")
            blocks = Blocks(self._attachment, self._guard)
            transfer = vllm_config.kv_transfer_config
            self._scheduler = Scheduler(
                blocks,
                self._attachment.keyspace,
                facts,
                loads=bool(getattr(transfer, "is_kv_consumer", True)),
                saves=bool(getattr(transfer, "is_kv_producer", True)),
            )
        else:
            self._worker = Worker(options, facts, kv_cache_config.num_blocks, self._guard)

    @property
    def failures(self) -> dict[str, int]:
        """How often each kind of failure was met."""
        return self._guard.counts

    @property
    def requires_kv_delivery(self) -> bool:
        """No: a block that was not stored is computed again by whoever wants it."""
        return False

    @classmethod
    def supports_sleep_mode(cls, kv_transfer_config: Any) -> bool:
        """No: caches keep the place where they were registered."""
        return False

    # In a worker

    def register_kv_caches(self, kv_caches: dict[str, Any]) -> None:
        """Take the caches: what cannot be taken is refused here, before any request.

        Raises:
            ArgumentFault: a block of a layer is not in one piece.
            RuntimeFault: the controller cannot be reached.
        """
        if self._worker is not None and kv_caches:
            self._worker.register(kv_caches)

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        """Fetch the blocks that this step needs; on return they are there, or named as not."""
        loads: list[Transfer] = getattr(self._step(), "loads", [])
        asked = {block for transfer in loads for block in transfer.block_ids}
        self._errors |= self._with_worker("load", lambda worker: worker.load(loads), asked)

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Do nothing: `start_load_kv` has waited."""

    def save_kv_layer(
        self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any
    ) -> None:
        """Do nothing: blocks are stored when the next step has confirmed them."""

    def wait_for_save(self) -> None:
        """Store the blocks that earlier steps computed."""
        saves: list[Transfer] = getattr(self._step(), "saves", [])
        self._with_worker("save", lambda worker: worker.save(saves), None)

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        """Store the last blocks of requests that ended; return those whose blocks are free."""
        finished: dict[str, Transfer] = getattr(self._step(), "finished", {})
        self._with_worker("save", lambda worker: worker.save(finished.values()), None)
        return set(finished) or None, None

    def get_block_ids_with_load_errors(self) -> set[int]:
        """Return the blocks that were not loaded since the last time."""
        errors, self._errors = self._errors, set()
        return errors

    def shutdown(self) -> None:
        """Delete the queues."""
        for opened in (self._worker, self._attachment):
            if opened is not None:
                self._guard.run("shutdown", opened.close, None)

    # In the scheduler

    def get_num_new_matched_tokens(
        self, request: Any, num_computed_tokens: int
    ) -> tuple[int | None, bool]:
        """Return how many tokens after the computed ones are there; they load synchronously."""
        count = self._with_scheduler(
            "match", lambda scheduler: scheduler.matched(request, num_computed_tokens), 0
        )
        return count, False

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        """Take note of the blocks that a request got."""
        self._with_scheduler(
            "allocate",
            lambda scheduler: scheduler.allocated(request, blocks, num_external_tokens),
            None,
        )

    def build_connector_meta(self, scheduler_output: Any) -> Any:
        """Return what workers are to do in this step."""
        step = self._with_scheduler(
            "schedule", lambda scheduler: scheduler.step(scheduler_output), Step()
        )
        return self._metadata(step)

    def request_finished(
        self, request: Any, block_ids: list[int]
    ) -> tuple[bool, dict[str, Any] | None]:
        """Tell whether blocks have to be kept until they are stored."""
        waits = self._with_scheduler(
            "finish", lambda scheduler: scheduler.finished(request, block_ids), False
        )
        return waits, None

    def reset_cache(self) -> bool | None:
        """Delete all that is in the namespace, where the option `clear` allows it."""
        if self._attachment is None:
            return None
        return Blocks(self._attachment, self._guard).clear()

    def _step(self) -> Step | None:
        return getattr(getattr(self, "_connector_metadata", None), "step", None)

    def _metadata(self, step: Step) -> Any:
        return Metadata(step)

    def _with_worker(self, what: str, operation: Callable[[Worker], _T], failed: _T) -> _T:
        worker = self._worker
        return (
            failed if worker is None else self._guard.run(what, lambda: operation(worker), failed)
        )

    def _with_scheduler(self, what: str, operation: Callable[[Scheduler], _T], failed: _T) -> _T:
        scheduler = self._scheduler
        if scheduler is None:
            return failed
        return self._guard.run(what, lambda: operation(scheduler), failed)


class Metadata:
    """What goes from the scheduler to the workers.

    Args:
        step: what they are to do.
    """

    def __init__(self, step: Step) -> None:
        self.step = step


def _made() -> dict[str, Any]:
    """Return the classes for vLLM."""
    from vllm.distributed.kv_transfer.kv_connector.v1 import base

    about = {"__module__": __name__}
    metadata = type("XiokvConnectorMetadata", (Metadata, base.KVConnectorMetadata), dict(about))
    body = {"__doc__": Connector.__doc__, "_metadata": staticmethod(metadata), **about}
    connector = type("XiokvConnector", (Connector, base.KVConnectorBase_V1), body)
    return {"XiokvConnector": connector, "XiokvConnectorMetadata": metadata}


def __getattr__(name: str) -> Any:
    """Make the classes for vLLM's factory when one is asked for."""
    if name not in ("XiokvConnector", "XiokvConnectorMetadata"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals().update(_made())
    return globals()[name]
