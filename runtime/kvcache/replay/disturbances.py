"""What goes wrong in a replay, by a seed: before and while a plan is carried out.

Values are taken away, cut and changed in the store; leases end; donors get a new generation;
commands are late, lost, answered falsely; the controller stops in the middle of a batch or
dies. Afterwards all is made good, so that one plan's fault is not the next one's.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime.emulator import FaultKind
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.materialiser import Offer
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.replay.backend import Backend, value_keys
from xiokv.runtime.kvcache.replay.buffers import Buffers
from xiokv.runtime.kvcache.replay.shelf import Shelf
from xiokv.runtime.kvcache.report import Report
from xiokv.runtime.kvcache.storage import Storage
from xiokv.runtime.log import log
from xiokv.runtime.operation import Operation
from xiokv.runtime.testing import Rig

#: Seconds without a completion after which a queue is given up where faults are injected; on
#: a pool these are after the store's own.
TIMEOUT = 0.4
#: Share of the plans that something happens to.
SHARE = 0.7

_AN_HOUR = 3600.0
_SOON = 0.003
_NEVER_BEFORE = 64
# A machine with too much to do may be late where nothing was injected.
_TRIES = 5


@dataclass(slots=True)
class Clock:
    """The clock of the leases, which can be put forward."""

    ahead: float = 0.0

    def __call__(self) -> float:
        """Return seconds that only go forward."""
        return time.monotonic() + self.ahead

    def jump(self) -> None:
        """Go forward by more than any lease."""
        self.ahead += _AN_HOUR


@dataclass(frozen=True, slots=True)
class Stage:
    """What a replay works on, for whoever disturbs it.

    Attributes:
        rig: the embedded controller, the calls on it, and its faults.
        storage: on it.
        shelf: the donors on the storage.
        backend: takes and declines spans.
        buffers: where blocks land.
        clock: of the leases.
    """

    rig: Rig
    storage: Storage
    shelf: Shelf
    backend: Backend
    buffers: Buffers
    clock: Clock


@dataclass(slots=True)
class Disturbances:
    """Draws a fault for each plan.

    Attributes:
        stage: what is disturbed.
        seed: of all that is drawn.
        counts: plans by what happened to them.
    """

    stage: Stage
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(init=False)
    _damaged: set[str] = field(default_factory=set)
    _timer: threading.Timer | None = None
    _must_recover: bool = False

    def __post_init__(self) -> None:
        self._chance = random.Random(f"faults {self.seed}")  # noqa: S311 - the same each time

    def before(self, plan: Plan) -> None:
        """Do something to a plan whose donors are stored, or nothing."""
        spans = [span for _, span in plan.donor_spans]
        if not spans or self._chance.random() >= SHARE:
            self.counts["none"] += 1
            return
        name = self._chance.choice(list(_KINDS))
        self.counts[name] += 1
        span = self._chance.choice(spans)
        self.steadily(lambda: _KINDS[name](self, span))

    def after(self, report: Report | None) -> None:
        """Make good what was done."""
        if self._timer is not None:
            self._timer.join()
            self._timer = None
        stage = self.stage
        stage.backend.undisturbed()
        stage.buffers.undisturbed()
        if self._must_recover or report is None or report.buffer_may_be_written:
            self._recover()
            self._must_recover = False
        else:
            stage.rig.faults.clear()
        self.steadily(lambda: stage.shelf.remove(self._damaged))
        self._damaged.clear()

    def steadily(self, what: Callable[[], None]) -> None:
        """Do what no fault is meant for, again on new queues where it fails."""
        for _ in range(_TRIES - 1):
            try:
                return what()
            except RuntimeFault as fault:
                log.warning("done again on new queues: %s", str(fault).partition("\n")[0])
                self._recover()
        return what()

    def _recover(self) -> None:
        self.stage.rig.faults.recover()
        self.stage.buffers.forget()

    def _keys(self, span: DonorSpan) -> list[bytes]:
        """Return the keys of a few of a span's values."""
        keys = value_keys(self.stage.storage.resolve(span.donor).manifest, span)
        return self._chance.sample(keys, self._chance.randint(1, min(3, len(keys))))

    # What is stored

    def _missing(self, span: DonorSpan) -> None:
        self._damaged.add(span.donor)
        self.stage.rig.kv.delete(self._keys(span)).raise_for_status()

    def _truncated(self, span: DonorSpan) -> None:
        self._damaged.add(span.donor)
        self.stage.rig.faults.truncate(self._keys(span), self._chance.randrange(1, 4))

    def _lengthened(self, span: DonorSpan) -> None:
        self._damaged.add(span.donor)
        self.stage.rig.faults.lengthen(self._keys(span), self._chance.randint(1, 8))

    def _flipped(self, span: DonorSpan) -> None:
        self._damaged.add(span.donor)
        self.stage.rig.faults.flip(self._keys(span), self._chance.randint(1, 8))

    # What is promised

    def _expired(self, span: DonorSpan) -> None:
        self.stage.buffers.before_use = self.stage.clock.jump

    def _expiring(self, span: DonorSpan) -> None:
        self._soon(self.stage.clock.jump)

    def _renewed(self, span: DonorSpan) -> None:
        def renew(offer: Offer) -> None:
            if offer.span.donor == span.donor:
                self._damaged.add(span.donor)
                self.stage.backend.undisturbed()
                self.stage.shelf.renew(span.donor)

        self.stage.backend.before_decision = renew

    # What commands meet

    def _late(self, span: DonorSpan) -> None:
        self.stage.rig.faults.delay(self._keys(span), TIMEOUT / 8, Operation.RETRIEVE)

    def _overdue(self, span: DonorSpan) -> None:
        self._must_recover = True
        overdue = 4 * self.stage.rig.kv.timeout
        self.stage.rig.faults.delay(self._keys(span), overdue, Operation.RETRIEVE)

    def _dropped(self, span: DonorSpan) -> None:
        self._must_recover = True
        self.stage.rig.faults.drop(self._keys(span), Operation.RETRIEVE)

    def _refused(self, span: DonorSpan) -> None:
        self.stage.rig.faults.fail(self._keys(span), operation=Operation.RETRIEVE)

    def _mis_sized(self, span: DonorSpan) -> None:
        for key in self._keys(span):
            size = self._chance.randint(1, 1 << 20)
            self.stage.rig.controller.fault(FaultKind.BAD_SIZE, key=key, amount=size)

    def _disordered(self, span: DonorSpan) -> None:
        controller = self.stage.rig.controller
        controller.fault(FaultKind.REORDER, amount=8)
        controller.fault(FaultKind.DUPLICATE, amount=50, probability=0.2)

    def _stalled(self, span: DonorSpan) -> None:
        self._must_recover = True
        nth = self._chance.randint(1, _NEVER_BEFORE)
        self.stage.buffers.before_use = lambda: self.stage.rig.controller.fault(
            FaultKind.STALL, nth=nth, opcode=Opcode.RETRIEVE
        )

    def _died(self, span: DonorSpan) -> None:
        self._must_recover = True
        self._soon(self.stage.rig.controller.kill)

    def _soon(self, what: Callable[[], None]) -> None:
        """Do something a little after the batch was begun, on a thread of its own."""

        def start() -> None:
            self._timer = threading.Timer(self._chance.uniform(0, _SOON), what)
            self._timer.start()

        self.stage.buffers.before_use = start


_KINDS: dict[str, Callable[[Disturbances, DonorSpan], None]] = {
    "missing": Disturbances._missing,
    "truncated": Disturbances._truncated,
    "lengthened": Disturbances._lengthened,
    "flipped": Disturbances._flipped,
    "lease expired": Disturbances._expired,
    "lease expiring": Disturbances._expiring,
    "new generation": Disturbances._renewed,
    "late": Disturbances._late,
    "overdue": Disturbances._overdue,
    "dropped": Disturbances._dropped,
    "refused": Disturbances._refused,
    "false size": Disturbances._mis_sized,
    "out of order": Disturbances._disordered,
    "stalled": Disturbances._stalled,
    "died": Disturbances._died,
}
