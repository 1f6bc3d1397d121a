"""How fast the SGLang connector moves pages here: ``python -m tests.connectors.measure``.

Not a test. Pages of one piece go between a pool on the host and the embedded controller, 128 a
call as SGLang asks for them; the median of the calls is printed.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from xiokv.runtime.connectors.sglang import Storage

PAGES, CALLS = 128, 15


class Pool:
    """Pages one after the other."""

    page_size = 1

    def __init__(self, size: int) -> None:
        self.size = size
        self.memory = np.random.default_rng(1).integers(0, 256, PAGES * size, np.uint8)

    def get_page_buffer_meta(self, indices: Any) -> tuple[list[int], list[int]]:
        begin = self.memory.ctypes.data
        return [begin + at * self.size for at in indices.tolist()], [self.size] * len(indices)


def storage(pool: Pool, **options: Any) -> Storage:
    made = Storage(
        SimpleNamespace(
            extra_config={"controller": "emulator", "tenant": str(pool.size), "interface_v1": 1}
            | options,
            tp_rank=0, tp_size=1, pp_rank=0, pp_size=1, attn_cp_rank=0, attn_cp_size=1,
            is_mla_model=True, enable_storage_metrics=False, is_page_first_layout=True,
            model_name="m",
        )
    )  # fmt: skip
    made.register_mem_pool_host(pool)
    return made


def median(call: Any) -> float:
    times = []
    for turn in range(CALLS):
        begun = time.perf_counter()
        assert call(turn), "a call failed"
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def keys(turn: int) -> list[str]:
    return [hashlib.sha256(f"{turn}:{page}".encode()).hexdigest() for page in range(PAGES)]


def row(size: int) -> str:
    """Return the figures of one size of pages."""
    pool, where = Pool(size), np.arange(PAGES)
    checked, unchecked = storage(pool), storage(pool, verify=False)
    moves = (checked.batch_set_v1, checked.batch_get_v1, unchecked.batch_get_v1)
    seconds = [median(lambda turn, move=move: all(move(keys(turn), where))) for move in moves]
    asked = median(lambda turn: checked.batch_exists(keys(turn)) == PAGES)
    for made in (checked, unchecked):
        made.close()
    speeds = "".join(f"{PAGES * size / time / 1e9:11.2f}" for time in seconds)
    return f"{size >> 10:5d} KiB{speeds}{asked / PAGES * 1e6:26.1f}"


def main() -> None:
    print("page        set GB/s   get GB/s  get GB/s unchecked   exists us/page")
    for size in (16 << 10, 128 << 10, 1 << 20):
        print(row(size), flush=True)


if __name__ == "__main__":
    main()
