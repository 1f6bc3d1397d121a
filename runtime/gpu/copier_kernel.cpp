// SPDX-License-Identifier: MIT
/// @file
/// @brief The copier's kernel: each workgroup takes copies out of its channel's
/// ring until its lease is over or the stop word is set.
///
/// Its first wave alone looks for copies, and all its waves carry them: a fence
/// waits for whatever its multiprocessor has under way, and where other waves
/// went on looking, it would wait for the end of their lease.
#include "copier_ring.h"
#include "entry.h"

/// 16-byte loads that a lane has under way at once; on a GPU, a piece in all.
constexpr uint32_t xiokv_copier_ahead = 4;
/// Looks for a copy between two looks at stop word and clock.
constexpr uint32_t xiokv_copier_looks = 16;
/// Nanoseconds between two looks: of a workgroup that has had copies, and of
/// one whose channel may belong to no thread.
constexpr uint32_t xiokv_copier_rest = 100, xiokv_copier_long_rest = 4000;

/// @brief Copy fewer bytes than a word, a lane each.
XIOKV_DEVICE void xiokv_copy_bytes(uint64_t to, uint64_t from, uint32_t bytes) {
  for (uint32_t i = xiokv_lane(); i < bytes; i += XIOKV_LANES)
    *xiokv_at<uint8_t>(to + i) = *xiokv_at<const uint8_t>(from + i);
}

/// @brief Copy words; all loads of a round are under way before its stores.
/// They are plain loads, which the bus carries by the line.
XIOKV_DEVICE void xiokv_copy_words(uint64_t to, uint64_t from, uint32_t words) {
  const xiokv_words *source = xiokv_at<const xiokv_words>(from);
  for (uint32_t at = xiokv_lane(); at < words;
       at += XIOKV_LANES * xiokv_copier_ahead) {
    xiokv_words held[xiokv_copier_ahead];
#pragma unroll
    for (uint32_t i = 0; i < xiokv_copier_ahead; ++i)
      if (at + i * XIOKV_LANES < words)
        held[i] = source[at + i * XIOKV_LANES];
#pragma unroll
    for (uint32_t i = 0; i < xiokv_copier_ahead; ++i)
      if (at + i * XIOKV_LANES < words)
        xiokv_store16(
            xiokv_at<void>(to + (at + i * XIOKV_LANES) * sizeof held[i]),
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

/// @brief The words of a struct xiokv_copy; both 0: none comes any more.
struct xiokv_copier_order {
  uint64_t place;
  uint64_t what;
};

/// @brief Whether both words are of a copy with this number.
XIOKV_DEVICE bool xiokv_is_copy(const xiokv_copier_order &copy,
                                uint32_t number) {
  return copy.what >> 32 == number &&
         copy.place >> XIOKV_COPY_ADDRESS_BITS == (number & 0xffffu);
}

/// @brief A workgroup at work on its channel.
struct xiokv_copier_member {
  uint64_t end;    ///< Of its lease.
  uint32_t number; ///< Of the copy that it waits for.
  uint32_t looks;  ///< So far.
  bool is_told;    ///< The CPU surely knows of its last copy.
};

/// @brief Wait for a copy, as a single wave.
///
/// Where none is there yet, the number of the last one is sent on its way, for
/// nothing else would do so: a store alone may take its time.
/// @return The copy, in the first lane.
XIOKV_DEVICE xiokv_copier_order
xiokv_await_copy(const xiokv_copier_launch &launch, uint64_t at,
                 xiokv_copier_member &member) {
  const bool is_new = member.number <= launch.groups;
  while (++member.looks % xiokv_copier_looks != 0 ||
         xiokv_first_lane(xiokv_peek(launch.stop) == 0 &&
                          xiokv_clock() < member.end) != 0) {
    const xiokv_copier_order copy = {
        xiokv_peek(at), xiokv_peek_acquire(at + sizeof copy.place)};
    if (xiokv_first_lane(xiokv_is_copy(copy, member.number)) != 0)
      return copy;
    if (!member.is_told)
      xiokv_release_system();
    member.is_told = true;
    xiokv_rest(is_new ? xiokv_copier_long_rest : xiokv_copier_rest);
  }
  return {};
}

/// @brief Carry out a copy with its piece, as one wave of several.
XIOKV_DEVICE void xiokv_carry(const xiokv_copier_order &copy, uint64_t piece) {
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

/// @brief Serve a channel as one of its workgroups.
/// @param shared Through it the first wave tells the others of a copy.
XIOKV_DEVICE void xiokv_serve(const xiokv_copier_launch &launch,
                              uint64_t channel, uint32_t group,
                              xiokv_copier_order &shared) {
  const uint64_t own =
      channel + launch.progress + group * sizeof(xiokv_copier_progress);
  // The first look is at the stop word: the copies may have been given up.
  xiokv_copier_member member = {
      xiokv_clock() + launch.lease,
      static_cast<uint32_t>(xiokv_share(xiokv_peek(own))),
      xiokv_copier_looks - 1, true};
  for (;;) {
    const uint64_t slot = (member.number - 1) & (launch.slots - 1);
    if (xiokv_wave() == 0) {
      const xiokv_copier_order copy =
          xiokv_await_copy(launch, channel + slot * sizeof(xiokv_copy), member);
      if (xiokv_lane() == 0)
        shared = copy;
    }
    xiokv_barrier();
    if (xiokv_first_lane(static_cast<uint32_t>(shared.what)) == 0)
      break;
    xiokv_carry(shared, channel + launch.pieces + slot * XIOKV_COPIER_PIECE);
    xiokv_barrier();
    if (xiokv_lane() == 0)
      xiokv_store32(
          xiokv_at<void>(channel + launch.done + slot * sizeof(uint32_t)),
          member.number);
    member.number += launch.groups;
    member.is_told = false;
  }
  if (xiokv_lane() != 0)
    return;
  xiokv_store32(xiokv_at<void>(own), member.number);
  xiokv_release_system();
  xiokv_store32(xiokv_at<void>(own + sizeof member.number), launch.number);
}

XIOKV_DEVICE void xiokv_run_copier(const xiokv_copier_launch &launch,
                                   uint32_t group) {
  XIOKV_SHARED_VARIABLE(xiokv_copier_order, shared);
  const uint64_t channel =
      launch.channels + group / launch.groups * launch.channel_bytes;
  xiokv_serve(launch, channel, group % launch.groups, shared);
}

XIOKV_DEFINE_ENTRY(xiokv_kernel_copier, xiokv_copier_launch, xiokv_run_copier)
