"""What instructions compute, said a second time: a table of texts and of Python functions.

In a text, {d} is the target and {a}, {b}, {c} are sources of 32 bits; capitals are pairs, of 64.
The target holds c, or C, before. Of two names with a bar between them, gfx9 has the first one and
later processors the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Oracle = Callable[[int, int, int], int]

M16, M24, M32, M64 = (2**bits - 1 for bits in (16, 24, 32, 64))


@dataclass(frozen=True)
class Case:
    """An instruction, and what becomes of its target; of a scalar one, of the code as well."""

    text: str
    oracle: Oracle
    code: Oracle | None = None
    only: str = "gfx"  # What the processor's name begins with.


def signed(value: int, bits: int = 32) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def leading(value: int, bits: int) -> int:
    return bits - value.bit_length() if value else -1


def trailing(value: int) -> int:
    return (value & -value).bit_length() - 1


def leading_signs(value: int, bits: int) -> int:
    return leading(~value & (2**bits - 1) if signed(value, bits) < 0 else value, bits)


def reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def field(value: int, offset: int, width: int) -> int:
    return value >> offset & (2**width - 1)


def permute(a: int, b: int, selector: int) -> int:
    both, result = a << 32 | b, 0
    for place in range(4):
        which = selector >> 8 * place & 0xFF
        if which < 8:
            byte = both >> 8 * which & 0xFF
        elif which < 12:
            byte = 0xFF if both >> (16 * (which - 8) + 15) & 1 else 0
        else:
            byte = 0 if which == 12 else 0xFF
        result |= byte << 8 * place
    return result


def low24(value: int) -> int:
    return signed(value, 24)


VECTOR = (
    Case("v_add_u32 {d}, {a}, {b}|v_add_nc_u32 {d}, {a}, {b}", lambda a, b, c: a + b),
    Case("v_sub_u32 {d}, {a}, {b}|v_sub_nc_u32 {d}, {a}, {b}", lambda a, b, c: a - b),
    Case("v_subrev_u32 {d}, {a}, {b}|v_subrev_nc_u32 {d}, {a}, {b}", lambda a, b, c: b - a),
    Case(
        "v_add_u32 {d}, {a}, {b} clamp|v_add_nc_u32 {d}, {a}, {b} clamp",
        lambda a, b, c: min(a + b, M32),
    ),
    Case(
        "v_sub_u32 {d}, {a}, {b} clamp|v_sub_nc_u32 {d}, {a}, {b} clamp",
        lambda a, b, c: max(a - b, 0),
    ),
    Case("v_mul_lo_u32 {d}, {a}, {b}", lambda a, b, c: a * b),
    Case("v_mul_hi_u32 {d}, {a}, {b}", lambda a, b, c: a * b >> 32),
    Case("v_mul_hi_i32 {d}, {a}, {b}", lambda a, b, c: signed(a) * signed(b) >> 32),
    Case("v_mul_u32_u24 {d}, {a}, {b}", lambda a, b, c: (a & M24) * (b & M24)),
    Case("v_mul_i32_i24 {d}, {a}, {b}", lambda a, b, c: low24(a) * low24(b)),
    Case("v_mul_hi_u32_u24 {d}, {a}, {b}", lambda a, b, c: (a & M24) * (b & M24) >> 32),
    Case("v_mul_hi_i32_i24 {d}, {a}, {b}", lambda a, b, c: low24(a) * low24(b) >> 32),
    Case("v_mad_u32_u24 {d}, {a}, {b}, {c}", lambda a, b, c: (a & M24) * (b & M24) + c),
    Case("v_mad_i32_i24 {d}, {a}, {b}, {c}", lambda a, b, c: low24(a) * low24(b) + c),
    Case("v_sad_u32 {d}, {a}, {b}, {c}", lambda a, b, c: abs(a - b) + c),
    Case("v_add3_u32 {d}, {a}, {b}, {c}", lambda a, b, c: a + b + c),
    Case("v_xad_u32 {d}, {a}, {b}, {c}", lambda a, b, c: (a ^ b) + c),
    Case("v_lshl_add_u32 {d}, {a}, {b}, {c}", lambda a, b, c: (a << (b & 31)) + c),
    Case("v_add_lshl_u32 {d}, {a}, {b}, {c}", lambda a, b, c: (a + b) << (c & 31)),
    Case("v_lshl_or_b32 {d}, {a}, {b}, {c}", lambda a, b, c: (a << (b & 31)) | c),
    Case("v_and_or_b32 {d}, {a}, {b}, {c}", lambda a, b, c: (a & b) | c),
    Case("v_or3_b32 {d}, {a}, {b}, {c}", lambda a, b, c: a | b | c),
    Case("v_xor3_b32 {d}, {a}, {b}, {c}", lambda a, b, c: a ^ b ^ c, only="gfx1"),
    Case("v_xnor_b32 {d}, {a}, {b}", lambda a, b, c: ~(a ^ b)),
    Case("v_not_b32 {d}, {a}", lambda a, b, c: ~a),
    Case("v_bfi_b32 {d}, {a}, {b}, {c}", lambda a, b, c: (a & b) | (~a & c)),
    Case("v_bfm_b32 {d}, {a}, {b}", lambda a, b, c: (2 ** (a & 31) - 1) << (b & 31)),
    Case("v_bfe_u32 {d}, {a}, {b}, {c}", lambda a, b, c: field(a, b & 31, c & 31)),
    Case(
        "v_bfe_i32 {d}, {a}, {b}, {c}",
        lambda a, b, c: signed(signed(a) >> (b & 31), c & 31) if c & 31 else 0,
    ),
    Case("v_lshlrev_b32 {d}, {a}, {b}", lambda a, b, c: b << (a & 31)),
    Case("v_lshrrev_b32 {d}, {a}, {b}", lambda a, b, c: b >> (a & 31)),
    Case("v_ashrrev_i32 {d}, {a}, {b}", lambda a, b, c: signed(b) >> (a & 31)),
    Case("v_alignbit_b32 {d}, {a}, {b}, {c}", lambda a, b, c: (a << 32 | b) >> (c & 31)),
    Case("v_alignbyte_b32 {d}, {a}, {b}, {c}", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3)),
    Case("v_perm_b32 {d}, {a}, {b}, {c}", permute),
    Case("v_bfrev_b32 {d}, {a}", lambda a, b, c: reverse(a, 32)),
    Case("v_bcnt_u32_b32 {d}, {a}, {b}", lambda a, b, c: a.bit_count() + b),
    Case("v_ffbh_u32 {d}, {a}|v_clz_i32_u32 {d}, {a}", lambda a, b, c: leading(a, 32)),
    Case("v_ffbl_b32 {d}, {a}|v_ctz_i32_b32 {d}, {a}", lambda a, b, c: trailing(a)),
    Case("v_ffbh_i32 {d}, {a}|v_cls_i32 {d}, {a}", lambda a, b, c: leading_signs(a, 32)),
    Case("v_min_u32 {d}, {a}, {b}", lambda a, b, c: min(a, b)),
    Case("v_max_i32 {d}, {a}, {b}", lambda a, b, c: max(signed(a), signed(b))),
    Case("v_min3_u32 {d}, {a}, {b}, {c}", lambda a, b, c: min(a, b, c)),
    Case("v_max3_u32 {d}, {a}, {b}, {c}", lambda a, b, c: max(a, b, c)),
    Case("v_med3_u32 {d}, {a}, {b}, {c}", lambda a, b, c: sorted((a, b, c))[1]),
    Case(
        "v_med3_i32 {d}, {a}, {b}, {c}",
        lambda a, b, c: sorted((signed(a), signed(b), signed(c)))[1],
    ),
    Case("v_lshlrev_b64 {D}, {a}, {B}", lambda a, b, c: b << (a & 63)),
    Case("v_lshrrev_b64 {D}, {a}, {B}", lambda a, b, c: b >> (a & 63)),
    Case("v_ashrrev_i64 {D}, {a}, {B}", lambda a, b, c: signed(b, 64) >> (a & 63)),
    Case("v_lshl_add_u64 {D}, {A}, 3, {C}", lambda a, b, c: (a << 3) + c, only="gfx942"),
    Case("v_mov_b64 {D}, {A}", lambda a, b, c: a, only="gfx942"),
    Case(
        "v_pk_mov_b32 {D}, {A}, {B} op_sel:[1,0]",
        lambda a, b, c: a >> 32 | (b & M32) << 32,
        only="gfx9",
    ),
    Case(
        "v_pk_mov_b32 {D}, {A}, {B} op_sel:[0,1]",
        lambda a, b, c: (a & M32) | b >> 32 << 32,
        only="gfx9",
    ),
    # A 16-bit result clears the rest of its register on gfx9, and later leaves it.
    Case("v_add_u16 {d}, {a}, {b}", lambda a, b, c: (a + b) & M16, only="gfx9"),
    Case(
        "v_add_nc_u16 {d}, {a}, {b}",
        lambda a, b, c: ((a + b) & M16) | (c & ~M16),
        only="gfx1",
    ),
    Case(
        "v_add_nc_u16 {d}, {a}, {b} op_sel:[1,0,1]",
        lambda a, b, c: (((a >> 16) + b) & M16) << 16 | (c & M16),
        only="gfx1",
    ),
    Case("v_mul_lo_u16 {d}, {a}, {b}", lambda a, b, c: (a & M16) * (b & M16) & M16, only="gfx9"),
    Case(
        "v_ashrrev_i16 {d}, {a}, {b}",
        lambda a, b, c: signed(b, 16) >> (a & 15) & M16,
        only="gfx9",
    ),
    Case(
        "v_pk_add_u16 {d}, {a}, {b}",
        lambda a, b, c: ((a + b) & M16) | ((a >> 16) + (b >> 16)) << 16,
    ),
    Case(
        "v_pk_mul_lo_u16 {d}, {a}, {b} op_sel:[0,1] op_sel_hi:[0,1]",
        lambda a, b, c: ((a & M16) * (b >> 16) & M16) * 0x10001,
    ),
    Case(
        "v_pk_mad_u16 {d}, {a}, {b}, {c}",
        lambda a, b, c: (a * b + c & M16) | ((a >> 16) * (b >> 16) + (c >> 16)) << 16,
    ),
    Case(
        "v_pk_ashrrev_i16 {d}, {a}, {b}",
        lambda a, b, c: (
            (signed(b, 16) >> (a & 15) & M16) | (signed(b) >> 16 >> (a >> 16 & 15)) << 16
        ),
    ),
    # Parts of registers.
    Case(
        "v_add_u32_sdwa {d}, {a}, {b} dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:BYTE_2 src1_sel:WORD_1",
        lambda a, b, c: (a >> 16 & 0xFF) + (b >> 16),
        only="gfx9",
    ),
    Case(
        "v_or_b32_sdwa {d}, {a}, {b} dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
        "src0_sel:BYTE_3 src1_sel:BYTE_0",
        lambda a, b, c: ((a >> 24 | b) & 0xFF) << 8 | (c & ~0xFF00),
        only="gfx9",
    ),
    Case(
        "v_add_u32_sdwa {d}, sext({a}), {b} dst_sel:WORD_0 dst_unused:UNUSED_SEXT "
        "src0_sel:BYTE_1 src1_sel:DWORD",
        lambda a, b, c: signed(signed(a >> 8, 8) + b, 16),
        only="gfx9",
    ),
    Case(
        "v_mov_b32_sdwa {d}, {a} dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0",
        lambda a, b, c: (a & M16) << 16,
        only="gfx9",
    ),
    # Constants, short and long.
    Case("v_add_u32 {d}, -5, {a}|v_add_nc_u32 {d}, -5, {a}", lambda a, b, c: a - 5),
    Case("v_xor_b32 {d}, 0x12345678, {a}", lambda a, b, c: a ^ 0x12345678),
    Case("v_mov_b32 {d}, 1.0", lambda a, b, c: 0x3F800000),
    Case("v_or_b32 {d}, -0.5, {a}", lambda a, b, c: a | 0xBF000000),
    Case("v_lshlrev_b64 {D}, 4, -2|v_lshlrev_b64 {D}, 4, -2", lambda a, b, c: -2 << 4),
    # Both halves of a dual instruction read before either writes.
    Case(
        "v_dual_mov_b32 v4, {a} :: v_dual_mov_b32 v5, {b}\\n"
        "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4\\n"
        "v_lshl_or_b32 {d}, v4, 8, v5",
        lambda a, b, c: b << 8 | a,
        only="gfx1",
    ),
)


def carry_text(name: str) -> str:
    """Return the sum of pairs by two instructions, whose carry is in between."""
    first, second = name.split()
    later = {"v_addc_co_u32": "v_add_co_ci_u32", "v_subb_co_u32": "v_sub_co_ci_u32"}[second]
    text = "{first} v4, {m}, {a}, {b}\\n{second} {d}, {m}, 0, 0, {m}"
    return "|".join(
        text.format(first=first, second=each, m=mask, d="{d}", a="{a}", b="{b}")
        for each, mask in ((second, "vcc"), (later, "vcc_lo"))
    )


CARRIES = (
    Case(carry_text("v_add_co_u32 v_addc_co_u32"), lambda a, b, c: (a + b) >> 32),
    Case(carry_text("v_sub_co_u32 v_subb_co_u32"), lambda a, b, c: -1 if a < b else 0),
)

SCALAR = (
    Case("s_add_u32 {d}, {a}, {b}", lambda a, b, c: a + b, lambda a, b, c: a + b >> 32),
    Case("s_sub_u32 {d}, {a}, {b}", lambda a, b, c: a - b, lambda a, b, c: a < b),
    Case(
        "s_add_i32 {d}, {a}, {b}",
        lambda a, b, c: a + b,
        lambda a, b, c: signed(a) + signed(b) != signed(a + b),
    ),
    Case(
        "s_sub_i32 {d}, {a}, {b}",
        lambda a, b, c: a - b,
        lambda a, b, c: signed(a) - signed(b) != signed(a - b),
    ),
    Case(
        "s_addk_i32 {d}, 0xfffb",
        lambda a, b, c: c - 5,
        lambda a, b, c: signed(c) - 5 != signed(c - 5),
    ),
    Case("s_mulk_i32 {d}, 0xfffd", lambda a, b, c: c * -3),
    Case("s_movk_i32 {d}, 0x8000", lambda a, b, c: -0x8000),
    Case("s_mul_i32 {d}, {a}, {b}", lambda a, b, c: a * b),
    Case("s_mul_hi_u32 {d}, {a}, {b}", lambda a, b, c: a * b >> 32),
    Case("s_mul_hi_i32 {d}, {a}, {b}", lambda a, b, c: signed(a) * signed(b) >> 32),
    Case("s_mul_u64 {D}, {A}, {B}", lambda a, b, c: a * b, only="gfx12"),
    Case("s_add_nc_u64 {D}, {A}, {B}", lambda a, b, c: a + b, only="gfx12"),
    Case("s_and_b32 {d}, {a}, {b}", lambda a, b, c: a & b, lambda a, b, c: a & b != 0),
    Case(
        "s_andn2_b64 {D}, {A}, {B}|s_and_not1_b64 {D}, {A}, {B}",
        lambda a, b, c: a & ~b,
        lambda a, b, c: (a & ~b) != 0,
    ),
    Case(
        "s_orn2_b32 {d}, {a}, {b}|s_or_not1_b32 {d}, {a}, {b}",
        lambda a, b, c: a | ~b,
        lambda a, b, c: (a | ~b) & M32 != 0,
    ),
    Case("s_nand_b64 {D}, {A}, {B}", lambda a, b, c: ~(a & b), lambda a, b, c: a & b != M64),
    Case("s_xnor_b32 {d}, {a}, {b}", lambda a, b, c: ~(a ^ b), lambda a, b, c: a ^ b != M32),
    Case("s_not_b64 {D}, {A}", lambda a, b, c: ~a, lambda a, b, c: a != M64),
    Case("s_min_i32 {d}, {a}, {b}", lambda a, b, c: min(signed(a), signed(b))),
    Case("s_max_u32 {d}, {a}, {b}", lambda a, b, c: max(a, b)),
    Case("s_abs_i32 {d}, {a}", lambda a, b, c: abs(signed(a)), lambda a, b, c: a != 0),
    Case(
        "s_absdiff_i32 {d}, {a}, {b}",
        lambda a, b, c: abs(signed(a) - signed(b)),
        lambda a, b, c: a != b,
    ),
    Case(
        "s_lshl_b64 {D}, {A}, {b}",
        lambda a, b, c: a << (b & 63),
        lambda a, b, c: a << (b & 63) & M64 != 0,
    ),
    Case(
        "s_lshr_b32 {d}, {a}, {b}",
        lambda a, b, c: a >> (b & 31),
        lambda a, b, c: a >> (b & 31) != 0,
    ),
    Case("s_ashr_i32 {d}, {a}, {b}", lambda a, b, c: signed(a) >> (b & 31)),
    Case("s_ashr_i64 {D}, {A}, {b}", lambda a, b, c: signed(a, 64) >> (b & 63)),
    Case(
        "s_lshl3_add_u32 {d}, {a}, {b}",
        lambda a, b, c: (a << 3) + b,
        lambda a, b, c: (a << 3) + b > M32,
    ),
    Case("s_bfe_u32 {d}, {a}, 0x70005", lambda a, b, c: field(a, 5, 7)),
    Case("s_bfe_i32 {d}, {a}, 0x9000c", lambda a, b, c: signed(a >> 12, 9)),
    Case("s_bfe_u64 {D}, {A}, 0x210011", lambda a, b, c: field(a, 17, 33)),
    Case("s_bfe_i64 {D}, {A}, 0x28000a", lambda a, b, c: signed(a >> 10, 40)),
    Case("s_bfm_b32 {d}, {a}, {b}", lambda a, b, c: (2 ** (a & 31) - 1) << (b & 31)),
    Case("s_bfm_b64 {D}, {a}, {b}", lambda a, b, c: (2 ** (a & 63) - 1) << (b & 63)),
    Case("s_pack_ll_b32_b16 {d}, {a}, {b}", lambda a, b, c: (a & M16) | (b & M16) << 16),
    Case("s_pack_lh_b32_b16 {d}, {a}, {b}", lambda a, b, c: (a & M16) | b >> 16 << 16),
    Case("s_pack_hh_b32_b16 {d}, {a}, {b}", lambda a, b, c: a >> 16 | b >> 16 << 16),
    Case("s_sext_i32_i8 {d}, {a}", lambda a, b, c: signed(a, 8)),
    Case("s_sext_i32_i16 {d}, {a}", lambda a, b, c: signed(a, 16)),
    Case("s_brev_b32 {d}, {a}", lambda a, b, c: reverse(a, 32)),
    Case("s_brev_b64 {D}, {A}", lambda a, b, c: reverse(a, 64)),
    Case("s_bcnt1_i32_b64 {d}, {A}", lambda a, b, c: a.bit_count(), lambda a, b, c: a != 0),
    Case(
        "s_bcnt0_i32_b32 {d}, {a}",
        lambda a, b, c: 32 - a.bit_count(),
        lambda a, b, c: a != M32,
    ),
    Case("s_ff1_i32_b64 {d}, {A}|s_ctz_i32_b64 {d}, {A}", lambda a, b, c: trailing(a)),
    Case("s_flbit_i32_b64 {d}, {A}|s_clz_i32_u64 {d}, {A}", lambda a, b, c: leading(a, 64)),
    Case("s_flbit_i32 {d}, {a}|s_cls_i32 {d}, {a}", lambda a, b, c: leading_signs(a, 32)),
    Case("s_bitset1_b32 {d}, {a}", lambda a, b, c: c | 1 << (a & 31)),
    Case("s_bitset0_b64 {D}, {a}", lambda a, b, c: c & ~(1 << (a & 63))),
    Case("s_cmp_lg_u64 {A}, {B}", lambda a, b, c: c, lambda a, b, c: a != b),
    Case("s_cmp_gt_i32 {a}, {b}", lambda a, b, c: c, lambda a, b, c: signed(a) > signed(b)),
    Case("s_cmp_le_u32 {a}, {b}", lambda a, b, c: c, lambda a, b, c: a <= b),
    Case(
        "s_cmpk_lt_i32 {a}, 0xff00",
        lambda a, b, c: c,
        lambda a, b, c: signed(a) < -0x100,
        only="gfx9",
    ),
    Case("s_cmpk_gt_u32 {a}, 0xff00", lambda a, b, c: c, lambda a, b, c: a > 0xFF00, only="gfx9"),
    Case("s_bitcmp1_b32 {a}, {b}", lambda a, b, c: c, lambda a, b, c: a >> (b & 31) & 1),
    Case("s_bitcmp0_b64 {A}, {b}", lambda a, b, c: c, lambda a, b, c: ~a >> (b & 63) & 1),
    Case("s_mov_b64 {D}, 0x9abcdef0", lambda a, b, c: 0x9ABCDEF0),
    Case("s_mov_b64 {D}, -3", lambda a, b, c: -3),
)


def lds(gfx9: str, later: str, oracle: Oracle, only: str = "gfx") -> Case:
    """Return a case whose instructions end with the wait for the last one."""
    return Case(f"{gfx9}\\n{{wait}}|{later}\\n{{wait}}", oracle, only=only)


# {p} is a place in LDS, {G} one in memory; both are a lane's own.
MEMORY = (
    lds(
        "ds_write_b64 {p}, {A}\\nds_read2_b32 {D}, {p} offset0:1 offset1:0",
        "ds_store_b64 {p}, {A}\\nds_load_2addr_b32 {D}, {p} offset0:1 offset1:0",
        lambda a, b, c: a >> 32 | (a & M32) << 32,
    ),
    lds(
        "ds_write2_b32 {p}, {a}, {b} offset0:2 offset1:3\\nds_read_b64 {D}, {p} offset:8",
        "ds_store_2addr_b32 {p}, {a}, {b} offset0:2 offset1:3\\nds_load_b64 {D}, {p} offset:8",
        lambda a, b, c: a | b << 32,
    ),
    lds(
        "ds_write2st64_b32 {p}, {a}, {b} offset0:1 offset1:2\\nds_read_b32 {d}, {p} offset:512",
        "ds_store_2addr_stride64_b32 {p}, {a}, {b} offset0:1 offset1:2\\n"
        "ds_load_b32 {d}, {p} offset:512",
        lambda a, b, c: b,
    ),
    lds(
        "ds_write2_b64 {p}, {A}, {B} offset0:0 offset1:1\\nds_read_b64 {D}, {p} offset:4",
        "ds_store_2addr_b64 {p}, {A}, {B} offset0:0 offset1:1\\nds_load_b64 {D}, {p} offset:4",
        lambda a, b, c: a >> 32 | (b & M32) << 32,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_write_b16 {p}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_store_b16 {p}, {b}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: (a & ~M16) | (b & M16),
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_write_b8_d16_hi {p}, {b} offset:3\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_store_b8_d16_hi {p}, {b} offset:3\\nds_load_b32 {d}, {p}",
        lambda a, b, c: (a & M24) | (b >> 16 & 0xFF) << 24,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_read_i8 {d}, {p} offset:1",
        "ds_store_b32 {p}, {a}\\nds_load_i8 {d}, {p} offset:1",
        lambda a, b, c: signed(a >> 8, 8),
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_read_u16_d16_hi {d}, {p} offset:2",
        "ds_store_b32 {p}, {a}\\nds_load_u16_d16_hi {d}, {p} offset:2",
        lambda a, b, c: (a & ~M16) | (c & M16),
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_add_u32 {p}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_add_u32 {p}, {b}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: a + b,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_sub_rtn_u32 {d}, {p}, {b}",
        "ds_store_b32 {p}, {a}\\nds_sub_rtn_u32 {d}, {p}, {b}",
        lambda a, b, c: a,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_rsub_u32 {p}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_rsub_u32 {p}, {b}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: b - a,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_max_i32 {p}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_max_i32 {p}, {b}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: max(signed(a), signed(b)),
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_inc_u32 {p}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_inc_u32 {p}, {b}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: 0 if a >= b else a + 1,
    ),
    lds(
        "ds_write_b64 {p}, {A}\\nds_xor_b64 {p}, {B}\\nds_read_b64 {D}, {p}",
        "ds_store_b64 {p}, {A}\\nds_xor_b64 {p}, {B}\\nds_load_b64 {D}, {p}",
        lambda a, b, c: a ^ b,
    ),
    # The value that is compared comes first on gfx9, and second later.
    lds(
        "ds_write_b32 {p}, {a}\\nds_cmpst_b32 {p}, {a}, {b}\\nds_read_b32 {d}, {p}",
        "ds_store_b32 {p}, {a}\\nds_cmpstore_b32 {p}, {b}, {a}\\nds_load_b32 {d}, {p}",
        lambda a, b, c: b,
    ),
    lds(
        "ds_write_b32 {p}, {a}\\nds_cmpst_rtn_b32 {d}, {p}, {b}, {c}",
        "ds_store_b32 {p}, {a}\\nds_cmpstore_rtn_b32 {d}, {p}, {c}, {b}",
        lambda a, b, c: a,
    ),
    lds(
        "ds_write_b64 {p}, {A}\\nds_wrxchg_rtn_b64 {D}, {p}, {B}",
        "ds_store_b64 {p}, {A}\\nds_storexchg_rtn_b64 {D}, {p}, {B}",
        lambda a, b, c: a,
    ),
    lds(
        "global_store_dwordx2 {G}, {A}, off\\nglobal_load_dword {d}, {G}, off offset:4",
        "global_store_b64 {G}, {A}, off\\nglobal_load_b32 {d}, {G}, off offset:4",
        lambda a, b, c: a >> 32,
    ),
    lds(
        "flat_store_dword {G}, {a}\\nflat_store_byte {G}, {b} offset:1\\nflat_load_dword {d}, {G}",
        "flat_store_b32 {G}, {a}\\nflat_store_b8 {G}, {b} offset:1\\nflat_load_b32 {d}, {G}",
        lambda a, b, c: (a & ~0xFF00) | (b & 0xFF) << 8,
    ),
    lds(
        "global_store_dwordx2 {G}, {A}, off\\nglobal_load_sshort {d}, {G}, off offset:3",
        "global_store_b64 {G}, {A}, off\\nglobal_load_i16 {d}, {G}, off offset:3",
        lambda a, b, c: signed(a >> 24, 16),
    ),
    lds(
        "global_store_dwordx2 {G}, {A}, off\\nglobal_load_short_d16 {d}, {G}, off offset:2",
        "global_store_b64 {G}, {A}, off\\nglobal_load_d16_b16 {d}, {G}, off offset:2",
        lambda a, b, c: (a >> 16 & M16) | (c & ~M16),
    ),
    lds(
        "global_store_dword {G}, {a}, off\\nglobal_store_short_d16_hi {G}, {b}, off\\n"
        "global_load_dword {d}, {G}, off",
        "global_store_b32 {G}, {a}, off\\nglobal_store_d16_hi_b16 {G}, {b}, off\\n"
        "global_load_b32 {d}, {G}, off",
        lambda a, b, c: (a & ~M16) | b >> 16,
    ),
    lds(
        "flat_store_dword {G}, {a}\\nflat_atomic_umax {G}, {b}\\nflat_load_dword {d}, {G}",
        "flat_store_b32 {G}, {a}\\nflat_atomic_max_u32 {G}, {b}\\nflat_load_b32 {d}, {G}",
        lambda a, b, c: max(a, b),
    ),
    lds(
        "global_store_dwordx2 {G}, {A}, off\\nglobal_atomic_sub_x2 {G}, {B}, off\\n"
        "global_load_dwordx2 {D}, {G}, off",
        "global_store_b64 {G}, {A}, off\\nglobal_atomic_sub_u64 {G}, {B}, off\\n"
        "global_load_b64 {D}, {G}, off",
        lambda a, b, c: a - b,
    ),
    lds(
        "global_store_dword {G}, {a}, off\\nglobal_atomic_dec {G}, {b}, off\\n"
        "global_load_dword {d}, {G}, off",
        "global_store_b32 {G}, {a}, off\\nglobal_atomic_dec_u32 {G}, {b}, off\\n"
        "global_load_b32 {d}, {G}, off",
        lambda a, b, c: b if a == 0 or a > b else a - 1,
    ),
)
