"""A run on the host: every table that the host has, in one shape."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from xiokv.runtime.bench.catalog import TABLES
from xiokv.runtime.commands.bench import TABLE_NAMES

HOST_TABLES = [name for name in TABLE_NAMES if TABLES[name].fits("host")]


def test_a_run_says_what_it_is_of(document: dict[str, Any]) -> None:
    assert document["schema"] == "xiokv-bench/1"
    assert document["machine"]["processor"]
    assert document["setting"]["target"] == "host"
    assert document["setting"]["samples"] == 3


def test_the_host_has_every_table_but_that_of_a_gpu(document: dict[str, Any]) -> None:
    assert list(dict.fromkeys(row["table"] for row in document["rows"])) == HOST_TABLES


@pytest.mark.parametrize("table", HOST_TABLES)
def test_a_row_tells_its_samples_and_what_they_come_to(
    document: dict[str, Any], table: str
) -> None:
    for row in rows_of(document, table):
        assert len(row["samples"]) == 3
        assert row["median"] == statistics.median(row["samples"])
        assert (row["low"], row["high"]) == (min(row["samples"]), max(row["samples"]))
        assert row["unit"] in {"us", "ns", "commands/s", "bytes/s"}
        assert row["low"] > 0


@pytest.mark.parametrize("table", HOST_TABLES)
def test_what_a_row_is_compared_with_is_of_the_same_case(
    document: dict[str, Any], table: str
) -> None:
    rows = rows_of(document, table)
    for row in rows:
        for part in row["comparisons"]:
            (other,) = [
                other
                for other in rows
                if other["who"] == part["beside"]
                and (other["case"], other["setting"]) == (row["case"], row["setting"])
            ]
            ratio = row["median"] / other["median"]
            faster = ratio if row["unit"].endswith("/s") else 1 / ratio
            assert part["times"] == pytest.approx(faster)


@pytest.mark.parametrize("table", ["rates", "launch", "values"])
def test_the_engine_is_compared_with_all_others_of_its_case(
    document: dict[str, Any], table: str
) -> None:
    rows = rows_of(document, table)
    for row in (row for row in rows if row["who"] == "engine"):
        case = [other["who"] for other in rows if same_case(row, other) and other["x"] is not None]
        assert [part["beside"] for part in row["comparisons"]] == case[:-1]
        assert len(case) > 1


def test_both_controllers_stand_beside_each_other(document: dict[str, Any]) -> None:
    for table in ("rates", "launch", "queues"):
        settings = {row["setting"] for row in rows_of(document, table)}
        assert settings == {"null controller", "full controller, 4 KiB"}


def test_goals_are_not_set_for_the_host(document: dict[str, Any]) -> None:
    for row in document["rows"]:
        assert row["goal"] is None
        assert [part["goal"] for part in row["comparisons"] if part["goal"]] == []


def rows_of(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    return [row for row in document["rows"] if row["table"] == table]


def same_case(row: dict[str, Any], other: dict[str, Any]) -> bool:
    return (row["case"], row["setting"]) == (other["case"], other["setting"])


def test_the_command_knows_the_tables_of_the_catalog() -> None:
    assert list(TABLES) == list(TABLE_NAMES)
