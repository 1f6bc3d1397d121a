"""Installs what a project generates below a prefix, and takes it away again.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. The compiled library,
which does, goes to ``lib/`` where it is asked for. What is installed is rendered anew, so it is
what the inputs say, whatever lies in the project's folder. Projects whose packages have
different names lie side by side, each with a list of its files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.errors import UsageError
from xiokv.codegen.host_library import (
    parts_for_prefix,
    place_parts,
    refuse_a_namespace,
    remove_parts,
)
from xiokv.codegen.listed import Listed, remove_listed, write_listed
from xiokv.codegen.naming import Names
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import (
    LIBRARY_DIR,
    RADOS_DIR,
    installed_dir,
    render_host_pkgconfig,
    render_rados_pkgconfig,
)
from xiokv.codegen.spec.load import load_spec

_LIST = "installed-files.txt"
_COMMAND = "xiokv-gen install"


def install(config: Config, prefix: Path, *, host: bool = False, rados: bool = False) -> Listed:
    """Install the project's output below `prefix`, an absolute path without links.

    Args:
        config: the project.
        prefix: where.
        host: install the compiled library for C and its module, too; a prefix keeps them
            until it is installed into with them again.
        rados: the same of the library that keeps values in a Ceph pool; with `host`.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    spec = load_spec(config)
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(spec, config.output).items()
    }
    if rados and not host:
        raise UsageError("--rados goes with the library that it is for: give --host, too")
    if host:
        _check_gives_library(config)
    if host or (prefix / LIBRARY_DIR).is_dir():
        more = render_host_pkgconfig(spec)
        texts |= {prefix / path: text for path, text in more.items()}
    if rados or (prefix / RADOS_DIR).is_dir():
        more = render_rados_pkgconfig(spec)
        texts |= {prefix / path: text for path, text in more.items()}
    parts = parts_for_prefix(config, prefix, rados=rados) if host else ()
    name = f"{installed_dir(config.output.names)}/{_LIST}"
    listed = write_listed(prefix, texts, name, _COMMAND, spec.identity.spec)
    changed = (*listed.files.changed, *place_parts(parts))
    return replace(listed, files=replace(listed.files, changed=changed))


def _check_gives_library(config: Config) -> None:
    if "engine" not in config.output.emit:
        raise UsageError(
            'the library needs the engine\'s headers: add "engine" to emit in [output] of'
            f" {config.root}/xiokv.toml, then run xiokv-gen build"
        )
    refuse_a_namespace(config)


def uninstall(prefix: Path, package: str | None = None) -> tuple[Path, ...]:
    """Take away what was installed below `prefix`, its list, and folders that become empty.

    Args:
        prefix: an absolute path without links.
        package: name of the package, where several projects are installed there.

    Returns:
        The files that were removed. What no longer looks generated stays.

    Raises:
        UsageError: nothing was installed there, or several packages and none was named.
    """
    found = sorted(path.parent.name for path in prefix.glob(f"share/*/{_LIST}"))
    if not found:
        raise UsageError(f"{prefix} has no {_LIST}: xiokv-gen install put nothing there")
    if package is None and len(found) > 1:
        raise UsageError(f"{prefix} holds {', '.join(found)}; say which with --package")
    if package is not None and package not in found:
        raise UsageError(f"{prefix} has no package {package!r}; it holds {', '.join(found)}")
    package = package or found[0]
    removed = remove_listed(prefix, f"share/{package}/{_LIST}", _COMMAND)
    return removed if package != Names().package else (*removed, *remove_parts(prefix))


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    below = PurePosixPath(installed_dir(output.names))
    if path == output.python:
        return below / "python" / path.name
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else below / relative
