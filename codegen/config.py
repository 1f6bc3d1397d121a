"""xiokv.toml: what a project takes from upstream and what it generates from it.

In: the nearest xiokv.toml upward, or the one of a named folder. Out: a frozen `Config`
whose paths are absolute, resolved and inside the project's folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from xiokv.codegen.allowed import (
    check_architecture,
    check_ref,
    check_template,
    check_upstream_path,
)
from xiokv.codegen.errors import UsageError
from xiokv.codegen.files import resolve_below, stays_below
from xiokv.codegen.naming import Names, check_namespace
from xiokv.codegen.semantics.profiles import DEFAULT, packaged
from xiokv.codegen.tomlfile import Document, Table
from xiokv.codegen.upstream.urls import check_url
from xiokv.codegen.version import VERSION

CONFIG_NAME = "xiokv.toml"
LOCK_NAME = "xiokv.lock"
BUNDLED = "bundled"
EMIT = ("headers", "engine", "python", "cmake", "pkgconfig", "rocm-xio")
_NEEDS_HEADERS = {"engine": "includes", "cmake": "is for", "pkgconfig": "is for"}
TARGETS = ("host", "hip", "cuda")

DEFAULT_DIR = "generated"  # the output folder
SPEC_FILE = PurePosixPath("spec/nvme_kv.json")  # below it

_SPDK = "https://github.com/spdk/spdk"
_SPDK_FILES = ("include/spdk/nvme_spec.h", "include/spdk/nvme_kv.h")
_SPDK_URL = "https://raw.githubusercontent.com/spdk/spdk/{commit}/{path}"


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where the definitions come from.

    Attributes:
        repository: URL of the upstream git repository.
        ref: tag, branch or commit; `BUNDLED` for the spec shipped in the package.
        files: paths within the repository.
        url: template of a file's address, with {commit} and {path}.
    """

    repository: str
    ref: str
    files: tuple[str, ...]
    url: str

    def url_of(self, commit: str, path: str) -> str:
        """Return the address of one file; empty where no commit pins it."""
        return self.url.format(commit=commit, path=path) if commit else ""


@dataclass(frozen=True, slots=True)
class Semantics:
    """Choices that no header states: `profile` is a packaged one's name, or a path."""

    profile: Path | str
    exec: bool


@dataclass(frozen=True, slots=True)
class Output:
    """What to render and where.

    Attributes:
        dir: folder of all outputs, but for the twin that is elsewhere.
        emit: the outputs, in the order of `EMIT`.
        python: path of the Python twin.
        names: what the copy of the C code goes by.
    """

    dir: Path
    emit: tuple[str, ...]
    python: Path
    names: Names


@dataclass(frozen=True, slots=True)
class Compile:
    """Targets to compile for; a target's module goes to ``dir/<target>/``.

    No architectures mean those that xiokv supports.
    """

    targets: tuple[str, ...]
    hip_arch: tuple[str, ...]
    cuda_arch: tuple[str, ...]
    dir: Path


@dataclass(frozen=True, slots=True)
class Config:
    """A project: its folder and the sections of its xiokv.toml."""

    root: Path
    upstream: Upstream
    semantics: Semantics
    output: Output
    compile: Compile

    @property
    def ir_path(self) -> Path:
        """Path of the spec file."""
        return self.output.dir / SPEC_FILE

    @property
    def lock_path(self) -> Path:
        """Path of the lock file."""
        return self.root / LOCK_NAME


def load_config(project: str | None = None) -> Config:
    """Read the xiokv.toml of the folder `project`, or the nearest one upward."""
    path = _in_folder(Path(project)) if project is not None else _nearest(_here())
    if path is None:
        raise UsageError(f"no {CONFIG_NAME} here or above; run xiokv-gen init")
    document = Document.read(path, CONFIG_NAME if project is None else str(path))
    return read_config(document, path.parent)


def find_config(project: str | None = None) -> Config | None:
    """Do as `load_config` does; None where no folder is named and no xiokv.toml is there."""
    if project is None and _nearest(_here()) is None:
        return None
    return load_config(project)


def read_config(document: Document, root: Path) -> Config:
    """Read the text of a xiokv.toml that is, or will be, in the folder `root`."""
    _check_version(document)
    reader = _Reader(root)
    config = Config(
        root=root,
        upstream=reader.upstream(document.root.table("upstream")),
        semantics=reader.semantics(document.root.table("semantics")),
        output=reader.output(document.root.table("output")),
        compile=reader.compile(document.root.table("compile")),
    )
    document.close()
    return config


def _in_folder(folder: Path) -> Path:
    path = folder.resolve() / CONFIG_NAME
    if not path.is_file():
        raise UsageError(f"no {CONFIG_NAME} in {folder}; run xiokv-gen init there")
    return path


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the working folder is gone; change to another one") from None


def _nearest(start: Path) -> Path | None:
    """Search upward, within one file system and not past the root of a git checkout."""
    start = start.resolve()
    device = start.stat().st_dev
    for folder in (start, *start.parents):
        if folder.stat().st_dev != device:
            break
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if (folder / ".git").exists():
            break
    return None


def _check_version(document: Document) -> None:
    """Refuse another version at once: its keys may be unknown to this one."""
    wanted = document.root.string("requires-xiokv", "")
    try:
        allowed = SpecifierSet(wanted)
    except InvalidSpecifier as error:
        raise UsageError(
            f"{document.name}: requires-xiokv {wanted!r} is no version specifier;"
            ' write for example ">=0.1,<0.2"'
        ) from error
    if not allowed.contains(VERSION, prereleases=True):
        raise UsageError(
            f"{document.name}: this project requires xiokv {wanted}, and {VERSION} is running;"
            " install such a version from a checkout, a wheel or a commit of xiokv, which is on"
            " no package index: python -m pip install path/to/xiokv"
        )


class _Reader:
    """Reads the sections; faults go to the table, so that all are reported at once."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def upstream(self, table: Table) -> Upstream:
        upstream = Upstream(
            repository=table.string("repository", _SPDK).rstrip("/"),
            ref=table.string("ref", BUNDLED),
            files=table.strings("files", _SPDK_FILES),
            url=table.string("url", _SPDK_URL),
        )
        faults = {
            "ref": check_ref(upstream.ref),
            "repository": check_url(upstream.repository),
            "url": check_template(upstream.url),
            "files": None if upstream.files else "files names no file; name one at least",
        }
        for key, fault in faults.items():
            if fault:
                table.fault(key, fault)
        for name in upstream.files:
            if fault := check_upstream_path(name):
                table.fault("files", f"files: {fault}")
        return upstream

    def semantics(self, table: Table) -> Semantics:
        profile = table.string("profile", DEFAULT)
        is_packaged = profile in packaged()
        return Semantics(
            profile=profile if is_packaged else self._path(table, "profile", profile),
            exec=table.flag("exec", False),
        )

    def output(self, table: Table) -> Output:
        folder = self._path(table, "dir", table.string("dir", DEFAULT_DIR))
        emit = table.strings("emit", ("headers", "engine", "python"))
        _check_choices(table, "emit", emit, EMIT)
        for kind, reason in _NEEDS_HEADERS.items():
            if kind in emit and "headers" not in emit:
                table.fault("emit", f"emit: {kind!r} {reason} the headers; name 'headers' too")
        twin = table.string("python", "")
        output = Output(
            dir=folder,
            emit=tuple(kind for kind in EMIT if kind in emit),
            python=self._path(table, "python", twin) if twin else folder / "nvme_kv.py",
            names=_names(table),
        )
        own = (self._root / CONFIG_NAME, self._root / LOCK_NAME)
        if output.python in (self._root, folder, folder / SPEC_FILE, *own):
            table.fault("python", f"python = {twin!r} is taken; give the twin a file of its own")
        return output

    def compile(self, table: Table) -> Compile:
        compile_ = Compile(
            targets=table.strings("targets"),
            hip_arch=table.strings("hip_arch"),
            cuda_arch=table.strings("cuda_arch"),
            dir=self._path(table, "dir", table.string("dir", "build/xiokv")),
        )
        _check_choices(table, "targets", compile_.targets, TARGETS)
        _check_architectures(table, "hip", compile_.hip_arch)
        _check_architectures(table, "cuda", compile_.cuda_arch)
        return compile_

    def _path(self, table: Table, key: str, text: str) -> Path:
        """Return the resolved path; a fault where it leaves the project's folder."""
        path = _inside(self._root, text)
        if path is None:
            table.fault(
                key,
                f"{key} = {text!r} is no path within the project's folder; give a relative one,"
                " without '..', control characters or a link that leads out",
            )
        return path or self._root / key


def _inside(root: Path, text: str) -> Path | None:
    """Return `text` resolved below `root`; None where it is not a place there."""
    if not stays_below(text):
        return None
    return resolve_below(root, root / text)


def _names(table: Table) -> Names:
    """Return the names of the project's copy; those of xiokv where the key is missing."""
    if not table.has("cpp_namespace"):
        return Names()
    namespace = table.string("cpp_namespace", "")
    if fault := check_namespace(namespace):
        table.fault("cpp_namespace", fault)
        return Names()
    return Names(namespace)


def _check_choices(table: Table, key: str, given: Iterable[str], allowed: tuple[str, ...]) -> None:
    for value in given:
        if value not in allowed:
            table.fault(key, f"{key}: {value!r} is not one of {', '.join(allowed)}")


def _check_architectures(table: Table, target: str, given: Iterable[str]) -> None:
    key = f"{target}_arch"
    for fault in filter(None, (check_architecture(target, name) for name in given)):
        table.fault(key, f"{key}: {fault}")
