"""The compile step of ``build``: from generated text to a module per target.

In: a project whose text has just been written. Out: the files of each module, and what is
to be said of them. The compilers themselves live in `xiokv.runtime.toolchain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.config import Config
from xiokv.codegen.errors import ExitCode, XiokvError
from xiokv.codegen.version import VERSION
from xiokv.runtime import toolchain


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled module: its files, and a line for each that costs more than registers."""

    files: tuple[Path, ...]
    warnings: tuple[str, ...]


def compile_targets(
    config: Config, targets: Iterable[str], architectures: Mapping[str, tuple[str, ...]]
) -> tuple[Module, ...]:
    """Compile the project's generated text for each target.

    Args:
        config: the project.
        targets: what to compile for.
        architectures: for some targets those to compile for, in place of the project's.
    """
    own = {"hip": config.compile.hip_arch, "cuda": config.compile.cuda_arch}
    chosen = {**own, **architectures}
    return tuple(_compile(config, target, chosen.get(target, ())) for target in targets)


def _compile(config: Config, target: str, architectures: tuple[str, ...]) -> Module:
    folder = config.compile.dir / target
    try:
        recipe = toolchain.recipe(target, config.output.dir, VERSION, architectures)
        toolchain.build(recipe, folder)
        files = tuple(folder / output.file for output in recipe.outputs)
        return Module(files, toolchain.costs(folder))
    except toolchain.RuntimeFault as fault:
        error = XiokvError(str(fault))
        error.exit_code = ExitCode(int(fault.exit_code))
        raise error from fault
