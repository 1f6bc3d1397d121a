"""Findings about Python, xiokv and the project.

In: the folder that the user named, if any. Out: the project's `Config`, where it can be read,
and findings about its files.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator

from xiokv.codegen import staleness
from xiokv.codegen.config import CONFIG_NAME, LOCK_NAME, Config, find_config
from xiokv.codegen.doctor.finding import Finding, failed
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec.load import load_spec, lock_of, shown_path
from xiokv.codegen.version import VERSION

_GENERATED = "generated files"


def python_and_xiokv() -> Iterator[Finding]:
    """Yield what runs here."""
    yield Finding("Python", True, platform.python_version())
    yield Finding("xiokv", True, VERSION)


def read_project(project: str | None) -> tuple[Config | None, Finding]:
    """Return the project's configuration, None where it has none, and what was seen of it."""
    try:
        config = find_config(project)
    except XiokvError as error:
        return None, failed(CONFIG_NAME, error)
    if config is None:
        return None, Finding(CONFIG_NAME, False, "none here or above", "run xiokv-gen init")
    targets = ", ".join(config.compile.targets) or "none"
    return config, Finding(CONFIG_NAME, True, f"{config.root}, targets: {targets}")


def project_files(config: Config) -> Iterator[Finding]:
    """Yield what was seen of the lock, the spec file and what was generated."""
    try:
        lock = lock_of(config)
    except XiokvError as error:
        yield failed(LOCK_NAME, error)
        return
    names = dict.fromkeys(
        part[:12] if part == lock.commit else part for part in (lock.ref, lock.commit)
    )
    pin = " ".join(filter(None, names)) or "a plain folder"
    notes = "; ".join(staleness.notes(config, VERSION))
    yield Finding(LOCK_NAME, True, f"at {pin}", notes)
    try:
        load_spec(config)
    except XiokvError as error:
        yield failed("spec file", error)
        return
    yield Finding("spec file", True, f"{shown_path(config, config.ir_path)} is the locked one")
    yield _generated(config)


def _generated(config: Config) -> Finding:
    try:
        stale = staleness.find(config)
    except XiokvError as error:
        return failed(_GENERATED, error)
    if not stale:
        return Finding(_GENERATED, True, "all are what the inputs render to")
    names = f"{stale[0].path}: {stale[0].kind}"
    more = f" and {len(stale) - 1} more" if len(stale) > 1 else ""
    return Finding(_GENERATED, True, f"stale: {names}{more}", f"run {stale[0].fix}")
