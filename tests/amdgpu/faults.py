"""Faults that are put into the engine, to see that checks of its machine code find them."""

from __future__ import annotations

from .kernels import Edit

_RELEASE = '  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");\n'
_ACQUIRE = '  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");\n'
_SUBMITTED = "  xiokv_release_system();\n"
_RINGS = "  if (room != 0 && engine.stopping == 0)\n    xiokv_ring_doorbell(engine, room);\n"
_MEETS = "  xiokv_barrier();\n  const uint32_t seen ="
_ACQUIRES = "  if (!XIOKV_EARLY_ACQUIRE && engine.run != 0)\n    xiokv_acquire_system();\n"
_LOADS = "  const xiokv_vector v = *static_cast<const volatile xiokv_vector *>(address);\n"
_READS_AGAIN = "  look.again = xiokv_load16_if(lane < engine.run, xiokv_cqe_at(engine, lane));\n"
_RINGS_CQ = (
    "    xiokv_store32(reinterpret_cast<void *>(engine.queue.cq_doorbell),\n"
    "                  engine.head);\n"
)
_RINGS_SQ = "  xiokv_store32(reinterpret_cast<void *>(queue.sq_doorbell), engine.tail);\n"

_NO_ACQUIRE: Edit = (_ACQUIRE, "")
_CACHED: Edit = ("const volatile xiokv_vector *", "const xiokv_vector *")
_DWORD_BY_DWORD: Edit = (
    _LOADS,
    "  const volatile uint32_t *w = static_cast<const volatile uint32_t *>(address);\n"
    "  const xiokv_vector v = {w[0], w[1], w[2], w[3]};\n",
)
# What the look at the phase has loaded is taken for the completion.
_NO_SECOND_READ: tuple[Edit, ...] = (
    ("  uint32_t tail; ", "  xiokv_words glimpse = {};\n  uint32_t tail; "),
    (_READS_AGAIN, "  look.again = engine.glimpse;\n"),
    (
        "  xiokv_tell(engine, look);\n",
        "  xiokv_tell(engine, look);\n  engine.glimpse = look.glimpse;\n",
    ),
    ("  bool watches; ", "  xiokv_words glimpse;\n  bool watches; "),
    (
        "    look.ahead = xiokv_peek32_if(loads, at, dword);\n",
        "    look.glimpse = xiokv_load16_if(loads, at),\n"
        "    look.ahead = look.watches ? look.glimpse.word[3] : look.glimpse.word[0];\n",
    ),
)

_AMD_PAUSE = (
    "void xiokv_pause(uint32_t = 1, uint32_t = 0, uint32_t = 1) {\n  __builtin_amdgcn_s_sleep(1);"
)

FAULTS: dict[str, tuple[Edit, ...]] = {
    "no release before the doorbell": ((_RELEASE, ""),),
    "a release as far as the GPU": ((_RELEASE, _RELEASE.replace('""', '"agent"')),),
    "a release by the first wave alone": (
        (_SUBMITTED, f"  if (xiokv_first_lane(xiokv_wave()) == 0)\n  {_SUBMITTED}"),
    ),
    "a release after the barrier": ((_SUBMITTED, ""), (_RINGS, _SUBMITTED + _RINGS)),
    "no release at barriers": ((_RELEASE.replace('""', '"workgroup"'), ""),),
    "no acquire at barriers": ((_ACQUIRE.replace('""', '"workgroup"'), ""),),
    "no acquire of any kind": (_NO_ACQUIRE, (_ACQUIRE.replace('""', '"workgroup"'), "")),
    "no barriers": (("  __builtin_amdgcn_s_barrier();\n", ""),),
    "no barrier in a round": ((_MEETS, "  const uint32_t seen ="),),
    "the doorbell before the barrier": (
        (_MEETS, _RINGS + _MEETS),
        (
            f" : 0;\n{_RINGS}  else if (room != 0)",
            " : 0;\n  if (room != 0 && engine.stopping != 0)",
        ),
    ),
    "no acquire after the phase match": (_NO_ACQUIRE,),
    "an acquire after the second read": (
        (_ACQUIRES, ""),
        ("  return look;\n", f"{_ACQUIRES}  return look;\n"),
    ),
    "no second read": _NO_SECOND_READ,
    "no second read of an entry loaded dword by dword": (*_NO_SECOND_READ, _DWORD_BY_DWORD),
    "an entry loaded dword by dword": (_DWORD_BY_DWORD,),
    "an entry loaded through the caches": (_CACHED,),
    "an entry loaded through the caches after no acquire": (_CACHED, _NO_ACQUIRE),
    "an entry stored by halves of a quarter": (
        (
            "  *static_cast<xiokv_vector *>(address) = v;\n",
            "  static_cast<volatile uint64_t *>(address)[0] = v.x | uint64_t(v.y) << 32;\n"
            "  static_cast<volatile uint64_t *>(address)[1] = v.z | uint64_t(v.w) << 32;\n",
        ),
    ),
    "the CQ doorbell after the SQ doorbell": (
        (_RINGS_CQ, ""),
        (_RINGS_SQ, f"{_RINGS_SQ}{_RINGS_CQ}"),
    ),
    "functions that are called": (
        (
            f"XIOKV_DEVICE {_AMD_PAUSE}",
            f"static __attribute__((device)) __attribute__((noinline)) {_AMD_PAUSE}",
        ),
    ),
    "too few registers": (
        (
            "amdgpu_flat_work_group_size(256, 256)",
            "amdgpu_flat_work_group_size(256, 256), amdgpu_num_vgpr(24)",
        ),
    ),
}
