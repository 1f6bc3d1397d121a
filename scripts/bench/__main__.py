"""The benchmarks: names of parts in, figures out; ``scripts/bench.sh`` runs this.

Every ratio is between figures of this one run.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib import import_module

from samples import Row

from xiokv.runtime.bench import machine

PARTS = ("generator", "parse", "encoder", "engine", "calls")


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    described = machine.describe()
    if not arguments.json:
        print("\n".join(f"{name}: {value}" for name, value in described.items()))
    parts: dict[str, list[Row]] = {}
    for name in arguments.names or PARTS:
        print(f"measuring: {name}", file=sys.stderr)
        parts[name] = import_module(name).measure(arguments.tiny)
        if not arguments.json:
            print("\n".join(["", name, *_table(parts[name])]), flush=True)
    if arguments.json:
        figures = {name: [asdict(row) for row in rows] for name, rows in parts.items()}
        print(json.dumps({"machine": described, "parts": figures}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench.sh")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--tiny", action="store_true", help="sizes that show that the programs run, and no more"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(PARTS))
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return arguments


def _table(rows: list[Row]) -> list[str]:
    width = max(len(row.name) for row in rows)
    return [f"  {row.name:{width}}  {_spread(row)} {row.unit}{_ratio(row)}" for row in rows]


def _spread(row: Row) -> str:
    return f"{_figure(row.median):>10}  [{_figure(row.low)}, {_figure(row.high)}]"


def _ratio(row: Row) -> str:
    return "" if row.ratio is None else f"  {row.ratio:.2f} x {row.beside}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    main()
