"""One run of a compiler: from the units of a recipe to one of its files.

In: a recipe and a path. Out: the file, and what the compiler said; or a fault that shows
the first lines of it.
"""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.toolchain.compilers import Compiler
from xiokv.runtime.toolchain.recipes import Output, Recipe

_AT_ONCE = 2
_ERROR_LINES = 20


def compile_all(recipe: Recipe, compiler: Compiler, folder: Path) -> list[str]:
    """Make every file of a recipe in `folder`, some at a time; return what was said of each."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = [
            pool.submit(_compile, recipe, output, compiler, folder) for output in recipe.outputs
        ]
        try:
            return [run.result() for run in runs]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _compile(recipe: Recipe, output: Output, compiler: Compiler, folder: Path) -> str:
    made = folder / output.file
    sources = recipe.sources
    flags = (*recipe.flags, *output.flags, "-I", sources.include)
    # The compiler works in another folder, where a relative path is another one.
    command = [compiler.path, *flags, *sources.units, "-o", str(made.absolute())]
    try:
        done = subprocess.run(
            command, cwd=sources.root, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise RuntimeFault(f"cannot run {compiler.path}: {error.strerror}") from error
    if done.returncode != 0 or not made.exists():
        raise RuntimeFault(_failed(output, compiler, done))
    return done.stdout + done.stderr


def _failed(output: Output, compiler: Compiler, done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    shown = lines[:_ERROR_LINES]
    if len(lines) > len(shown):
        shown.append(f"... and {len(lines) - len(shown)} more lines")
    end = f"exit code {done.returncode}" if done.returncode else "it wrote no file"
    failed = f"{compiler.path} could not compile {output.file} ({end})"
    return "\n".join([f"{failed}:", *shown]) if shown else f"{failed} and said nothing"
