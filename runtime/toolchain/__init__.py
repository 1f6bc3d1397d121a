"""Compilers: how they are found, what they are given, where their output is kept.

In: a recipe: texts, flags and the files to make of them. Out: these files and their
description, ``module.json``, side by side in one folder. The description is put there last,
so that a folder with one is complete. Both the generator and the runtime build through
here; nothing here knows either of them.
"""

from __future__ import annotations

from xiokv.runtime.errors import MissingFault as MissingFault
from xiokv.runtime.errors import RuntimeFault as RuntimeFault
from xiokv.runtime.toolchain.build import DESCRIPTION as DESCRIPTION
from xiokv.runtime.toolchain.build import build as build
from xiokv.runtime.toolchain.build import build_cached as build_cached
from xiokv.runtime.toolchain.build import cache_folder as cache_folder
from xiokv.runtime.toolchain.compilers import Compiler as Compiler
from xiokv.runtime.toolchain.compilers import find_cxx as find_cxx
from xiokv.runtime.toolchain.compilers import find_hip as find_hip
from xiokv.runtime.toolchain.compilers import find_nvcc as find_nvcc
from xiokv.runtime.toolchain.figures import costs as costs
from xiokv.runtime.toolchain.host_library import SONAME as SONAME
from xiokv.runtime.toolchain.host_library import capi_recipe as capi_recipe
from xiokv.runtime.toolchain.rados_library import RADOS_NAME as RADOS_NAME
from xiokv.runtime.toolchain.rados_library import RADOS_PACKAGES as RADOS_PACKAGES
from xiokv.runtime.toolchain.rados_library import lack_of_librados as lack_of_librados
from xiokv.runtime.toolchain.rados_library import rados_recipe as rados_recipe
from xiokv.runtime.toolchain.recipes import Output as Output
from xiokv.runtime.toolchain.recipes import Recipe as Recipe
from xiokv.runtime.toolchain.recipes import Sources as Sources
from xiokv.runtime.toolchain.recipes import library_recipe as library_recipe
from xiokv.runtime.toolchain.targets import host_recipe as host_recipe
from xiokv.runtime.toolchain.targets import kernel_recipe as kernel_recipe
from xiokv.runtime.toolchain.targets import recipe as recipe
