"""The library libxiokv of a project, which C and C++ programs link with, and its module.

In: a project whose text is built. Out: the library in the project's compile folder, or with
the host module below a prefix. It is compiled once, in the user's cache, and copied.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.compile import compile_targets
from xiokv.codegen.config import Config
from xiokv.codegen.errors import ExitCode, UsageError, XiokvError
from xiokv.codegen.render.packages import LIBRARY_DIR, RADOS_DIR
from xiokv.codegen.version import VERSION
from xiokv.runtime import toolchain

_LINK_NAME = "libxiokv.so"
_HOST_MODULE = "xiokv_host.so"
_DESCRIPTION = toolchain.DESCRIPTION


@dataclass(frozen=True, slots=True)
class Parts:
    """Files to be copied into one folder; the description, which comes last, tells its owner.

    Attributes:
        folder: where to.
        files: where from.
        link: name of a link to the first of them, for linkers.
    """

    folder: Path
    files: tuple[Path, ...]
    link: str = ""


def project_library(config: Config) -> Path:
    """Return the folder in the project that holds the library, made where it is not current."""
    refuse_a_namespace(config)
    parts = _library(config.compile.dir / "lib")
    _refuse_strangers(parts)
    place_parts((parts,))
    return parts.folder


def refuse_a_namespace(config: Config) -> None:
    """Refuse a project whose copy of the headers has another name than the library's."""
    if config.output.names.cpp_namespace:
        raise UsageError(
            "libxiokv has one interface, whose names are the plain ones: a project with"
            f" cpp_namespace = {config.output.names.cpp_namespace!r} has no headers of it; take it"
            " from one without"
        )


def parts_for_prefix(config: Config, prefix: Path, *, rados: bool = False) -> tuple[Parts, ...]:
    """Compile library and host module; return what of them goes below a prefix.

    The module lies below the library, which looks for it there.

    Args:
        config: the project.
        prefix: where.
        rados: the library of the store on Ceph, too.

    Raises:
        XiokvError: there is no compiler, the text is not built, or another's file is in the
            way.
    """
    (module,) = compile_targets(config, ("host",), {})
    library = _library(prefix / LIBRARY_DIR)
    files = (*module.files, module.files[0].with_name(_DESCRIPTION))
    parts = [library, Parts(library.folder / "host", files)]
    if rados:
        parts.append(_rados_library(prefix / RADOS_DIR))
    for part in parts:
        _refuse_strangers(part)
    return tuple(parts)


def place_parts(parts: Iterable[Parts]) -> tuple[Path, ...]:
    """Copy what differs, each file whole at all times; return what changed."""
    return tuple(path for part in parts for path in _place(part))


def remove_parts(prefix: Path) -> tuple[Path, ...]:
    """Remove library and host module from below a prefix, if they are there; return what went."""
    top = prefix / LIBRARY_DIR
    parts = (
        Parts(prefix / RADOS_DIR, (Path(toolchain.RADOS_NAME),)),
        Parts(top / "host", (Path(_HOST_MODULE),)),
        Parts(top, (Path(toolchain.SONAME),), _LINK_NAME),
    )
    return tuple(path for part in parts for path in _remove(part))


def _remove(parts: Parts) -> Iterator[Path]:
    folder = parts.folder
    if not (folder / _DESCRIPTION).is_file():
        return
    try:
        if _is_our_link(parts):
            (folder / parts.link).unlink()
            yield folder / parts.link
        # The description, which tells that the others are ours, goes last.
        for path in (folder / parts.files[0].name, folder / _DESCRIPTION):
            if path.exists():
                path.unlink()
                yield path
        for empty in (folder, folder.parent):
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
    except OSError as error:
        raise XiokvError(f"{error.filename}: cannot be removed: {error.strerror}") from error


def _is_our_link(parts: Parts) -> bool:
    link = parts.folder / parts.link
    return bool(parts.link) and link.is_symlink() and str(link.readlink()) == parts.files[0].name


def _library(folder: Path) -> Parts:
    with _faults():
        made = toolchain.build_cached(toolchain.capi_recipe(VERSION))
    return Parts(folder, (made, made.with_name(_DESCRIPTION)), _LINK_NAME)


def _rados_library(folder: Path) -> Parts:
    with _faults():
        try:
            made = toolchain.build_cached(toolchain.rados_recipe(VERSION))
        except toolchain.RuntimeFault as fault:
            if missing := toolchain.lack_of_librados(fault):
                raise missing from fault
            raise
    return Parts(folder, (made, made.with_name(_DESCRIPTION)))


def _refuse_strangers(parts: Parts) -> None:
    for file in parts.files:
        place = parts.folder / file.name
        if place.exists() and not (parts.folder / _DESCRIPTION).is_file():
            raise _in_the_way(place)
    link = parts.folder / parts.link
    if parts.link and (link.exists() or link.is_symlink()) and not _is_our_link(parts):
        raise _in_the_way(link)


def _in_the_way(place: Path) -> XiokvError:
    return XiokvError(
        f"{place}: in the way is something that xiokv-gen did not write; move it, or choose"
        " another place"
    )


def _place(parts: Parts) -> Iterator[Path]:
    folder = parts.folder
    link = folder / (parts.link or ".")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in parts.files:
            place = folder / file.name
            if not place.is_file() or place.read_bytes() != file.read_bytes():
                making = place.with_name(f".{place.name}.tmp")
                shutil.copy(file, making)
                making.replace(place)
                yield place
        if parts.link and not _is_our_link(parts):
            link.symlink_to(parts.files[0].name)
            yield link
    except OSError as error:
        raise XiokvError(f"{error.filename}: cannot be written: {error.strerror}") from error


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except toolchain.RuntimeFault as fault:
        error = XiokvError(str(fault))
        error.exit_code = ExitCode(int(fault.exit_code))
        raise error from fault
