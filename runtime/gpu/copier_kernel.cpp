// SPDX-License-Identifier: MIT
/// @file
/// @brief The copier's kernel: each wave takes copies out of its channel's ring
/// until its lease is over or the stop word is set.
#include "copier_ring.h"
#include "entry.h"

/// 16-byte loads that a lane has under way at once.
constexpr uint32_t xiokv_copier_ahead = 8;
/// Looks for a copy between two looks at stop word and clock.
constexpr uint32_t xiokv_copier_looks = 16;

/// @brief Copy fewer bytes than a word, a lane each.
XIOKV_DEVICE void xiokv_copy_bytes(uint64_t to, uint64_t from, uint32_t bytes) {
  for (uint32_t i = xiokv_wave_lane(); i < bytes; i += xiokv_wave_width())
    *xiokv_at<uint8_t>(to + i) = *xiokv_at<const uint8_t>(from + i);
}

/// @brief Copy words; all loads of a round are under way before its stores.
/// They are plain loads, which the bus carries by the line.
XIOKV_DEVICE void xiokv_copy_words(uint64_t to, uint64_t from, uint32_t words) {
  const uint32_t width = xiokv_wave_width();
  const xiokv_words *source = xiokv_at<const xiokv_words>(from);
  for (uint32_t at = xiokv_wave_lane(); at < words;
       at += width * xiokv_copier_ahead) {
    xiokv_words held[xiokv_copier_ahead];
#pragma unroll
    for (uint32_t i = 0; i < xiokv_copier_ahead; ++i)
      if (at + i * width < words)
        held[i] = source[at + i * width];
#pragma unroll
    for (uint32_t i = 0; i < xiokv_copier_ahead; ++i)
      if (at + i * width < words)
        xiokv_store16(xiokv_at<void>(to + (at + i * width) * sizeof held[i]),
                      held[i]);
  }
}

/// @brief Copy bytes between places that lie alike within 16 bytes.
XIOKV_DEVICE void xiokv_copy_run(uint64_t to, uint64_t from, uint32_t bytes) {
  constexpr uint32_t word = sizeof(xiokv_words);
  uint32_t head = static_cast<uint32_t>(-to) % word;
  head = head < bytes ? head : bytes;
  xiokv_copy_bytes(to, from, head);
  const uint32_t body = (bytes - head) / word;
  xiokv_copy_words(to + head, from + head, body);
  const uint32_t done = head + body * word;
  xiokv_copy_bytes(to + done, from + done, bytes - done);
}

/// @brief Whether both words are of a copy with this number.
XIOKV_DEVICE bool xiokv_is_copy(const xiokv_copy &copy, uint32_t number) {
  return copy.what >> 32 == number &&
         copy.place >> XIOKV_COPY_ADDRESS_BITS == (number & 0xffffu);
}

/// @brief Carry out a copy that the first lane has, with its piece.
XIOKV_DEVICE void xiokv_carry(const xiokv_copy &copy, uint64_t piece) {
  const uint64_t device =
      xiokv_share(copy.place) & ((UINT64_C(1) << XIOKV_COPY_ADDRESS_BITS) - 1);
  const uint32_t what = xiokv_first_lane(static_cast<uint32_t>(copy.what));
  const uint64_t host = piece + device % XIOKV_COPIER_PIECE;
  const uint32_t bytes = what & ~XIOKV_COPY_FROM_DEVICE;
  const bool from_device = (what & XIOKV_COPY_FROM_DEVICE) != 0;
  xiokv_copy_run(from_device ? host : device, from_device ? device : host,
                 bytes);
  if (from_device)
    xiokv_release_system();
  else
    xiokv_release_device();
}

/// @brief Serve a channel as one of its waves.
XIOKV_DEVICE void xiokv_serve(const xiokv_copier_launch &launch,
                              uint64_t channel, uint32_t wave) {
  const uint64_t own =
      channel + launch.waves + wave * sizeof(xiokv_copier_wave);
  const uint64_t end = xiokv_clock() + launch.lease;
  uint32_t number = static_cast<uint32_t>(xiokv_share(xiokv_peek(own)));
  for (uint32_t looks = 1; true; ++looks) {
    if (looks % xiokv_copier_looks == 0 &&
        xiokv_first_lane(xiokv_peek(launch.stop) != 0 || xiokv_clock() >= end))
      break;
    const uint64_t slot = (number - 1) & (launch.slots - 1);
    const uint64_t at = channel + slot * sizeof(xiokv_copy);
    const xiokv_copy copy = {xiokv_peek(at),
                             xiokv_peek_acquire(at + sizeof copy.place)};
    if (xiokv_first_lane(xiokv_is_copy(copy, number)) == 0) {
      xiokv_pause();
      continue;
    }
    xiokv_wave_barrier();
    xiokv_carry(copy, channel + launch.pieces + slot * XIOKV_COPIER_PIECE);
    xiokv_wave_barrier();
    if (xiokv_wave_lane() == 0)
      xiokv_store32(
          xiokv_at<void>(channel + launch.done + slot * sizeof number), number);
    number += launch.wave_count;
  }
  if (xiokv_wave_lane() != 0)
    return;
  xiokv_store32(xiokv_at<void>(own), number);
  xiokv_release_system();
  xiokv_store32(xiokv_at<void>(own + sizeof number), launch.number);
}

XIOKV_DEVICE void xiokv_run_copier(const xiokv_copier_launch &launch,
                                   uint32_t group) {
  const uint64_t channel =
      launch.channels + group / launch.groups * launch.channel_bytes;
  const uint32_t waves = XIOKV_LANES / xiokv_wave_width();
  xiokv_serve(launch, channel, group % launch.groups * waves + xiokv_wave());
}

XIOKV_DEFINE_ENTRY(xiokv_kernel_copier, xiokv_copier_launch, xiokv_run_copier)
