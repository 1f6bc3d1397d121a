"""The compile step of ``build``: from generated text to a module per target.

In: a project whose text has just been written. Out: the path of each module. The
compilers themselves live in `xiokv.runtime.toolchain`.
"""

from __future__ import annotations

from pathlib import Path

from xiokv.codegen.config import Config
from xiokv.codegen.errors import ExitCode, UsageError, XiokvError
from xiokv.codegen.version import VERSION
from xiokv.runtime import toolchain


def compile_targets(config: Config, targets: tuple[str, ...]) -> tuple[Path, ...]:
    """Compile the project's generated text for each target; return the modules' paths."""
    return tuple(_compile(config, target) for target in targets)


def _compile(config: Config, target: str) -> Path:
    if target != "host":
        raise UsageError(f"target {target!r}: this version of xiokv compiles for host only")
    try:
        recipe = toolchain.host_recipe(config.output.dir, VERSION)
        return toolchain.build(recipe, config.compile.dir / target)
    except toolchain.RuntimeFault as fault:
        error = XiokvError(str(fault))
        error.exit_code = ExitCode(int(fault.exit_code))
        raise error from fault
