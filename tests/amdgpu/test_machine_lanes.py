"""Instructions that look at other lanes, or say which lanes take part."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from .device_code import ARCHITECTURES, image, requires_tools
from .machine import Image

pytestmark = requires_tools

# Of a lane: its number, the values of all lanes, and how many there are.
Oracle = Callable[[int, Sequence[int], int], int]

OLD = 9  # What a lane that is not written keeps.


@dataclass(frozen=True)
class Case:
    """An instruction from {a} to {d}; which lanes execute it; what they get."""

    text: str
    oracle: Oracle
    lanes: str = "true"
    only: tuple[str, ...] = ("gfx",)


def row(lane: int, place: int, values: Sequence[int], otherwise: int) -> int:
    """Return the value at a place of the lane's row of 16, which may lie outside."""
    return values[lane // 16 * 16 + place] if 0 <= place < 16 else otherwise


MOVE = "v_mov_b32_dpp {d}, {a}"
FULL = "row_mask:0xf bank_mask:0xf"
GFX9, LATER = ("gfx9",), ("gfx1",)

CASES = (
    Case(
        f"{MOVE} quad_perm:[1,3,0,2] {FULL}",
        lambda lane, v, n: v[lane // 4 * 4 + (1, 3, 0, 2)[lane % 4]],
    ),
    Case(f"{MOVE} row_shr:3 {FULL}", lambda lane, v, n: row(lane, lane % 16 - 3, v, OLD)),
    Case(
        f"{MOVE} row_shl:5 {FULL} bound_ctrl:1",
        lambda lane, v, n: row(lane, lane % 16 + 5, v, 0),
    ),
    Case(f"{MOVE} row_ror:6 {FULL}", lambda lane, v, n: row(lane, (lane - 6) % 16, v, OLD)),
    Case(f"{MOVE} row_mirror {FULL}", lambda lane, v, n: v[lane ^ 15]),
    Case(f"{MOVE} row_half_mirror {FULL}", lambda lane, v, n: v[lane ^ 7]),
    Case(
        f"{MOVE} row_mirror row_mask:0x5 bank_mask:0xe",
        lambda lane, v, n: v[lane ^ 15] if lane // 16 % 2 == 0 and lane % 16 >= 4 else OLD,
    ),
    Case(
        "v_add_u32_dpp {d}, {a}, {a} row_shr:1 " + FULL,
        lambda lane, v, n: (v[lane - 1] + v[lane]) & (2**32 - 1) if lane % 16 else OLD,
        only=GFX9,
    ),
    Case(
        f"{MOVE} row_bcast:15 row_mask:0xa bank_mask:0xf",
        lambda lane, v, n: v[lane // 16 * 16 - 1] if lane // 16 % 2 else OLD,
        only=GFX9,
    ),
    Case(
        f"{MOVE} row_bcast:31 row_mask:0xc bank_mask:0xf",
        lambda lane, v, n: v[31] if lane >= 32 else OLD,
        only=GFX9,
    ),
    Case(f"{MOVE} wave_shr:1 {FULL}", lambda lane, v, n: v[lane - 1] if lane else OLD, only=GFX9),
    Case(f"{MOVE} row_share:3 {FULL}", lambda lane, v, n: row(lane, 3, v, OLD), only=LATER),
    Case(f"{MOVE} row_xmask:6 {FULL}", lambda lane, v, n: v[lane ^ 6], only=LATER),
    Case(
        f"{MOVE} dpp8:[7,6,5,4,3,2,1,0]",
        lambda lane, v, n: v[lane ^ 7],
        only=LATER,
    ),
    Case(
        "v_permlane16_b32 {d}, {a}, s4, s5",
        lambda lane, v, n: row(lane, 15 - lane % 16, v, OLD),
        only=LATER,
    ),
    Case(
        "v_permlanex16_b32 {d}, {a}, s4, s5",
        lambda lane, v, n: row(lane ^ 16, 15 - lane % 16, v, OLD),
        only=LATER,
    ),
    Case(
        "v_readfirstlane_b32 s6, {a}\\nv_mov_b32 {d}, s6",
        lambda lane, v, n: v[3] if lane >= 3 else OLD,
        lanes="lane() >= 3",
    ),
    Case("v_readlane_b32 s6, {a}, 5\\nv_mov_b32 {d}, s6", lambda lane, v, n: v[5]),
    Case(
        "s_movk_i32 s6, 77\\nv_writelane_b32 {d}, s6, 2",
        lambda lane, v, n: 77 if lane == 2 else OLD,
    ),
    Case(
        "s_mov_b32 s6, 0xffff00ff\\nv_mbcnt_lo_u32_b32 {d}, s6, 10",
        lambda lane, v, n: 10 + (0xFFFF00FF & (2 ** min(lane, 32) - 1)).bit_count(),
    ),
    Case(
        "s_movk_i32 s6, 0xf0\\nv_mbcnt_hi_u32_b32 {d}, s6, 10",
        lambda lane, v, n: 10 + (0xF0 & (2 ** max(lane - 32, 0) - 1)).bit_count(),
    ),
    Case(
        "v_mov_b32 v6, 0x48\\nds_bpermute_b32 {d}, v6, {a} offset:4\\n{wait}",
        lambda lane, v, n: v[0x4C // 4],
    ),
    # A lane that takes no part has nothing to give.
    Case(
        "v_mov_b32 v6, 8\\nds_bpermute_b32 {d}, v6, {a}\\n{wait}",
        lambda lane, v, n: 0 if lane >= 3 else OLD,
        lanes="lane() >= 3",
    ),
    Case(
        "v_mbcnt_lo_u32_b32 v6, -1, 0\\nv_xor_b32 v6, 1, v6\\nv_lshlrev_b32 v6, 2, v6\\n"
        "ds_permute_b32 {d}, v6, {a}\\n{wait}",
        lambda lane, v, n: v[lane ^ 1] if lane < 32 else OLD,
        lanes="lane() < 32",
    ),
    Case(
        "v_cmp_gt_u32 {vcc}, 7, {lane}\\nv_cndmask_b32 {d}, 1, {a}, {vcc}",
        lambda lane, v, n: v[lane] if lane < 7 else 1,
    ),
    Case(
        "v_cmp_gt_u32 {vcc}, 7, {lane}\\n{save} s[6:7], {vcc}\\nv_mov_b32 {d}, {a}\\n"
        "{move} {exec}, s[6:7]",
        lambda lane, v, n: v[lane] if lane < 7 else OLD,
        only=GFX9,
    ),
    Case(
        "s_mov_b32 s6, exec_lo\\nv_cmpx_gt_u32 7, {lane}\\nv_mov_b32 {d}, {a}\\n"
        "s_mov_b32 exec_lo, s6",
        lambda lane, v, n: v[lane] if lane < 7 else OLD,
        only=LATER,
    ),
    # The complement of a mask, as for an else.
    Case(
        "s_mov_b32 s6, 0xff\\ns_xor_saveexec_b32 s7, s6\\nv_mov_b32 {d}, {a}\\n"
        "s_and_not1_saveexec_b32 s6, exec_lo\\nv_mov_b32 {d}, 3\\ns_mov_b32 exec_lo, s7",
        lambda lane, v, n: v[lane] if lane >= 8 else OLD,
        only=LATER,
    ),
)

KERNEL = """
KERNEL case{number}(const uint32_t *from, uint32_t *to) {{
  const uint32_t a = from[lane()], self = lane();
  uint32_t d = 9;
  if ({lanes})
    asm volatile("{text}" : "+v"(d) : "v"(a), "v"(self)
                 : "v6", "s4", "s5", "s6", "s7", "vcc");
  to[lane()] = d;
}}
"""
# s4 and s5 name the lanes of a row from the last to the first.
REVERSED = "s_mov_b32 s4, 0x89abcdef\\ns_mov_b32 s5, 0x01234567\\n"


def cases(architecture: str) -> list[Case]:
    return [case for case in CASES if architecture.startswith(case.only)]


def kernel_of(case: Case, number: int, architecture: str) -> str:
    wide = architecture.startswith("gfx9")
    words = {
        "d": "%0",
        "a": "%1",
        "lane": "%2",
        "vcc": "vcc" if wide else "vcc_lo",
        "exec": "exec",
        "save": "s_and_saveexec_b64",
        "move": "s_mov_b64",
        "wait": "s_wait_dscnt 0" if architecture == "gfx1201" else "s_waitcnt lgkmcnt(0)",
    }
    text = REVERSED + case.text.format(**words)
    return KERNEL.format(number=number, lanes=case.lanes, text=text)


def run_case(code: Image, number: int, values: Sequence[int]) -> list[int]:
    given, found = ((ctypes.c_uint32 * code.wave)(*values) for _ in range(2))
    arguments = struct.pack("2Q", ctypes.addressof(given), ctypes.addressof(found))
    with code.start(f"case{number}", arguments, lanes=(code.wave,), limit=10_000) as run:
        run.to_end()
    return list(found)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lanes_get_what_they_should(tmp_path: Path, architecture: str) -> None:
    source = tmp_path / "lanes.hip"
    kernels = (kernel_of(case, i, architecture) for i, case in enumerate(cases(architecture)))
    source.write_text(f'#include "device.h"\n{"".join(kernels)}')
    code = image(str(source), architecture)
    assert code.unknown == []
    values = [1000 + 7 * lane for lane in range(code.wave)]
    wrong = {}
    for i, case in enumerate(cases(architecture)):
        wanted = [case.oracle(lane, values, code.wave) for lane in range(code.wave)]
        if (found := run_case(code, i, values)) != wanted:
            wrong[case.text] = (found, wanted)
    assert wrong == {}
