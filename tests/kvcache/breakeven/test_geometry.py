"""Bytes and FLOPs of the models that come along, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from xiokv.runtime.kvcache.breakeven import geometry_file
from xiokv.runtime.kvcache.breakeven.geometry import Geometry, GroupedQuery, Latent, Recurrent

LLAMA, DEEPSEEK, QWEN = "llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b"


@pytest.fixture(scope="module")
def models() -> dict[str, Geometry]:
    return geometry_file.known()


def test_the_models_are_of_three_kinds(models: dict[str, Geometry]) -> None:
    kinds = {name: (type(one.attention), one.recurrent is None) for name, one in models.items()}
    assert kinds == {
        LLAMA: (GroupedQuery, True),
        DEEPSEEK: (Latent, True),
        QWEN: (GroupedQuery, False),
    }


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [
        (LLAMA, "bf16", 32 * 2 * 8 * 128 * 2),  # layers, K and V, heads, elements, bytes
        (LLAMA, "bf16", 131072),
        (LLAMA, "fp8", 65536),
        (DEEPSEEK, "bf16", 61 * (512 + 64) * 2),
        (DEEPSEEK, "bf16", 70272),
        (DEEPSEEK, "fp8", 35136),
        (QWEN, "bf16", 12 * 2 * 2 * 256 * 2),
        (QWEN, "bf16", 24576),
    ],
)
def test_a_token_has_so_many_bytes(
    models: dict[str, Geometry], name: str, dtype: str, size: int
) -> None:
    assert models[name].token_bytes(dtype) == size


def test_a_state_is_that_of_every_recurrent_layer(models: dict[str, Geometry]) -> None:
    # 32 heads of 128 by 128 in four bytes; three of the four inputs of a convolution over
    # the channels of queries and keys (16 heads of 128 each) and values (32 of 128) in two.
    layer = 32 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 32 * 128) * 2
    assert layer == 2_146_304
    assert models[QWEN].state_bytes == 36 * layer == 77_266_944
    assert models[LLAMA].state_bytes == models[DEEPSEEK].state_bytes == 0


def _gated(inner: int, hidden: int) -> int:
    """Return the elements of the three matrices of a gated feed-forward layer."""
    return 3 * hidden * inner


def test_active_parameters_are_those_of_the_matrices_that_a_prefill_uses(
    models: dict[str, Geometry],
) -> None:
    llama = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + _gated(14336, 4096))
    assert models[LLAMA].active_parameters == llama

    latent = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    experts = 9 * _gated(2048, 7168) + 7168 * 256  # eight and a shared one; which to take
    deepseek = 61 * latent + 3 * _gated(18432, 7168) + 58 * experts
    assert models[DEEPSEEK].active_parameters == deepseek
    head = 129280 * 7168
    assert round((deepseek + head) / 1e9, 1) == 36.6  # what its documents tell, with the head

    full = 2048 * 2 * 16 * 256 + 2 * 2048 * 2 * 256 + 16 * 256 * 2048  # a gate beside queries
    linear = 2048 * (2 * 2048 + 2 * 4096) + 2048 * 64 + 4 * 8192 + 4096 * 2048
    experts = 11 * _gated(512, 2048) + 2048 * 512 + 2048
    assert models[QWEN].active_parameters == 12 * full + 36 * linear + 48 * experts


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        (LLAMA, 32 * 32 * (2 * 128 + 2 * 128)),  # layers, heads: 2 FLOPs an element of K, of V
        (DEEPSEEK, 61 * 128 * (2 * 192 + 2 * 128)),
        (QWEN, 12 * 16 * (2 * 256 + 2 * 256)),
    ],
)
def test_a_pair_of_query_and_key_costs_so_many_flops(
    models: dict[str, Geometry], name: str, pair: int
) -> None:
    assert models[name].causal_flops == pair


def test_flops_of_a_prefill_are_those_of_parameters_and_of_pairs() -> None:
    tiny = Geometry("tiny", "", "", 8, 10, GroupedQuery(1, 2, 1, 4))
    # 3 tokens: 2 * 10 * 3 for the parameters; 6 pairs, in 2 heads of 2 * 4 + 2 * 4.
    assert tiny.prefill_flops(3, 10) == 60 + 6 * 32
    assert tiny.prefill_flops(3, 100) == 600 + 6 * 32


def test_flops_of_a_state_grow_with_the_tokens() -> None:
    attention = GroupedQuery(1, 2, 1, 4)
    states = Recurrent(3, 5, "fp32", 0, "bf16", 6)
    with_state = Geometry("tiny", "", "", 8, 10, attention, states)
    without: Any = Geometry("tiny", "", "", 8, 10, attention)
    assert with_state.prefill_flops(7, 10) - without.prefill_flops(7, 10) == 7 * 3 * 5 * 6
