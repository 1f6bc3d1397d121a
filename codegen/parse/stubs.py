"""What the headers see in place of the system's and SPDK's own headers.

`PRELUDE` is read before any upstream text. It holds the few types and macros that the
definitions lean on, for the System V x86-64 ABI. Every include that is not among the
given texts resolves to nothing.
"""

from __future__ import annotations

PRELUDE_PATH = "xiokv/prelude.h"

# Upstream's own definition of this macro may expand to nothing, which would drop the
# asserts in silence; and no header may take the ABI's names away.
PROTECTED_MACROS = frozenset({"SPDK_STATIC_ASSERT", "static_assert", "offsetof"})

PRELUDE = """\
#define SPDK_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#define static_assert _Static_assert
#define __builtin_offsetof offsetof
#define __extension__
#define __inline inline
#define __inline__ inline
#define __restrict restrict
#define __const const
#define __volatile__ volatile
#define __signed__ signed
#define __STDC__ 1
#define __STDC_VERSION__ 201112L
#define __GNUC__ 11
#define __linux__ 1
#define __x86_64__ 1
#define __LP64__ 1
#define __CHAR_BIT__ 8
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __BYTE_ORDER__ 1234
#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)
#define CHAR_BIT 8
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_C(value) value
#define UINT16_C(value) value
#define UINT32_C(value) value##U
#define UINT64_C(value) value##UL
#define INT8_C(value) value
#define INT16_C(value) value
#define INT32_C(value) value
#define INT64_C(value) value##L
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef long ssize_t;
typedef long ptrdiff_t;
"""
