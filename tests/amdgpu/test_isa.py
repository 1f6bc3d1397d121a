"""The rules for machine code, on a kernel of a few lines written by hand."""

from __future__ import annotations

import pytest

from xiokv.runtime import abi

from .isa.architecture import ARCHITECTURES
from .isa.listing import functions
from .isa.rules import complaints

# Stores a command and rings for it; then looks at an entry, reads it again, gives a result.
KERNEL = f"""\
s_load_dwordx2 s[4:5], s[0:1], {abi.Batch.queues.offset:#x}
s_load_dwordx2 s[6:7], s[0:1], {abi.Batch.results.offset:#x}
v_mov_b64_e32 v[2:3], s[4:5]
flat_load_dwordx4 v[4:7], v[2:3] offset:{abi.Queue.sq.offset}
flat_load_dwordx4 v[8:11], v[2:3] offset:{abi.Queue.sq_doorbell.offset}
s_waitcnt vmcnt(0) lgkmcnt(0)
v_lshl_add_u64 v[12:13], v[4:5], 0, v[0:1]
flat_store_dwordx4 v[12:13], v[16:19]
flat_store_dwordx4 v[12:13], v[16:19] offset:16
flat_store_dwordx4 v[12:13], v[16:19] offset:32
flat_store_dwordx4 v[12:13], v[16:19] offset:48
buffer_wbl2 sc0 sc1
s_waitcnt vmcnt(0)
s_barrier
flat_store_dword v[8:9], v20 sc0 sc1
flat_load_dwordx4 v[16:19], v[6:7] sc0 sc1
s_waitcnt vmcnt(0) lgkmcnt(0)
v_cmp_eq_u32_e32 vcc, 1, v19
s_barrier
buffer_inv sc0 sc1
flat_load_dwordx4 v[16:19], v[6:7] sc0 sc1
s_waitcnt vmcnt(0) lgkmcnt(0)
v_lshrrev_b32_e32 v22, 17, v19
v_mov_b64_e32 v[2:3], s[6:7]
flat_store_dword v[2:3], v22
s_endpgm
"""


def listed(text: str) -> str:
    """Return the lines as a disassembler prints them; "to N" is a branch to line N."""
    lines = text.splitlines()
    shown = ["0000000000000000 <kernel>:"]
    for i, line in enumerate(lines):
        code, _, target = line.partition(" to ")
        label = f" <kernel+{4 * int(target):#x}>" if target else ""
        shown.append(f"\t{code:<58} // {4 * i:012X}: 00000000{label}")
    return "\n".join(shown)


def found(text: str) -> list[str]:
    return complaints(functions(listed(text))["kernel"], ARCHITECTURES["gfx942"])


def test_a_kernel_that_keeps_to_the_rules_draws_no_complaint() -> None:
    assert found(KERNEL) == []


# What is in the kernel once, what takes its place, and the complaint.
CHANGES = {
    "no write-back": ("buffer_wbl2 sc0 sc1\n", "", "not released"),
    "a write-back as far as the GPU": ("buffer_wbl2 sc0 sc1", "buffer_wbl2 sc1", "not released"),
    "no wait for the write-back": (
        "buffer_wbl2 sc0 sc1\ns_waitcnt vmcnt(0)\n",
        "s_waitcnt vmcnt(0)\nbuffer_wbl2 sc0 sc1\n",
        "not released",
    ),
    "a wait for some stores": (
        "s_waitcnt vmcnt(0)\ns_barrier",
        "s_waitcnt vmcnt(1)\ns_barrier",
        "not released",
    ),
    "a store after the write-back": (
        "flat_store_dwordx4 v[12:13], v[16:19] offset:48\nbuffer_wbl2 sc0 sc1\n",
        "buffer_wbl2 sc0 sc1\nflat_store_dwordx4 v[12:13], v[16:19] offset:48\n",
        "not released",
    ),
    "a store after the barrier": (
        "s_barrier\nflat_store_dword v[8:9]",
        "s_barrier\nflat_store_dwordx4 v[12:13], v[16:19]\nflat_store_dword v[8:9]",
        "between the barrier and the SQ doorbell",
    ),
    "no barrier": ("s_barrier\nflat_store", "flat_store", "no barrier before the SQ doorbell"),
    "a way past the wait": (
        "buffer_wbl2 sc0 sc1",
        "s_cbranch_scc1 1 to 14\nbuffer_wbl2 sc0 sc1",
        "not released",
    ),
    "a store of half a quarter": (
        "flat_store_dwordx4 v[12:13], v[16:19] offset:48",
        "flat_store_dwordx2 v[12:13], v[16:17] offset:48",
        "a store of 8 bytes to the submission ring",
    ),
    "a quarter left out": (
        "flat_store_dwordx4 v[12:13], v[16:19] offset:32\n",
        "",
        "do not cover an SQE",
    ),
    "a quarter stored twice": ("v[16:19] offset:32", "v[16:19] offset:16", "do not cover an SQE"),
    "no doorbell": ("flat_store_dword v[8:9], v20 sc0 sc1\n", "", "no store to the SQ doorbell"),
    "no invalidate": ("buffer_inv sc0 sc1\n", "", "no buffer_inv sc0 sc1 since a barrier"),
    "an invalidate before the barrier": (
        "s_barrier\nbuffer_inv sc0 sc1\n",
        "buffer_inv sc0 sc1\ns_barrier\n",
        "no buffer_inv sc0 sc1 since a barrier",
    ),
    "a way past the invalidate": (
        "buffer_inv sc0 sc1\n",
        "s_cbranch_vccz 1 to 21\nbuffer_inv sc0 sc1\n",
        "no buffer_inv sc0 sc1 since a barrier",
    ),
    "no second read": (
        "buffer_inv sc0 sc1\nflat_load_dwordx4 v[16:19], v[6:7] sc0 sc1\n",
        "buffer_inv sc0 sc1\n",
        "for its phase alone",
    ),
    "a second read of one dword": (
        "buffer_inv sc0 sc1\nflat_load_dwordx4 v[16:19], v[6:7] sc0 sc1",
        "buffer_inv sc0 sc1\nflat_load_dword v19, v[6:7] offset:12 sc0 sc1",
        "read by a load of 4 bytes",
    ),
    "a look through the caches": (
        "flat_load_dwordx4 v[16:19], v[6:7] sc0 sc1\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_cmp",
        "flat_load_dwordx4 v[16:19], v[6:7] sc0\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_cmp",
        "through the caches",
    ),
    "no result": ("flat_store_dword v[2:3], v22", "s_nop 0", "no result comes from a completion"),
    "a call": ("s_endpgm", "s_swappc_b64 s[30:31], s[2:3]\ns_endpgm", "calls"),
    "scratch": ("s_endpgm", "scratch_store_dword off, v2, off\ns_endpgm", "uses scratch"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_breaks_a_rule_draws_a_complaint(name: str) -> None:
    there, instead, words = CHANGES[name]
    assert KERNEL.count(there) == 1
    complained = found(KERNEL.replace(there, instead))
    assert any(words in line for line in complained), complained


def test_values_are_followed_through_a_spilled_register() -> None:
    moved = "v_writelane_b32 v40, s6, 7\ns_mov_b32 s6, 0\nv_readlane_b32 s6, v40, 7\n"
    assert (
        found(
            KERNEL.replace(
                "v_mov_b64_e32 v[2:3], s[6:7]\n", f"{moved}v_mov_b64_e32 v[2:3], s[6:7]\n"
            )
        )
        == []
    )


def test_a_wave_goes_past_the_second_read_where_it_went_past_the_invalidate() -> None:
    invalidate = (
        "s_and_saveexec_b64 s[30:31], s[20:21]\ns_cbranch_execz 1 to 22\nbuffer_inv sc0 sc1\n"
    )
    read = "s_and_saveexec_b64 s[30:31], s[20:21]\ns_cbranch_execz 1 to 29\nflat_load"
    text = KERNEL.replace("buffer_inv sc0 sc1\nflat_load", f"{invalidate}{read}")
    assert found(text) == []
    # Another mask is another condition.
    assert found(text.replace(read, read.replace("s[20:21]", "s[26:27]"))) != []


def test_a_wave_that_saw_no_entry_reads_none_again_and_needs_no_invalidate() -> None:
    seen = (
        "v_cmp_ne_u32_e64 s[20:21], 0, v30\n"
        "s_and_saveexec_b64 s[30:31], s[20:21]\n"
        "s_cbranch_execz 1 to 23\nbuffer_inv sc0 sc1\n"
        "v_cmp_lt_u32_e32 vcc, v0, v30\n"
        "s_and_saveexec_b64 s[30:31], vcc\n"
        "s_cbranch_execz 1 to 31\nflat_load"
    )
    text = KERNEL.replace("buffer_inv sc0 sc1\nflat_load", seen)
    assert found(text) == []
    # Above nothing is not below something.
    assert (
        found(text.replace("v_cmp_lt_u32_e32 vcc, v0, v30", "v_cmp_gt_u32_e32 vcc, v0, v30")) != []
    )
