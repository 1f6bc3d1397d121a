// SPDX-License-Identifier: MIT
/// @file
/// @brief Copies between a CPU's memory and a GPU's, for a controller that runs
/// on the CPU.
///
/// Data goes through pieces of page-locked memory; a kernel on a stream of its
/// own copies between these and the device's memory. It ends when its lease is
/// over, so that nothing that waits for the device waits for long. While there
/// is something to copy, the next launch is in the stream before the last has
/// ended. Whatever the CPU reaches is copied by the CPU.
///
/// Threads may call at the same time, save create and destroy. Each works on a
/// channel, which few threads share.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @brief A copier.
typedef struct xiokv_copier xiokv_copier;

/// @brief The kernel's argument, see copier_ring.h.
struct xiokv_copier_launch;

/// @brief Memory of one kind.
struct xiokv_copier_range {
  uint64_t first;     ///< Its first address.
  uint64_t bytes;     ///< How many.
  uint32_t is_device; ///< Whether it is out of the CPU's reach.
  uint32_t is_known;  ///< Whether that stays so; else it is asked anew.
};

/// @brief A vendor's driver library. Each function returns 0, or anything else
/// where it failed, and leaves the calling thread as it was: it may be the
/// user's, who works with another device.
struct xiokv_copier_vendor {
  void *context; ///< First argument of each.
  /// Launches the kernel in the copier's stream.
  int (*launch)(void *context, const struct xiokv_copier_launch *argument,
                uint32_t groups);
  /// Tells what memory an address lies in.
  int (*locate)(void *context, uint64_t address,
                struct xiokv_copier_range *range);
};

/// @brief What a copier is made with.
struct xiokv_copier_config {
  uint32_t
      struct_size;   ///< sizeof(struct xiokv_copier_config); another: refused.
  uint32_t channels; ///< Rings; one for each thread does best.
  uint32_t slots;    ///< Copies of a ring, a power of two.
  uint32_t groups;   ///< Workgroups of a channel, a power of two.
  void *memory;      ///< Page-locked, xiokv_copier_bytes, on a page boundary.
  uint64_t device_memory; ///< Device address of the same.
  uint64_t lease;         ///< Ticks of the device after which the kernel ends.
  uint64_t term;          ///< The same in nanoseconds.
  uint64_t patience;      ///< Nanoseconds after which a copy has failed.
};

/// @brief Bytes of page-locked memory that a copier needs.
uint64_t xiokv_copier_bytes(uint32_t channels, uint32_t slots, uint32_t groups);

/// @brief Make a copier; nothing is launched yet.
/// @param vendor Copied; its context stays in use.
/// @return The copier, or NULL where a member is not allowed.
xiokv_copier *xiokv_copier_create(const struct xiokv_copier_config *config,
                                  const struct xiokv_copier_vendor *vendor);

/// @brief Let the kernel end, and every later call fail.
void xiokv_copier_stop(xiokv_copier *copier);

/// @brief End a copier that no thread uses and whose kernel has ended.
void xiokv_copier_destroy(xiokv_copier *copier);

/// @brief How often the kernel was launched.
uint64_t xiokv_copier_launches(const xiokv_copier *copier);

/// @brief Tell that copies are to be expected, so that the first need not wait
/// for a launch. Nothing is launched again and again for copies that do not
/// come.
void xiokv_copier_wake(xiokv_copier *copier);

/// @brief Tell what memory is, as it is known without asking the vendor's
/// library, which is slow while others call it.
void xiokv_copier_note(xiokv_copier *copier, uint64_t first, uint64_t bytes,
                       uint32_t is_device);

/// @brief Forget what memory is: it may have been freed, and become another
/// thing.
void xiokv_copier_forget(xiokv_copier *copier);

/// @brief Copy from an address to `buffer`; these three are a controller's DMA
/// hook, with the copier as its context.
/// @return 0, or -1 where the copy failed: then all later ones fail, too.
int xiokv_copier_read(void *copier, uint64_t address, void *buffer,
                      uint64_t bytes);

/// @brief Begin to copy from `buffer` to an address; `buffer` is free on
/// return.
int xiokv_copier_write(void *copier, uint64_t address, const void *buffer,
                       uint64_t bytes);

/// @brief Wait until all that the thread wrote is in its place.
int xiokv_copier_flush(void *copier);

#ifdef __cplusplus
}
#endif
