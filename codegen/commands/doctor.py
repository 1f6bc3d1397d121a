"""xiokv-gen doctor: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from xiokv.codegen.config import TARGETS
from xiokv.codegen.doctor.finding import Finding, State
from xiokv.codegen.doctor.machine import Machine
from xiokv.codegen.doctor.survey import survey
from xiokv.codegen.errors import MissingToolError
from xiokv.codegen.render.text import one_line


@click.command(name="doctor")
@click.option(
    "--target",
    "added",
    type=click.Choice(TARGETS),
    multiple=True,
    help="What this target needs counts too, besides [compile].targets of xiokv.toml.",
)
@click.option("--run", "runs", is_flag=True, help="What running on the targets needs counts too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, added: tuple[str, ...], runs: bool, as_json: bool) -> None:
    """Tell what is here and what is missing, a line each: ok, missing or note.

    Missing is what building the project's targets needs, and with --run also what running
    them here needs; all else that is not there is a note. Exit codes: 0, nothing is missing;
    5, something is.
    """
    findings = survey(project, added, runs=runs, machine=Machine())
    click.echo(_as_json(findings) if as_json else "\n".join(_as_text(findings)))
    missing = [finding.name for finding in findings if finding.state is State.MISSING]
    if missing:
        raise MissingToolError(f"missing: {', '.join(missing)}; what to do is in their lines")


def _as_text(findings: list[Finding]) -> Iterator[str]:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        told = "; ".join(part for part in (finding.seen, finding.advice) if part)
        yield f"{finding.state.value:<7}  {finding.name:<{width}}  {one_line(told)}"


def _as_json(findings: list[Finding]) -> str:
    rows = [
        {
            "name": finding.name,
            "state": finding.state.value,
            "seen": finding.seen,
            "advice": finding.advice,
            "needed": finding.needed,
        }
        for finding in findings
    ]
    missing = any(finding.state is State.MISSING for finding in findings)
    return json.dumps({"missing": missing, "findings": rows}, indent=2)
