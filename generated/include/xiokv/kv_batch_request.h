// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief What the batch says about one key, gathered for an encoder.
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_platform.h"
#include "xiokv/kv_prp.h"
#include "xiokv/kv_types.h"

/// @brief Everything that goes into one command.
struct xiokv_request {
  xiokv_key key;
  xiokv_prp prp;
  uint32_t cid;
  uint32_t nsid;
  uint32_t size;           ///< Bytes of the value or of the buffer.
  uint32_t options;        ///< CDW11 bits 15:8.
  xiokv_reserved reserved; ///< Semantic bits, in place.
};

/// @brief What a completion says about its key.
struct xiokv_completed {
  uint32_t value_size;
  xiokv_outcome outcome;
};

/// @brief Bytes of the value, or of its buffer, of key `index`.
XIOKV_DEVICE uint32_t xiokv_value_size(const xiokv_batch &batch,
                                       uint32_t index) {
  return batch.sizes != 0
             ? reinterpret_cast<const uint32_t *>(batch.sizes)[index]
             : batch.value_size;
}

/// @brief Byte of the value buffer where the value of key `index` starts.
XIOKV_DEVICE uint64_t xiokv_value_offset(const xiokv_batch &batch,
                                         uint32_t index) {
  return batch.offsets != 0
             ? reinterpret_cast<const uint64_t *>(batch.offsets)[index]
             : batch.stride * index;
}

/// @brief Bits of one semantic place for key `index`.
XIOKV_DEVICE uint32_t xiokv_semantic_bits(const xiokv_semantic &place,
                                          uint32_t index) {
  uint32_t bits = place.value;
  if (place.per_key != 0)
    bits |= reinterpret_cast<const uint32_t *>(place.per_key)[index];
  return bits & place.mask;
}

/// @brief What the arrays of the batch say about one key.
struct xiokv_inputs {
  xiokv_words key;
  uint64_t offset;
  uint32_t size;
  uint32_t key_length;
  xiokv_reserved reserved;
};

/// @brief Read what the batch says about key `index`, where this lane wants it.
///
/// The key is read last and without a branch, so that a lane goes on to what it
/// does next and waits for the key only where it encodes it.
XIOKV_DEVICE xiokv_inputs xiokv_read_inputs(const xiokv_batch &batch,
                                            uint32_t index, bool wanted) {
  xiokv_inputs inputs = {};
  if (wanted) {
    inputs.offset = xiokv_value_offset(batch, index);
    inputs.size = xiokv_value_size(batch, index);
    inputs.key_length =
        batch.key_lengths != 0
            ? reinterpret_cast<const uint8_t *>(batch.key_lengths)[index]
            : batch.key_length;
    inputs.reserved = {xiokv_semantic_bits(batch.semantic[0], index),
                       xiokv_semantic_bits(batch.semantic[1], index),
                       xiokv_semantic_bits(batch.semantic[2], index)};
  }
  inputs.key = xiokv_read16_if(
      wanted, reinterpret_cast<const xiokv_words *>(batch.keys) + index);
  return inputs;
}

/// @brief Gather the request of a key.
///
/// The runtime has checked every size. One that the queue cannot carry all the
/// same goes out with key length 0 and no buffer, which a controller refuses,
/// or which lists nothing: a PRP list never leaves its slot's pages.
XIOKV_DEVICE xiokv_request xiokv_make_request(const xiokv_queue &queue,
                                              const xiokv_batch &batch,
                                              const xiokv_inputs &inputs,
                                              uint32_t cid, uint32_t slot) {
  xiokv_request request;
  for (uint32_t i = 0; i < 4; ++i)
    request.key.words[i] = inputs.key.word[i];
  request.key.length = inputs.key_length;
  request.size = inputs.size;
  if (request.size > queue.max_transfer)
    request.size = request.key.length = 0;
  request.prp =
      xiokv_build_prp(queue, batch, slot, inputs.offset, request.size);
  request.cid = cid;
  request.nsid = queue.nsid;
  request.options = batch.options;
  request.reserved = inputs.reserved;
  return request;
}
