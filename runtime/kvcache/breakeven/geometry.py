"""What a model keeps of a context, and what it costs to compute: counts in, bytes and FLOPs out.

FLOPs are counted with two for each multiplication with its addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

KV_DTYPES = {"bf16": 2, "fp8": 1}
STATE_DTYPES = {"fp32": 4, "bf16": 2}


class Attention(Protocol):
    """Layers that keep something of every token."""

    @property
    def layers(self) -> int:
        """How many there are."""

    @property
    def elements(self) -> int:
        """What one layer keeps of a token, in elements of the cache."""

    @property
    def pair_flops(self) -> int:
        """FLOPs of one layer for one query and one key: the score, and the value's share."""


@dataclass(frozen=True, slots=True)
class GroupedQuery:
    """Attention whose query heads share keys and values: one head of both for each group.

    Attributes:
        layers: layers of this kind.
        query_heads: heads that attend.
        kv_heads: heads that are kept.
        head_dim: elements of a key, and of a value.
    """

    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int

    @property
    def elements(self) -> int:
        """A key and a value for each head that is kept."""
        return 2 * self.kv_heads * self.head_dim

    @property
    def pair_flops(self) -> int:
        """2 FLOPs for each element of a key and of a value, in each query head."""
        return 2 * self.query_heads * 2 * self.head_dim


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention: one compressed vector for all heads, and a rotated key.

    A prefill expands the vector to a key and a value for each head; the matrices that do so
    are among the active parameters.

    Attributes:
        layers: layers of this kind.
        query_heads: heads that attend.
        latent_dim: elements of the compressed vector.
        rope_dim: elements of the key part that carries the position, kept beside it.
        key_dim: elements of an expanded key, with the rotated part.
        value_dim: elements of an expanded value.
    """

    layers: int
    query_heads: int
    latent_dim: int
    rope_dim: int
    key_dim: int
    value_dim: int

    @property
    def elements(self) -> int:
        """The compressed vector and the rotated key."""
        return self.latent_dim + self.rope_dim

    @property
    def pair_flops(self) -> int:
        """2 FLOPs for each element of an expanded key and value, in each head."""
        return 2 * self.query_heads * (self.key_dim + self.value_dim)


@dataclass(frozen=True, slots=True)
class Recurrent:
    """Layers that keep a state of fixed size, which only fits the token it was taken after.

    Attributes:
        layers: layers of this kind.
        state_elements: elements of a layer's state.
        state_dtype: what they are kept as.
        conv_elements: elements of a layer's window of latest inputs, if there is one.
        conv_dtype: what they are kept as.
        flops_per_element: FLOPs that a token costs for each element of the state.
    """

    layers: int
    state_elements: int
    state_dtype: str
    conv_elements: int
    conv_dtype: str
    flops_per_element: int

    @property
    def bytes(self) -> int:
        """Bytes of the state of a sequence, over all layers."""
        state = self.state_elements * STATE_DTYPES[self.state_dtype]
        return self.layers * (state + self.conv_elements * STATE_DTYPES[self.conv_dtype])

    @property
    def token_flops(self) -> int:
        """FLOPs that a token costs beside those of the parameters."""
        return self.layers * self.state_elements * self.flops_per_element


@dataclass(frozen=True, slots=True)
class Geometry:
    """A model.

    Attributes:
        name: what it is selected by.
        title: what it is called.
        source: where its numbers are from.
        context: most tokens of a sequence.
        active_parameters: elements of the matrices that a token of a prefill is multiplied by.
        attention: layers that keep something of every token.
        recurrent: layers that keep a state, if there are any.
    """

    name: str
    title: str
    source: str
    context: int
    active_parameters: int
    attention: GroupedQuery | Latent
    recurrent: Recurrent | None = None

    def token_bytes(self, kv_dtype: str) -> int:
        """Return bytes of a token over all layers of attention."""
        return self.attention.layers * self.attention.elements * KV_DTYPES[kv_dtype]

    @property
    def state_bytes(self) -> int:
        """Bytes of the state that a sequence has besides; 0 where it has none."""
        return self.recurrent.bytes if self.recurrent else 0

    @property
    def causal_flops(self) -> int:
        """FLOPs a pair of query and key over all layers; n tokens have n (n + 1) / 2 pairs."""
        return self.attention.layers * self.attention.pair_flops

    def prefill_flops(self, tokens: Any, active_parameters: int) -> Any:
        """Return the FLOPs of a prefill.

        Args:
            tokens: how many, or an array of floats.
            active_parameters: of the model, or what the caller knows better.
        """
        state = self.recurrent.token_flops if self.recurrent else 0
        pairs = tokens * (tokens + 1) / 2
        return (2 * active_parameters + state) * tokens + self.causal_flops * pairs
