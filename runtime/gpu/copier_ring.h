// SPDX-License-Identifier: MIT
/// @file
/// @brief What the copier's kernel and its CPU side share, in page-locked
/// memory: a stop word, and the channels.
///
/// A channel is a ring of copies, with a piece of memory beside each. The CPU
/// writes a copy, its number last; the workgroup whose turn it is carries it
/// out and writes the number where the CPU looks for it. Copies count from 1,
/// and workgroup g of G takes those with (number - 1) % G == g.
#pragma once

#include <stdint.h>

/// @brief Most bytes of a copy, which crosses no multiple of it on the device;
/// the data lies in its piece of the ring as it lies between two multiples.
#define XIOKV_COPIER_PIECE 16384u

/// @brief A copy between a piece of the ring and the device's memory, in two
/// words. Each says whose it is, so that none is believed without the other.
/// It has a line of the CPU's cache for itself: reads of the device that come
/// for the same line wait for one another.
struct alignas(64) xiokv_copy {
  /// Bits 47:0: address in the device's memory. 63:48: of the number.
  uint64_t place;
  /// Bits 31:0: bytes, at least 1, and XIOKV_COPY_FROM_DEVICE. 63:32: the
  /// number.
  uint64_t what;
};

/// @brief Bit of xiokv_copy.what: from the device, else to it.
#define XIOKV_COPY_FROM_DEVICE (1u << 31)
/// @brief Bits of an address that a copy has room for.
#define XIOKV_COPY_ADDRESS_BITS 48u

/// @brief Where a workgroup stands between launches.
struct xiokv_copier_progress {
  uint32_t next;  ///< Number of the copy that it waits for.
  uint32_t ended; ///< Launch that it has left; written last.
};

/// @brief The kernel's argument. Addresses are the device's.
struct xiokv_copier_launch {
  uint64_t stop;          ///< Address of 64 bits: other than 0 ends all.
  uint64_t channels;      ///< Address of the first channel.
  uint64_t channel_bytes; ///< From one channel to the next.
  uint64_t done;     ///< In a channel: a word a slot, the number carried out.
  uint64_t progress; ///< In a channel: a struct xiokv_copier_progress a
                     ///< workgroup.
  uint64_t pieces;   ///< In a channel: the pieces.
  uint64_t lease;    ///< Ticks after which a workgroup ends.
  uint32_t slots;    ///< Copies of a ring, a power of two.
  uint32_t groups;   ///< Workgroups of a channel, a power of two.
  uint32_t number;   ///< Of the launch, from 1.
  uint32_t reserved; ///< 0.
};
