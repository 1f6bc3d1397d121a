"""A Sphinx extension: what of these pages is generated, where a page asks for it.

In: pages with a line ``<!-- generated: NAME -->``, and the project whose spec and headers
they describe. Out: Markdown in place of the line, from the functions of `PARTS`. Anything
else that such a line names is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ConfigError, ExtensionError

from xiokv.codegen.config import Config, load_config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.spec.model import Spec
from xiokv_reference import docstrings, flow, headers, wire

_LINE = re.compile(r"^<!-- generated: (.*) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """The project that the pages describe."""

    config: Config
    spec: Spec


PARTS: Mapping[str, Callable[[Project], str]] = {
    "flow": lambda project: flow.picture(),
    "profile": lambda project: wire.profile(project.spec),
    "commands": lambda project: wire.commands(project.spec),
    "completion": lambda project: wire.completion(project.spec),
    "statuses": lambda project: wire.statuses(project.spec),
    "records": lambda project: wire.records(project.spec),
    "constants": lambda project: wire.constants(project.spec),
    "headers": lambda project: headers.sections(project.config.output),
}


def expand(text: str, project: Project) -> str:
    """Return a page's text with its generated parts in it."""

    def part(line: re.Match[str]) -> str:
        if line[1] not in PARTS:
            known = ", ".join(PARTS)
            raise ExtensionError(f"nothing generated is called {line[1]!r}; there are {known}")
        return PARTS[line[1]](project)

    return _LINE.sub(part, text)


class _Pages:
    """The pages, once it is known which project they describe."""

    _project: Project

    def read_project(self, app: Sphinx, config: Any) -> None:
        try:
            project = load_config(config.xiokv_project)
            self._project = Project(project, load_spec(project))
            folder = project.output.dir / "include"
            config.breathe_projects_source["xiokv"] = (str(folder), headers.public(project.output))
            doxygen = config.breathe_doxygen_config_options
            own = doxygen["PREDEFINED"].replace("XIOKV_", project.output.names.macros)
            if project.output.names.cpp_namespace:  # which C, as which headers are read, has not
                own = own.replace("__cplusplus ", "")
            doxygen["PREDEFINED"] = own
        except XiokvError as error:
            raise ConfigError(str(error)) from error

    def expand(self, app: Sphinx, page: str, source: list[str]) -> None:
        source[0] = expand(source[0], self._project)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    pages = _Pages()
    app.add_config_value("xiokv_project", "", "env", (str,))
    app.connect("config-inited", pages.read_project)
    app.connect("source-read", pages.expand)
    app.connect("env-before-read-docs", _read_generated_anew)
    docstrings.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read_generated_anew(app: Sphinx, env: Any, pages: list[str]) -> None:
    """Read pages again whose generated parts may be others than in the last run."""
    pages += [
        page
        for page in env.found_docs
        if page not in pages and _LINE.search(Path(env.doc2path(page)).read_text(encoding="utf-8"))
    ]
