"""A replay: plans and a place in; metrics, and whether every landed byte was right, out.

Plans come one at a time and nothing of them is kept. Each is carried out like this: donors
that are not there are published, the executor does its part, every block that it counts is
compared byte by byte with what its donor has, and the metrics are taken. Only the executor's
own steps are in the metrics; what the replay does beside them has times of its own.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from xiokv.runtime.kvcache.execution import Executor, Settings, Verify
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.metrics import Metrics, SpanMetrics
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.replay.backend import Backend
from xiokv.runtime.kvcache.replay.buffers import Buffers
from xiokv.runtime.kvcache.replay.checking import Wrong, check
from xiokv.runtime.kvcache.replay.contents import are_known
from xiokv.runtime.kvcache.replay.disturbances import Disturbances, Stage
from xiokv.runtime.kvcache.replay.layouts import layout_of
from xiokv.runtime.kvcache.replay.payloads import Payloads
from xiokv.runtime.kvcache.replay.place import Place
from xiokv.runtime.kvcache.replay.shelf import Shelf
from xiokv.runtime.kvcache.replay.tracing import Trace
from xiokv.runtime.kvcache.report import Report
from xiokv.runtime.leftovers import check_answers
from xiokv.runtime.testing import Rig

ROOM = 512 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """How plans are replayed.

    Attributes:
        sizes: bytes of each shard's blocks.
        seed: of bytes, faults and declined spans.
        verify: when checksums are compared.
        decline: share of the spans that the backend declines.
        faults: whether faults are injected.
        room: most bytes of blocks in the store, save where one plan needs more.
        keep: leave the donors in the store.
    """

    sizes: tuple[int, ...]
    seed: int = 1
    verify: Verify = "now"
    decline: float = 0.0
    faults: bool = False
    room: int = ROOM
    keep: bool = False


@dataclass(slots=True)
class Outcome:
    """What came of a replay.

    Attributes:
        metrics: of the executor.
        checked_blocks: blocks, of all shards, of which every byte was compared.
        checked_bytes: of these.
        check_seconds: that comparing them took.
        publish_seconds: that making and publishing donors took.
        published_bytes: of the donors that were published.
        seconds: that all of it took.
        wrong: the first block that counts and is not right, or None.
        faults: plans by what happened to them.
        failures: Retrieve commands by the status that they failed with.
        declined_spans: how many the backend declined.
        declined_retrieves: Retrieve commands for blocks of declined spans; None: not traced.
        without_contents: plans with content digests of real tokens, which were left out.
        without_keys: plans with block keys of a real store, which were left out.
        peak_rss_bytes: most memory that the process has had.
    """

    metrics: Metrics = field(default_factory=Metrics)
    checked_blocks: int = 0
    checked_bytes: int = 0
    check_seconds: float = 0.0
    publish_seconds: float = 0.0
    published_bytes: int = 0
    seconds: float = 0.0
    wrong: Wrong | None = None
    faults: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    declined_spans: int = 0
    declined_retrieves: int | None = None
    without_contents: int = 0
    without_keys: int = 0
    peak_rss_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing wrong counts, and nothing that was declined was asked for."""
        return self.wrong is None and not self.declined_retrieves


class Replay:
    """Replays plans at a place.

    Args:
        place: where.
        options: how.
        tell: is called with the metrics of each span.
        seen: is called with each report, after its bytes were compared.
    """

    def __init__(
        self,
        place: Place,
        options: Options,
        tell: Callable[[SpanMetrics], None] = lambda span: None,
        seen: Callable[[Report], None] = lambda report: None,
    ) -> None:
        self._place = place
        self._options = options
        self._tell, self._seen = tell, seen
        self._payloads = Payloads(options.seed, options.sizes)
        self._shelf = Shelf(place.storage, self._payloads, options.room)
        self._buffers = Buffers(place.module.empty if place.module else None)
        self._backend = Backend(options.decline, options.seed)
        rig = place.rig
        self._trace = Trace(rig.controller) if rig and options.decline else None
        self._disturbances = self._disturbed(rig) if rig and options.faults else None
        self._executors: dict[int, Executor] = {}

    def run(self, plans: Iterable[Plan]) -> Outcome:
        """Carry plans out until something is wrong; where this raises, `clear` is to follow."""
        outcome = Outcome(declined_retrieves=0 if self._trace else None)
        begun = time.perf_counter()
        for plan in plans:
            self._one(self._plain(plan, outcome), outcome)
            if not outcome.ok:
                break
        self._clear()
        outcome.seconds = time.perf_counter() - begun
        outcome.publish_seconds = self._shelf.seconds
        outcome.published_bytes = self._shelf.published_bytes
        outcome.peak_rss_bytes = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if self._disturbances:
            outcome.faults = self._disturbances.counts
        return outcome

    @property
    def left(self) -> int:
        """How many values of a replay that was cut off may be stored, at most."""
        return 0 if self._options.keep else self._shelf.left

    def clear(self, until: float) -> None:
        """Take the donors of a replay away that was cut off: see `leftovers.Stored`."""
        storage, rig = self._place.storage, self._place.rig
        if isinstance(storage, KvStorage):
            kv = storage.blocks.kv
            if self._disturbances is not None and rig is not None:
                rig.faults.recover()
            else:  # the controller is well: what is under way may end
                kv.reset()
            check_answers(kv)
        self._shelf.clear(until)

    def _clear(self) -> None:
        if self._options.keep:
            return
        if self._disturbances is None:
            self._shelf.clear()
        else:
            self._disturbances.steadily(self._shelf.clear)

    def _one(self, plan: Plan, outcome: Outcome) -> None:
        faults = self._disturbances
        if faults is None:
            self._shelf.prepare(plan)
            self._executed(plan, outcome)
            return
        faults.steadily(lambda: self._shelf.prepare(plan))
        report = None
        try:
            faults.before(plan)
            report = self._executed(plan, outcome)
        finally:
            faults.after(report)

    def _executed(self, plan: Plan, outcome: Outcome) -> Report:
        self._backend.begin()
        if self._trace:
            self._trace.forget()
        executor = self._executor(plan.block_tokens)
        self._failures()  # those of publishing raise
        report = executor.execute(plan)
        outcome.failures += self._failures()
        if self._options.verify == "later":
            report = executor.settle(report)
        outcome.declined_spans += len(self._backend.declined)
        if self._trace and outcome.declined_retrieves is not None:
            asked = self._trace.retrieved() & self._backend.declined_keys()
            outcome.declined_retrieves += len(asked)
        self._check(plan, report, outcome)
        for span in outcome.metrics.add(report):
            self._tell(span)
        self._seen(report)
        return report

    def _failures(self) -> Counter[str]:
        """Return the statuses that commands have failed with since this was called before."""
        storage = self._place.storage
        return storage.blocks.take_refusals() if isinstance(storage, KvStorage) else Counter()

    def _check(self, plan: Plan, report: Report, outcome: Outcome) -> None:
        begun = time.perf_counter()
        checked = check(plan, report, self._payloads)
        outcome.check_seconds += time.perf_counter() - begun
        outcome.checked_blocks += checked.blocks
        outcome.checked_bytes += checked.bytes
        outcome.wrong = checked.wrong

    def _executor(self, block_tokens: int) -> Executor:
        if block_tokens not in self._executors:
            layout = layout_of(block_tokens, self._options.sizes)
            self._executors[block_tokens] = Executor(
                self._place.storage,
                self._backend,
                allocate=self._buffers.allocate,
                settings=Settings(verify=self._options.verify, layout=layout),
            )
        return self._executors[block_tokens]

    def _plain(self, plan: Plan, outcome: Outcome) -> Plan:
        """Return a plan without what only the store that it was made for can have."""
        if plan.contents and not are_known(plan):
            outcome.without_contents += 1
            plan = msgspec.structs.replace(plan, contents=())
        if not any(span.keys for _, span in plan.donor_spans):
            return plan
        outcome.without_keys += 1
        spans = [
            msgspec.structs.replace(span, keys=()) if isinstance(span, DonorSpan) else span
            for span in plan.spans
        ]
        return msgspec.structs.replace(plan, spans=tuple(spans))

    def _disturbed(self, rig: Rig) -> Disturbances:
        place = self._place
        parts = (rig, place.storage, self._shelf, self._backend, self._buffers, place.clock)
        return Disturbances(Stage(*parts), self._options.seed)
