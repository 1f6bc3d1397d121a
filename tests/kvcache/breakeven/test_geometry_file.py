"""A geometry of one's own: what is taken, and what is refused in which words."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.breakeven import geometry_file
from xiokv.runtime.kvcache.breakeven.geometry import Latent, Recurrent

from .conftest import MINE, Tool

RECURRENT = """
[recurrent]
layers = 3
state_elements = 10
state_dtype = "fp32"
conv_elements = 0
conv_dtype = "bf16"
flops_per_element = 6
"""
LATENT = """\
kind = "latent"
layers = 2
query_heads = 4
latent_dim = 8
rope_dim = 4
key_dim = 12
value_dim = 8
"""


def test_a_file_of_ones_own_is_read(mine: Path) -> None:
    geometry = geometry_file.read(mine)
    assert (geometry.name, geometry.context) == ("mine", 4096)
    assert geometry.token_bytes("bf16") == 2 * 2 * 2 * 8 * 2


def test_a_recurrent_part_is_read(mine: Path) -> None:
    mine.write_text(MINE + RECURRENT, encoding="utf-8")
    assert geometry_file.read(mine).recurrent == Recurrent(3, 10, "fp32", 0, "bf16", 6)


def test_a_latent_attention_is_read(mine: Path) -> None:
    mine.write_text(MINE.split("kind")[0] + LATENT, encoding="utf-8")
    assert geometry_file.read(mine).attention == Latent(2, 4, 8, 4, 12, 8)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("schema = 1", "schema = 2", "schema is 2; this version of xiokv reads 1"),
        ("schema = 1", "", "schema missing; add it"),
        ('name = "mine"', 'name = "Mine"', "name is 'Mine'; lower-case letters"),
        ("context = 4096", "context = 0", "context is 0; 1 to 4194304 is allowed"),
        ("context = 4096", "context = true", "context is True; a whole number is needed"),
        ("context = 4096", "context = 4096.0", "context is 4096.0; a whole number is needed"),
        ("context =", "contexts =", "no key contexts; did you mean context? (allowed: schema, "),
        ("kv_heads =", "kv_haeds =", "no key attention.kv_haeds; did you mean kv_heads? (allowed"),
        ("head_dim = 8", "", "attention.head_dim missing; add it"),
        (
            "kv_heads = 2\nhead_dim = 8",
            "",
            "attention.kv_heads, attention.head_dim missing; add th",
        ),
        ("kv_heads = 2", "kv_heads = 3", "attention.kv_heads is 3; it has to divide query_heads"),
        ('"grouped-query"', '"grouped"', "attention.kind is 'grouped'; did you mean grouped-query"),
        ('kind = "grouped-query"', "", "attention.kind missing; add it"),
        (
            "layers = 2\nquery_heads = 4\nkv_heads = 2\nhead_dim = 8",
            "layers = 4096\nquery_heads = 4\nkv_heads = 2\nhead_dim = 1048576",
            "a token has 34359738368 bytes; up to 1073741824 are allowed",
        ),
        ("head_dim = 8", "head_dim = 1048577", "attention.head_dim is 1048577; 1 to 1048576 is"),
        ('title = "A', 'title = "\\u001b', "title is '\\x1b model of mine'; 1 to 200 printable"),
        ("[attention]", "[[attention]]", "attention is ["),
        ("schema = 1", "schema = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(mine: Path, before: str, after: str, message: str) -> None:
    assert before in MINE
    mine.write_text(MINE.replace(before, after), encoding="utf-8")
    with pytest.raises(RuntimeFault) as refused:
        geometry_file.read(mine)
    assert str(refused.value).startswith(f"{mine}")
    assert message in str(refused.value)


def test_a_rotated_part_larger_than_its_key_is_refused(mine: Path) -> None:
    text = MINE.split("kind")[0] + LATENT.replace("key_dim = 12", "key_dim = 3")
    mine.write_text(text, encoding="utf-8")
    with pytest.raises(RuntimeFault, match="key_dim is 3; it holds the rotated part, rope_dim"):
        geometry_file.read(mine)


def test_a_dtype_of_a_state_that_there_is_not_is_refused(mine: Path) -> None:
    mine.write_text(MINE + RECURRENT.replace("fp32", "fp23"), encoding="utf-8")
    with pytest.raises(RuntimeFault, match=r"recurrent\.state_dtype is 'fp23'; did you mean fp32"):
        geometry_file.read(mine)


LARGEST = f"""
schema = 1
name = "largest"
title = "x"
source = "x"
context = {1 << 22}
active_parameters = {1 << 50}
[attention]
kind = "latent"
layers = {1 << 20}
query_heads = {1 << 20}
latent_dim = 256
rope_dim = 256
key_dim = {1 << 20}
value_dim = {1 << 20}
[recurrent]
layers = {1 << 20}
state_elements = {1 << 30}
state_dtype = "fp32"
conv_elements = {1 << 30}
conv_dtype = "bf16"
flops_per_element = 1024
"""


def test_numbers_of_the_largest_model_that_is_allowed_fit(mine: Path, tool: Tool) -> None:
    mine.write_text(LARGEST, encoding="utf-8")
    asked = ("--fetch-gbps", "1e30", "--flops", "1e-30", "--block-sizes", "512", "--json")
    done = tool("--geometry", mine, *asked)
    assert (done.code, done.err) == (0, "")
    (model,) = json.loads(done.out)["models"]
    assert model["token_bytes"] == 1 << 30
    assert model["break_even"][0]["verdict"] == "fetch always"
    assert all(math.isfinite(row["recompute_us"]) for row in model["rows"])


def test_models_are_selected_by_name_and_from_files(mine: Path) -> None:
    chosen = geometry_file.select(["deepseek-v3", "deepseek-v3"], [mine])
    assert [one.name for one in chosen] == ["deepseek-v3", "mine"]
    assert [one.name for one in geometry_file.select([], [mine])] == ["mine"]
    assert len(geometry_file.select([], [])) == 3


def test_a_model_that_there_is_not_is_refused_by_its_nearest_name() -> None:
    with pytest.raises(ArgumentFault, match=r"no model 'deepseek3'; did you mean deepseek-v3\?"):
        geometry_file.select(["deepseek3"], [])


def test_two_models_of_one_name_are_refused(mine: Path) -> None:
    mine.write_text(MINE.replace('"mine"', '"deepseek-v3"'), encoding="utf-8")
    with pytest.raises(ArgumentFault, match="another model is called 'deepseek-v3'"):
        geometry_file.select([], [mine])
