"""xiokv-gen check: tell whether the generated files are what the inputs render to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click

from xiokv.codegen import staleness
from xiokv.codegen.config import load_config
from xiokv.codegen.errors import StaleError
from xiokv.codegen.spec.load import lock_of
from xiokv.codegen.staleness import Finding
from xiokv.codegen.stamp import inputs, stamp_option, write_stamp
from xiokv.codegen.version import VERSION

_MARKS = {"changed": "~", "missing": "-", "extra": "+"}


@click.command(name="check")
@click.option("--upstream", is_flag=True, help="Also fetch the locked commit and compare.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "github", "json"]),
    default="text",
    show_default=True,
    help="How to print what was found.",
)
@stamp_option
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.pass_obj
def command(
    project: str | None, upstream: bool, style: str, stamp: Path | None, as_json: bool
) -> None:
    """Tell whether the generated files are what the inputs render to; touch nothing."""
    config = load_config(project)
    for note in staleness.notes(config, VERSION):
        click.echo(f"note: {note}", err=True)
    findings = staleness.find(config)
    if upstream:
        # Imported here: only this needs the parser and the network.
        from xiokv.codegen.upstream.recheck import find_upstream

        moved = find_upstream(config)
        findings += moved
    style = "json" if as_json else style
    shown = _from_repository(config.root, findings) if style == "github" else findings
    text = _FORMATS[style](shown)
    if text:
        click.echo(text)
    if upstream and not moved and style != "json":
        click.echo("upstream, asked again, defines what xiokv.lock holds")
    if findings:
        files = "1 file is" if len(findings) == 1 else f"{len(findings)} files are"
        raise StaleError(f"{files} stale; run {findings[0].fix}")
    if stamp:
        generated = (config.root / name for name in lock_of(config).owned)
        write_stamp(stamp, (*inputs(config), *generated))


def _from_repository(root: Path, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with paths from the root of the repository, as GitHub wants them."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    below = root.relative_to(top)
    return [replace(finding, path=(below / finding.path).as_posix()) for finding in findings]


def format_text(findings: Sequence[Finding]) -> str:
    """Return a line a finding, and its diff."""
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.kind]} {finding.path}: {_sentence(finding)}")
        lines += finding.diff.splitlines()
    return "\n".join(lines or ["every generated file is what its inputs render to"])


def format_github(findings: Sequence[Finding]) -> str:
    """Return workflow commands, which GitHub shows as annotations of the files."""
    return "\n".join(_annotation(finding) for finding in findings)


def format_json(findings: Sequence[Finding]) -> str:
    """Return one JSON object."""
    values = {"stale": bool(findings), "findings": [asdict(finding) for finding in findings]}
    return json.dumps(values, indent=2)


_FORMATS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": format_text,
    "github": format_github,
    "json": format_json,
}


def _sentence(finding: Finding) -> str:
    return f"{finding.kind}: {finding.message}; run {finding.fix}"


def _annotation(finding: Finding) -> str:
    place = f"file={_escape_property(finding.path)}"
    if finding.line:
        place += f",line={finding.line}"
    body = f"{_sentence(finding)}\n{finding.diff}".rstrip("\n")
    return f"::error {place}::{_escape(body)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
