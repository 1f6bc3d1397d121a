"""How the reference is built; `scripts/docs.sh` does it.

The source folder is the whole checkout, so that README.md and docs/*.md are pages where
they are, and a link between them means the same here as on GitHub.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE / "_ext"))

project = "xiokv"
author = "The xiokv authors"
copyright = author
root_doc = "docs/reference/index"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]
extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "xiokv_reference",
]
nitpicky = True
default_role = "code"  # in docstrings, `name` is code

html_extra_path = ["_extra"]
html_title = "xiokv"
html_theme_options = {"page_width": "1160px", "fixed_sidebar": True}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # named as GitHub names them

# The project whose spec and headers are described: one with a profile shows its fields.
xiokv_project = str(ROOT)

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# A constructor is shown where it is the user's to call: the page names it.
autodoc_class_signature = "separated"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
napoleon_use_ivar = True
napoleon_use_rtype = False

# Doxygen reads the headers as C, and the one of C++ as that. A macro that stands for an
# attribute is nothing to it.
breathe_projects: dict[str, str] = {}
breathe_projects_source: dict[str, tuple[str, list[str]]] = {}  # filled in by xiokv_reference
breathe_default_project = "xiokv"
breathe_domain_by_extension = {"h": "c"}
breathe_domain_by_file_pattern = {"*/kv_operation.h": "cpp"}
breathe_show_include = False
breathe_doxygen_config_options = {
    "OPTIMIZE_OUTPUT_FOR_C": "YES",
    "AUTOLINK_SUPPORT": "NO",
    "EXTRACT_ALL": "YES",
    "EXTRACT_STATIC": "YES",
    "MACRO_EXPANSION": "YES",
    "EXPAND_ONLY_PREDEF": "YES",
    # A parameter is told of where its name does not say all.
    "WARN_IF_INCOMPLETE_DOC": "NO",
    "PREDEFINED": "__cplusplus XIOKV_HD= XIOKV_ALIGNAS(x)= __extension__= XIOKV_STATIC_ASSERT(x,y)="
    " XIOKV_ASSERT_RECORD(x,y,z)= XIOKV_ASSERT_MEMBER(w,x,y,z)=",
}

# Links to other projects would need a network at build time: names of the C library, of
# Python's and of NumPy stay text. So do a type variable, and a C record without a name.
nitpick_ignore = [
    (f"{language}:identifier", name)
    for language in ("c", "cpp")
    for name in (
        *("int8_t", "uint8_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"),
        "size_t",
        # Handles, of which no more is to be known.
        *("xiokv_ctx", "xiokv_device", "xiokv_emu", "xiokv_handle", "xiokv_launch"),
        *("xiokv_library", "xiokv_module", "xiokv_stream"),
    )
]
nitpick_ignore_regex = [
    ("py:class", r"(_?ctypes|collections|concurrent|enum|numpy|os|typing)\..*"),
    ("py:class", r".*\._T"),
    ("py:obj", r"typing\.Literal.*"),
    ("c:identifier", r".*@\d+.*"),
]
# Doxygen shows members of unnamed records as if they were the outer record's, whose names
# then may come twice: the three forms of an SGL descriptor have a length each.
suppress_warnings = ["duplicate_declaration.c"]
