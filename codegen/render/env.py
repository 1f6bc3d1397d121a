"""The one Jinja environment: every template is rendered here, with the same filters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from xiokv import templates
from xiokv.codegen.render import text


@cache
def environment() -> jinja2.Environment:
    """Return the environment; an undefined name in a template is an error."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(templates.__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is C and Python, escaped by our filters
    )
    env.filters["banner"] = text.banner
    env.filters["c_comment"] = text.c_comment
    env.filters["hash_comment"] = text.hash_comment
    env.filters["py_doc"] = text.py_doc
    env.filters["py_str"] = text.py_str
    return env


def render(template: str, **context: Any) -> str:
    """Render a template, named relative to the templates package."""
    return environment().get_template(template).render(**context)
