"""doctor: what is said of machines that a test makes, and which exit code the project gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen import cli
from xiokv.codegen.commands import doctor
from xiokv.codegen.doctor import ceph, gpus, namespaces
from xiokv.codegen.doctor.finding import State
from xiokv.codegen.doctor.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., Machine]:
    """Return a function that makes a machine with files, and nothing else but what is given."""

    def make(*files: str, packages: dict[str, str] | None = None, **how: Any) -> Machine:
        root = tmp_path / "root"
        root.mkdir()
        for name in files:
            path, _, text = name.partition("=")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        bare: dict[str, Any] = {
            "environ": {},
            "package": (packages or {}).get,
            "opens": lambda library: False,
            "may_use": lambda path: True,
            "which": lambda program: None,
            "output": lambda *command: "",
        }
        return Machine(root, **{**bare, **how})

    return make


def by_name(findings: Any) -> dict[str, Any]:
    return {finding.name: finding for finding in findings}


VERSION = "opt/rocm-6.2.4/.info/version=6.2.4-139\n"


@pytest.mark.parametrize(
    ("files", "installed", "state", "said"),
    [
        ([VERSION], None, State.MISSING, "pip install 'hip-python==6.2.4.*'"),
        ([VERSION], "6.2.4.470.16", State.OK, "6.2.4.470.16, of this ROCm"),
        ([VERSION], "6.2.41.1", State.NOTE, "pip install 'hip-python==6.2.4.*'"),
        ([VERSION], "6.3.0.1", State.NOTE, "6.3.0.1 is for another ROCm than 6.2.4"),
        ([VERSION], "7.2.0.1", State.MISSING, "pip install 'hip-python==6.2.4.*'"),
        ([], None, State.MISSING, "pip install 'hip-python>=6.2'"),
        ([], "7.2.0.1", State.OK, "no ROCm to compare it with"),
        (["opt/rocm/.info/version=garbage"], None, State.MISSING, "'hip-python>=6.2'"),
    ],
)
def test_hip_python_has_to_be_that_of_the_rocm(
    machine, files: list[str], installed: str | None, state: State, said: str
) -> None:
    packages = {"hip-python": installed} if installed else {}
    finding = by_name(gpus.amd(machine(*files, packages=packages), needed=True))["hip-python"]
    assert finding.state is state
    assert said in f"{finding.seen}; {finding.advice}"


@pytest.mark.parametrize(
    ("files", "how", "expected"),
    [
        ([VERSION, "opt/rocm-10.0.0/.info/version=10.0.0"], {}, "10.0.0"),
        ([VERSION, "elsewhere/.info/version=7.1.0"], {"environ": {"ROCM_PATH": "/elsewhere"}},
         "7.1.0"),
        ([], {"output": lambda *command: "6.2.41134-65d174c3e\n"}, "6.2"),
        ([], {}, "None"),
    ],
)  # fmt: skip
def test_which_rocm_counts(machine, files: list[str], how: dict[str, Any], expected: str) -> None:
    assert str(gpus.find_rocm(machine(*files, **how))) == expected


@pytest.mark.parametrize(
    ("files", "opens", "state", "said"),
    [
        ([], True, State.OK, "the loader opens it"),
        (["opt/rocm/lib/libamdhip64.so="], False, State.MISSING,
         "export LD_LIBRARY_PATH=/opt/rocm/lib"),
        (["usr/lib64/libamdhip64.so.6="], False, State.MISSING, "only /usr/lib64/libamdhip64.so.6"),
        ([], False, State.MISSING, "install ROCm's development package"),
    ],
)  # fmt: skip
def test_a_library_is_found_as_the_loader_finds_it(
    machine, files: list[str], opens: bool, state: State, said: str
) -> None:
    looked_at = machine(*files, opens=lambda library: opens)
    finding = by_name(gpus.amd(looked_at, needed=True))["libamdhip64.so"]
    assert finding.state is state
    assert said in f"{finding.seen}; {finding.advice}"


@pytest.mark.parametrize(
    ("look", "name", "files"),
    [
        (gpus.amd, "AMD GPUs", ["dev/kfd=", "dev/dri/renderD128="]),
        (gpus.nvidia, "NVIDIA GPUs", ["dev/nvidiactl=", "dev/nvidia0="]),
    ],
)
def test_devices_have_to_be_there_and_be_allowed(machine, look, name: str, files) -> None:
    there = machine(*files)
    assert by_name(look(there, needed=True))[name].state is State.OK
    barred = Machine(there.root, may_use=lambda path: path.name != files[0].strip("=")[4:])
    finding = by_name(look(barred, needed=True))[name]
    assert finding.state is State.MISSING
    assert f"no permission for /{files[0].strip('=')}" in finding.seen
    assert finding.advice
    (there.root / files[1].strip("=")).unlink()
    assert by_name(look(there, needed=True))[name].state is State.MISSING


@pytest.mark.parametrize("odd", ["**", "a**b", "[", "/", ".", "", ":::"])
def test_odd_variables_of_the_shell_do_no_harm(machine, odd: str) -> None:
    looked_at = machine(environ={"ROCM_PATH": odd, "LD_LIBRARY_PATH": odd})
    assert not by_name(gpus.amd(looked_at, needed=True))["libamdhip64.so"].found


def test_what_nobody_needs_is_a_note(machine) -> None:
    bare = machine()
    findings = [*gpus.amd(bare, needed=False), *gpus.nvidia(bare, needed=False)]
    assert {finding.state for finding in findings} == {State.NOTE}
    assert all(finding.advice for finding in findings)


HEADER = "usr/include/rados/librados.hpp="


@pytest.mark.parametrize(
    ("files", "opens", "state", "said"),
    [
        ([HEADER], True, State.OK, "librados.so.2, /usr/include/rados/librados.hpp"),
        ([HEADER], False, State.NOTE, "no librados.so.2; for a store on Ceph install libradospp"),
        ([], True, State.NOTE, "no rados/librados.hpp; for a store on Ceph install"),
        ([], False, State.NOTE, "no librados.so.2, no rados/librados.hpp; for a store on Ceph"),
    ],
)
def test_a_store_on_ceph_needs_librados_and_its_header(
    machine, files: list[str], opens: bool, state: State, said: str
) -> None:
    looked_at = machine(*files, opens=lambda library: opens and library == "librados.so.2")
    finding = by_name(ceph.ceph(looked_at))["librados"]
    assert finding.state is state
    assert said in f"{finding.seen}; {finding.advice}"


def test_a_namespace_without_a_block_device_may_be_key_value(machine) -> None:
    looked_at = machine("dev/ng0n1=", "dev/nvme0n1=", "dev/ng1n1=")
    found = by_name(namespaces.namespaces(looked_at))
    assert "no Key-Value" in found["NVMe namespace ng0n1"].seen
    assert "may be Key-Value" in found["NVMe namespace ng1n1"].seen
    barred = Machine(looked_at.root, may_use=lambda path: False)
    finding = by_name(namespaces.namespaces(barred))["NVMe namespace ng1n1"]
    assert (finding.state, finding.found) == (State.NOTE, False)


@pytest.fixture
def run(
    machine, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, dict[str, Any]], str]]:
    """Return a function that runs the command on a bare machine in a folder."""
    for name in ("CXX", "XIOKV_HIP_CXX", "XIOKV_NVCC"):
        monkeypatch.delenv(name, raising=False)
    bare = machine()
    monkeypatch.setattr(doctor, "Machine", lambda: bare)

    def call(*arguments: str) -> tuple[int, dict[str, dict[str, Any]], str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main(["--project", str(project), "doctor", "--json", *arguments])
        out, err = capsys.readouterr()
        found = {finding["name"]: finding for finding in json.loads(out)["findings"]}
        return int(stopped.value.code or 0), found, err

    return call


def _tool(project: Path, *arguments: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--project", str(project), *arguments])


def test_a_project_whose_compilers_are_there_lacks_nothing(run, project: Path) -> None:
    _tool(project, "fetch")
    _tool(project, "build")
    code, found, err = run("--target", "host")
    assert (code, err) == (0, "")
    names = ("xiokv.toml", "xiokv.lock", "spec file", "generated files", "C++ compiler")
    assert [found[name]["state"] for name in names] == 5 * ["ok"]


@pytest.mark.parametrize(
    ("target", "variable", "name"),
    [
        ("host", "CXX", "C++ compiler"),
        ("hip", "XIOKV_HIP_CXX", "compiler for AMD GPUs"),
        ("cuda", "XIOKV_NVCC", "nvcc"),
    ],
)
def test_a_compiler_is_missing_only_where_a_target_needs_it(
    run, project: Path, monkeypatch: pytest.MonkeyPatch, target: str, variable: str, name: str
) -> None:
    _tool(project, "fetch")
    monkeypatch.setenv(variable, "nowhere")
    code, found, _ = run()
    assert (code, found[name]["state"]) == (0, "note")
    with (project / "xiokv.toml").open("a", encoding="utf-8") as config:
        config.write(f'[compile]\ntargets = ["{target}"]\n')
    code, found, err = run()
    assert (code, found[name]["state"]) == (5, "missing")
    assert err == f"xiokv-gen: missing: {name}; what to do is in their lines\n"


def test_what_running_needs_counts_where_modules_run_here(run, project: Path) -> None:
    _tool(project, "fetch")
    assert run("--target", "hip")[0] == 0
    code, found, _ = run("--target", "hip", "--run")
    assert code == 5
    assert found["AMD GPUs"]["state"] == "missing"
    assert found["NVIDIA GPUs"]["state"] == "note"


@pytest.mark.parametrize(
    ("spoil", "name", "advice"),
    [
        (lambda p: (p / "xiokv.toml").write_text("[outptu]\n"), "xiokv.toml", ""),
        (lambda p: (p / "xiokv.toml").unlink(), "xiokv.toml", "run xiokv-gen init"),
        (lambda p: (p / "xiokv.lock").unlink(), "xiokv.lock", "run xiokv-gen fetch"),
        (lambda p: (p / "xiokv.lock").write_text("x"), "xiokv.lock", ""),
        (lambda p: (p / "generated/spec/nvme_kv.json").unlink(), "spec file", "xiokv-gen fetch"),
        (lambda p: (p / "generated/spec/nvme_kv.json").write_text("{}"), "spec file", ""),
    ],
)
def test_a_broken_project_is_a_finding_and_no_traceback(
    run, project: Path, spoil: Callable[[Path], Any], name: str, advice: str
) -> None:
    _tool(project, "fetch")
    spoil(project)
    code, found, _ = run()
    assert (code, found[name]["state"]) == (5, "missing")
    assert advice in found[name]["advice"]


def test_stale_files_are_a_note(run, project: Path) -> None:
    _tool(project, "fetch")
    code, found, _ = run()
    assert (code, found["generated files"]["state"]) == (0, "note")
    assert found["generated files"]["advice"] == "run xiokv-gen build"
