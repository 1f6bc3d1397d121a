"""xiokv.toml: found upward, read strictly, and never leading out of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.config import load_config
from xiokv.codegen.errors import ExitCode, UsageError, XiokvError


def _load(folder: Path, text: str) -> None:
    (folder / "xiokv.toml").write_text(text, encoding="utf-8")
    load_config(str(folder))


def test_an_empty_file_means_the_bundled_spec_and_no_compiling(tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").touch()
    config = load_config(str(tmp_path))
    assert config.upstream.ref == "bundled"
    assert config.upstream.repository == "https://github.com/spdk/spdk"
    assert config.output.dir == tmp_path / "generated"
    assert config.output.python == tmp_path / "generated/nvme_kv.py"
    assert config.semantics.profile == "default"
    assert config.compile.targets == ()
    assert config.compile.dir == tmp_path / "build/xiokv"


def test_every_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").write_text(
        """
        requires-xiokv = ">=0.1"
        [upstream]
        repository = "https://git.example/kv/"
        ref = "v1"
        files = ["a/b.h"]
        url = "https://git.example/{commit}/{path}"
        [semantics]
        profile = "profiles/mine.toml"
        exec = true
        [output]
        dir = "out"
        emit = ["rocm-xio", "headers"]
        python = "kv/wire.py"
        [compile]
        targets = ["hip", "cuda"]
        hip_arch = ["gfx90a", "gfx942:sramecc+:xnack-", "gfx1100"]
        cuda_arch = ["sm_90", "sm_90a", "compute_80"]
        dir = "modules"
        """,
        encoding="utf-8",
    )
    config = load_config(str(tmp_path))
    assert config.upstream.repository == "https://git.example/kv"
    assert config.upstream.url_of("c0", "a/b.h") == "https://git.example/c0/a/b.h"
    assert config.semantics.profile == tmp_path / "profiles/mine.toml"
    assert config.semantics.exec
    assert config.output.emit == ("headers", "rocm-xio")
    assert config.output.python == tmp_path / "kv/wire.py"
    assert config.ir_path == tmp_path / "out/spec/nvme_kv.json"
    assert config.compile.hip_arch == ("gfx90a", "gfx942:sramecc+:xnack-", "gfx1100")
    assert config.compile.dir == tmp_path / "modules"


def test_the_nearest_file_upward_is_taken(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a/b").mkdir(parents=True)
    monkeypatch.chdir(project / "a/b")
    assert load_config().root == project
    (project / "a/xiokv.toml").touch()
    assert load_config().root == project / "a"


def test_the_search_does_not_leave_a_git_checkout(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "inner/.git").mkdir(parents=True)
    monkeypatch.chdir(project / "inner")
    with pytest.raises(UsageError, match=r"no xiokv\.toml here or above; run xiokv-gen init"):
        load_config()


def test_a_named_folder_is_not_searched_upward(project: Path) -> None:
    (project / "a").mkdir()
    with pytest.raises(UsageError, match=r"no xiokv\.toml in .*a; run xiokv-gen init"):
        load_config(str(project / "a"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("upstrem = 1", 1, "unknown key 'upstrem'; the nearest is 'upstream'"),
        ("[uptream]", 1, "the nearest is 'upstream'"),
        ("\n[upstream]\nrepo = 'x'", 3, r"'repo' in \[upstream\]; the nearest is 'repository'"),
        ("[output]\nemits = []", 2, "the nearest is 'emit'"),
        ("[compile]\nhip_archs = []", 2, "the nearest is 'hip_arch'"),
        ("[output]\ndir = 1", 2, "dir must be a string, not 1"),
        ("[semantics]\nexec = 1", 2, "exec must be true or false, not 1"),
        ("[compile]\ntargets = 'host'", 2, "targets must be a list, not 'host'"),
        ("[upstream]\nfiles = ['a', 1]", 2, "files must be a list of strings, not 1"),
        ("upstream = 3", 1, "upstream must be a table, not 3"),
        ("[output]\nemit = ['header']", 2, "'header' is not one of headers, engine"),
        ("[compile]\ntargets = ['gpu']", 2, "'gpu' is not one of host, hip, cuda"),
        ("[compile]\nhip_arch = ['-x']", 2, "'-x' is no architecture"),
        ("[compile]\ncuda_arch = ['90']", 2, "'90' is no architecture"),
        ("[upstream]\nref = '--upload-pack=x'", 2, "ref '--upload-pack=x' is not allowed"),
        ("[upstream]\nfiles = []", 2, "files names no file"),
        ("[upstream]\nfiles = ['../a.h']", 2, "no path within a repository"),
        ("[upstream]\nfiles = ['/a.h']", 2, "no path within a repository"),
        ("[upstream]\nfiles = ['-a.h']", 2, "no path within a repository"),
        ("[upstream]\nfiles = ['./a.h']", 2, "no path within a repository"),
        ("[upstream]\nfiles = ['a//b.h']", 2, "no path within a repository"),
        ("[upstream]\nrepository = 'http://h.example/r'", 2, "is not https"),
        ("[upstream]\nrepository = '/srv/spdk'", 2, "names no host"),
        ("[upstream]\nrepository = 'git@h.example:r'", 2, "names no host"),
        ("[upstream]\nrepository = 'https://me:pw@h.example/r'", 2, "holds credentials"),
        ("[upstream]\nurl = 'https://h.example/{path}'", 2, "must hold {commit} and {path}"),
        ("[upstream]\nurl = 'https://h.example/{commit}/{path}/{0}'", 2, "no other braces"),
        ("[upstream]\nurl = 'http://h.example/{commit}/{path}'", 2, "is not https"),
        ("[upstream]\nurl = 'https://h.example:99999/{commit}/{path}'", 2, "is no URL"),
        ('[upstream]\nurl = "https://h.example/\\n{commit}/{path}"', 2, "control characters"),
        ("[output]\nemit = ['engine']", 2, "name 'headers' too"),
        ("[output]\npython = '.'", 2, "python = '.' is taken"),
        ("[output]\npython = 'generated'", 2, "python = 'generated' is taken"),
        ("[output]\npython = 'xiokv.lock'", 2, "python = 'xiokv.lock' is taken"),
        ("[output]\npython = 'xiokv.toml'", 2, "python = 'xiokv.toml' is taken"),
        ("[output]\npython = 'generated/spec/nvme_kv.json'", 2, "json' is taken"),
    ],
)
def test_a_fault_names_its_line_and_what_is_allowed(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    with pytest.raises(UsageError, match=rf"xiokv\.toml:{line}: .*{message}"):
        _load(tmp_path, text)


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(XiokvError) as caught:
        _load(tmp_path, "x = 1\n[upstream]\nref = ''\n[output]\ndir = '/'\n")
    assert caught.value.exit_code == ExitCode.USAGE
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("key", ["semantics.profile", "output.dir", "output.python", "compile.dir"])
@pytest.mark.parametrize("path", ["/etc", "..", "a/../../b", "link/out", "loop", "a\\u0000b"])
def test_no_path_leaves_the_project(tmp_path: Path, key: str, path: str) -> None:
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "loop").symlink_to("loop")
    section, name = key.split(".")
    with pytest.raises(UsageError, match=f"{name} = .* is no path within the project's folder"):
        _load(tmp_path, f'[{section}]\n{name} = "{path}"\n')


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "xiokv.toml").write_text("[output]\ndir = 'link'\n", encoding="utf-8")
    assert load_config(str(tmp_path)).output.dir == tmp_path / "real"


def test_a_working_folder_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="the working folder is gone"):
        load_config()


@pytest.mark.parametrize("text", ["\ufeff[upstream]\nref = 'v1'", "[upstream]\r\nref = 'v1'\r\n"])
def test_marks_and_line_ends_of_other_systems_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "xiokv.toml").write_bytes(text.encode())
    assert load_config(str(tmp_path)).upstream.ref == "v1"


def test_another_version_is_refused_before_its_unknown_keys(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"requires xiokv >=7, and .* pip install path/to/xiokv"):
        _load(tmp_path, "requires-xiokv = '>=7'\n[upstream]\nnew = 1\n")


def test_a_version_that_is_no_specifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'seven' is no version specifier"):
        _load(tmp_path, "requires-xiokv = 'seven'\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[upstream", "not valid TOML"),
        (b"a = '\xff'", "not UTF-8"),
        (b"a = " + b"9" * 5000, "not valid TOML"),
        (b"a = " + b"[" * 9999, "nested too deeply"),
    ],
)
def test_a_broken_file_is_an_error(tmp_path: Path, body: bytes, message: str) -> None:
    (tmp_path / "xiokv.toml").write_bytes(body)
    with pytest.raises(XiokvError, match=message):
        load_config(str(tmp_path))
