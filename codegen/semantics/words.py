"""Names that a semantic field or a namespace may not have: words of C, C++ and Python.

The lists cover C11, C++20 and Python 3 (soft keywords included), the macros that a
compiler predefines in lower case, and the parameters that every call already has: a field
becomes a parameter or a member.
"""

from __future__ import annotations

import keyword

_C = """
auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef
union unsigned void volatile while asm typeof typeof_unqual
fortran
"""
_CPP = """
alignas alignof and and_eq bitand bitor bool catch char8_t char16_t char32_t class compl
concept consteval constexpr constinit const_cast co_await co_return co_yield decltype
delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public reinterpret_cast requires static_assert
static_cast template this thread_local throw true try typeid typename using virtual
wchar_t xor xor_eq
"""
_PYTHON_SOFT = "match case type"
_PREDEFINED = "linux unix i386 errno assert complex imaginary noreturn"
_PARAMETERS = """
key keys nsid out stream value_size options cid timeout
self values sizes offsets key_lengths if_absent if_present no_compress raw copy
start limit block_keys n gpu_buffer
"""

CPP_KEYWORDS = frozenset(_CPP.split())
PARAMETERS = frozenset(_PARAMETERS.split())
C_WORDS = frozenset(f"{_C} {_CPP} {_PREDEFINED}".split())
KEYWORDS = frozenset([*C_WORDS, *_PYTHON_SOFT.split(), *keyword.kwlist])


def fault_of(name: str) -> str | None:
    """Return why the name is taken, or None."""
    if name in PARAMETERS:
        return f"{name!r} is already a parameter of a call"
    if name.endswith("_t") or name.startswith("xiokv_"):
        return f"{name!r} may be a type of C or a name of this project"
    if name in KEYWORDS:
        return f"{name!r} is a keyword or a predefined macro of C, C++ or Python"
    return None
