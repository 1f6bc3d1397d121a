"""What a caller asked for: options of the command line in, a `Result` out.

Everything is checked before anything is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xiokv.runtime.bench.progress import Progress
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.breakeven import fetch, geometry_file, quantities, recorded
from xiokv.runtime.kvcache.breakeven.compare import Reuse
from xiokv.runtime.kvcache.breakeven.geometry import Geometry
from xiokv.runtime.kvcache.breakeven.measure import Setting, measure
from xiokv.runtime.kvcache.breakeven.recompute import DEFAULT_MFU, Formula, Recompute, Speed
from xiokv.runtime.kvcache.breakeven.study import Result, lengths, study
from xiokv.runtime.module import load

BLOCK_SIZES = "4KiB,16KiB,128KiB,1MiB"
DEPTH, RUNS = 1024, 7

_GIGA, _MICROSECOND = 1e9, 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options, as they were written; None where one was not."""

    target: str | None = None
    queues: int | None = None
    depth: int | None = None
    runs: int | None = None
    place: str | None = None
    store: str | None = None
    recorded: Path | None = None
    fetch_gbps: str | None = None
    fetch_latency_us: str | None = None
    block_sizes: str | None = None
    speeds: tuple[str, ...] = ()
    flops: tuple[str, ...] = ()
    mfu: str | None = None
    parameters: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    kv_dtype: str = "bf16"
    checkpoint_every: int | None = None
    contexts: str | None = None

    @property
    def measuring(self) -> list[str]:
        """Those that only a measurement has a use for."""
        values = {
            "--target": self.target,
            "--queues": self.queues,
            "--depth": self.depth,
            "--runs": self.runs,
            "--store": self.store,
        }
        return [name for name, value in values.items() if value is not None]


def result(asked: Asked) -> Result:
    """Return all that is told.

    Raises:
        ArgumentFault: options make no sense, or not together.
        RuntimeFault: a file or a measurement is wrong.
    """
    geometries = geometry_file.select(asked.models, asked.files)
    recomputes = _recomputes(asked, geometries)
    reuses = _reuses(asked, geometries)
    counts = () if asked.contexts is None else quantities.token_counts(asked.contexts)
    contexts = [lengths(reuse, counts) for reuse in reuses]
    side = _fetch(asked)
    parts = zip(reuses, recomputes, contexts, strict=True)
    return Result(side, tuple(study(reuse, side, cost, at) for reuse, cost, at in parts))


def _reuses(asked: Asked, geometries: Sequence[Geometry]) -> list[Reuse]:
    every = asked.checkpoint_every or 0
    if every and not any(geometry.state_bytes for geometry in geometries):
        names = ", ".join(geometry.name for geometry in geometries)
        raise ArgumentFault(f"--checkpoint-every: none of {names} has a recurrent state")
    return [Reuse(geometry, asked.kv_dtype, every) for geometry in geometries]


def _recomputes(asked: Asked, geometries: Sequence[Geometry]) -> list[Recompute]:
    """Return what a prefill of each model costs."""
    names = [geometry.name for geometry in geometries]
    speeds = quantities.by_model("--prefill-tokens-per-s", asked.speeds, names, shared=False)
    flops = quantities.by_model("--flops", asked.flops, names, shared=True)
    parameters = quantities.by_model("--parameters", asked.parameters, names, shared=False)
    mfu = DEFAULT_MFU if asked.mfu is None else quantities.positive("--mfu", asked.mfu)
    if mfu > 1:
        raise ArgumentFault(f"--mfu: {asked.mfu} is more than all; above 0 to 1 is allowed")
    if any(number < 1 for number in parameters.values()):
        raise ArgumentFault("--parameters: less than one is none; 1 or more is allowed")
    _check_recompute(asked, names, speeds, flops, parameters)
    return [
        Speed(speeds[one.name])
        if one.name in speeds
        else Formula(
            one,
            round(parameters.get(one.name, one.active_parameters)),
            flops[one.name],
            mfu,
            asked.mfu is not None,
        )
        for one in geometries
    ]


def _check_recompute(
    asked: Asked,
    names: Sequence[str],
    speeds: Mapping[str, float],
    flops: Mapping[str, float],
    parameters: Mapping[str, float],
) -> None:
    """Stop unless it is said once of each model what a prefill costs."""
    unsaid = [name for name in names if name not in speeds and name not in flops]
    if unsaid:
        raise ArgumentFault(
            f"what does a prefill of {', '.join(unsaid)} cost? Give --prefill-tokens-per-s, or"
            " --flops (and --mfu) of what computes it, such as --flops 989e12"
        )
    twice = [
        name
        for name in names
        if name in speeds
        and (name in parameters or any(t.startswith(f"{name}=") for t in asked.flops))
    ]
    if twice:
        raise ArgumentFault(
            f"{', '.join(twice)}: with --prefill-tokens-per-s, leave --flops and --parameters out"
        )
    if len(speeds) == len(names) and (flops or asked.mfu):
        raise ArgumentFault(
            "--prefill-tokens-per-s says it of every model: leave --flops and --mfu out"
        )


def _fetch(asked: Asked) -> fetch.Fetch:
    """Return what blocks cost: given, recorded, or measured now."""
    _check_fetch(asked)
    latency = None if asked.fetch_latency_us is None else _latency(asked.fetch_latency_us)
    sizes = () if asked.block_sizes is None else quantities.block_sizes(asked.block_sizes)
    if asked.recorded is not None:
        return recorded.read(asked.recorded, asked.place or "", sizes, latency)
    sizes = sizes or quantities.block_sizes(BLOCK_SIZES)
    if asked.fetch_gbps is not None:
        rate = quantities.positive("--fetch-gbps", asked.fetch_gbps) * _GIGA
        return fetch.given(sizes, rate, latency or 0.0)
    return _measured(asked, sizes)


def _latency(text: str) -> float:
    return quantities.not_negative("--fetch-latency-us", text) * _MICROSECOND


def _check_fetch(asked: Asked) -> None:
    """Stop unless options of one side alone were given."""
    instead = [
        name
        for name, value in (("--recorded", asked.recorded), ("--fetch-gbps", asked.fetch_gbps))
        if value is not None
    ]
    if len(instead) > 1:
        raise ArgumentFault("--recorded and --fetch-gbps both say what a fetch costs: give one")
    if instead and asked.measuring:
        raise ArgumentFault(
            f"{instead[0]} measures nothing: leave {', '.join(asked.measuring)} out"
        )
    if asked.fetch_gbps is not None and asked.place:
        raise ArgumentFault("--fetch-gbps is of no place: leave --place out")
    if asked.fetch_latency_us is not None and not instead:
        raise ArgumentFault("--fetch-latency-us goes with --fetch-gbps or --recorded")


def _measured(asked: Asked, sizes: Sequence[int]) -> fetch.Fetch:
    module = load(asked.target)
    setting = Setting(
        asked.queues or 0,
        asked.depth or DEPTH,
        asked.runs or RUNS,
        asked.place or "",
        "memory" if asked.store is None else asked.store,
    )
    progress = Progress()
    progress.table("fetch")
    try:
        return measure(module, sizes, setting, progress.say)
    finally:
        progress.clear()
