"""From a project's files to its spec.

In: xiokv.lock, the spec file, the packaged semantics and the project's profile; nothing
from the network. Out: the validated `Spec`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath

from xiokv.codegen import ir
from xiokv.codegen.config import BUNDLED, DEFAULT_DIR, SPEC_FILE, Config, find_config
from xiokv.codegen.errors import UsageError, XiokvError, restorable
from xiokv.codegen.files import read_text, resolve_below
from xiokv.codegen.lock import Lock, license_of, read_lock
from xiokv.codegen.semantics.commands import load_commands
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.semantics.exec import load_exec
from xiokv.codegen.semantics.profiles import DEFAULT, load_packaged, load_profile, packaged
from xiokv.codegen.spec.bundled import SHOWN, bundled_text
from xiokv.codegen.spec.merge import merge
from xiokv.codegen.spec.model import Profile, Provenance, Spec


def load_spec(config: Config) -> Spec:
    """Return the project's spec; refuse a spec file that is not the lock's."""
    text = locked_text(config, lock_of(config))
    shown = shown_path(config, config.ir_path)
    return _merged(text, shown, _profile(config), has_exec=config.semantics.exec)


def nearest_spec(project: str | None) -> Spec:
    """Return the spec of a project; the bundled one where none is named and none is there."""
    config = find_config(project)
    if config is not None:
        return load_spec(config)
    names = [command.name for command in load_commands().commands]
    return _merged(bundled_text(), SHOWN, load_packaged(DEFAULT, names), has_exec=False)


def _merged(text: str, shown: str, profile: Profile, *, has_exec: bool) -> Spec:
    return merge(
        facts=ir.load(text, shown),
        rules=load_commands(),
        profile=profile,
        docs=load_docs(),
        provenance=_provenance(ir.load_banner(text, shown)),
        facts_sha256=ir.digest(text, shown),
        vendor=load_exec() if has_exec else None,
    )


def lock_of(config: Config) -> Lock:
    """Return the project's lock."""
    lock = read_lock(config.lock_path)
    if lock is None:
        raise XiokvError(f"no {config.lock_path.name}; run xiokv-gen fetch")
    return lock


def locked_text(config: Config, lock: Lock) -> str:
    """Return the text of the spec file, which has to be the one that was locked."""
    shown = shown_path(config, config.ir_path)
    text = read_ir(config)
    if text is None:
        former = former_ir(config, lock)
        if former is not None:
            raise XiokvError(f"no {shown}; {still_at(config, former)}: run xiokv-gen build")
        raise XiokvError(f"no {shown}; run xiokv-gen fetch")
    if fault := lock_fault(text, shown, lock):
        raise XiokvError(f"{fault}; restore both from version control, or run xiokv-gen fetch")
    return text


def locked_banner(config: Config, lock: Lock) -> ir.Banner:
    """Return where the locked definitions come from; for bundled ones, too, their own ref."""
    return ir.load_banner(locked_text(config, lock), shown_path(config, config.ir_path))


def read_ir(config: Config) -> str | None:
    """Return the text of the spec file, or None where there is none."""
    shown = shown_path(config, config.ir_path)
    with restorable(shown):
        return read_text(config.ir_path, shown)


def former_ir(config: Config, lock: Lock) -> Path | None:
    """Return the locked spec file in another folder, where [output] dir was changed since."""
    folders = {folder for name in lock.owned for folder in PurePosixPath(name).parents}
    for folder in sorted({*folders, PurePosixPath(DEFAULT_DIR)}):
        path = config.root / folder / SPEC_FILE
        if path == config.ir_path or resolve_below(config.root, path) != path:
            continue
        with suppress(XiokvError):
            text = read_text(path, path.name)
            if text is not None and ir.digest(text, path.name) == lock.ir_sha256:
                return path
    return None


def still_at(config: Config, former: Path) -> str:
    """Say where the spec file lies, and that a build brings it to where xiokv.toml has it."""
    return f"the locked one is still {shown_path(config, former)}, and a build moves it"


def lock_fault(text: str, shown: str, lock: Lock) -> str | None:
    """Return in what a spec file is not the one that was locked, or None."""
    with restorable(shown):
        banner = ir.load_banner(text, shown)
        digest = ir.digest(text, shown)
    pairs = [
        ("SHA-256", digest, lock.ir_sha256),
        ("commit", banner.commit, lock.commit),
        ("repository", banner.repository, lock.repository),
    ]
    if lock.ref != BUNDLED:
        pairs.append(("ref", banner.ref, lock.ref))
        pairs.append(("license", banner.license, license_of(lock.files)))
    for what, found, expected in pairs:
        if found != expected:
            return (
                f"{shown} is not the spec file that xiokv.lock states: its {what} is"
                f" {found!r}, the locked one {expected!r}"
            )
    return None


def shown_path(config: Config, path: Path) -> str:
    """Return the path as messages and the lock show it: from the project's folder."""
    return path.relative_to(config.root).as_posix()


def _profile(config: Config) -> Profile:
    names = [command.name for command in load_commands().commands]
    profile = config.semantics.profile
    if isinstance(profile, str):
        return load_packaged(profile, names)
    shown = shown_path(config, profile)
    if not profile.is_file():
        raise UsageError(
            f"xiokv.toml: profile: there is no file {shown!r}; write the path of a profile, or"
            f" one of {', '.join(packaged())}"
        )
    return load_profile(profile, names, shown)


def _provenance(banner: ir.Banner) -> Provenance:
    return Provenance(banner.repository, banner.ref, banner.commit, banner.license)
