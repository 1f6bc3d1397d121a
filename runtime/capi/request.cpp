// SPDX-License-Identifier: MIT
#include "request.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <numeric>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr uint32_t store_options = XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS |
                                   XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS |
                                   XIOKV_STORE_DONT_COMPRESS;
constexpr uint32_t retrieve_options = XIOKV_RETRIEVE_RAW;
// A value begins where the first entry of a PRP may.
constexpr uint64_t value_alignment = 4;

uint32_t options_of(uint32_t opcode) {
  return opcode == XIOKV_OPC_STORE      ? store_options
         : opcode == XIOKV_OPC_RETRIEVE ? retrieve_options
                                        : 0;
}

void check_options(uint32_t opcode, uint32_t options) {
  const uint32_t allowed = options_of(opcode);
  if ((options & ~allowed) != 0)
    refuse(XIOKV_E_OPTIONS, "options %#x: of them %#x are allowed here",
           options, allowed);
  constexpr uint32_t both = XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS |
                            XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS;
  if (opcode == XIOKV_OPC_STORE && (options & both) == both)
    refuse(XIOKV_E_OPTIONS, "options: no key is both there and not there; "
                            "give one of the conditions");
}

void check_semantic(const xiokv_reserved &given, const xiokv_reserved &fields) {
  if ((given.cdw11 & ~fields.cdw11) != 0 ||
      (given.cdw12 & ~fields.cdw12) != 0 || (given.cdw13 & ~fields.cdw13) != 0)
    refuse(XIOKV_E_SEMANTIC,
           "semantic %08x %08x %08x: the fields that the module's profile "
           "declares for this command have the bits %08x %08x %08x",
           given.cdw11, given.cdw12, given.cdw13, fields.cdw11, fields.cdw12,
           fields.cdw13);
}

void pack_keys(const xiokv_key *keys, const Rules &rules, uint32_t least,
               Packed &packed) {
  packed.rows.assign(size_t{packed.count} * XIOKV_KEY_BYTES, 0);
  bool alike = true;
  for (uint32_t i = 0; i < packed.count; ++i) {
    const uint32_t length = keys[i].length;
    if (length < least || length > rules.key_max)
      refuse(XIOKV_E_KEY_LENGTH,
             "key %u has %u bytes; %u to %u are allowed here", i, length, least,
             rules.key_max);
    memcpy(&packed.rows[size_t{i} * XIOKV_KEY_BYTES], keys[i].bytes, length);
    alike = alike && length == keys[0].length;
  }
  if (alike) {
    packed.length = keys[0].length;
    return;
  }
  packed.lengths.resize(packed.count);
  for (uint32_t i = 0; i < packed.count; ++i)
    packed.lengths[i] = static_cast<uint8_t>(keys[i].length);
}

/// What messages call a value, or the slot that one goes to.
const char *name_of(uint32_t opcode) {
  return opcode == XIOKV_OPC_STORE ? "value" : "slot";
}

void check_begin(uint32_t opcode, const char *what, uint64_t number) {
  if (number % value_alignment != 0)
    refuse(XIOKV_E_ARGUMENT,
           "%s %" PRIu64 ": a %s begins at a multiple of %" PRIu64 " bytes",
           what, number, name_of(opcode), value_alignment);
}

uint64_t stride_of(const xiokv_request &request) {
  if (request.stride != 0)
    return request.stride;
  if (request.buffer_size % request.count != 0)
    refuse(XIOKV_E_ARGUMENT,
           "buffer_size %zu: %zu keys do not share it evenly; give a stride, "
           "or offsets and sizes",
           request.buffer_size, request.count);
  return request.buffer_size / request.count;
}

void check_value(uint32_t opcode, uint32_t index, uint64_t begin, uint64_t size,
                 uint64_t slot, uint64_t most, size_t buffer_size) {
  const bool stores = opcode == XIOKV_OPC_STORE;
  const char *const holds = stores ? "its slot holds" : "it holds";
  if (size > most || size > slot)
    refuse(XIOKV_E_VALUE_SIZE,
           "%s %u %s %" PRIu64 " bytes; 0 to %" PRIu64 " are what %s",
           name_of(opcode), index, stores ? "has" : "is to take", size,
           std::min(slot, most),
           slot < most ? holds : "one command may carry here");
  if (begin > buffer_size || size > buffer_size - begin)
    refuse(XIOKV_E_ARGUMENT,
           "%s %u of %" PRIu64 " bytes at %" PRIu64
           " leaves the buffer of %zu bytes",
           name_of(opcode), index, size, begin, buffer_size);
}

/// Refuse slots that overlap: which value one ends up with would be chance.
void check_apart(const Packed &packed) {
  std::vector<uint32_t> order(packed.count);
  std::iota(order.begin(), order.end(), 0);
  const auto size_at = [&](uint32_t i) {
    return packed.sizes.empty() ? packed.size : packed.sizes[i];
  };
  order.erase(std::remove_if(order.begin(), order.end(),
                             [&](uint32_t i) { return size_at(i) == 0; }),
              order.end());
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return packed.offsets[a] < packed.offsets[b];
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (packed.offsets[order[i]] <
        packed.offsets[order[i - 1]] + size_at(order[i - 1]))
      refuse(XIOKV_E_ARGUMENT,
             "slots of keys %u and %u overlap in the buffer; keep them apart",
             std::min(order[i], order[i - 1]),
             std::max(order[i], order[i - 1]));
}

void pack_values(uint32_t opcode, const xiokv_request &request,
                 const Rules &rules, Packed &packed) {
  const uint64_t most = opcode == XIOKV_OPC_STORE
                            ? std::min(rules.transfer_max, rules.value_max)
                            : rules.transfer_max;
  const bool placed = request.offsets != nullptr;
  if (request.sizes == nullptr && request.buffer_size == 0)
    refuse(XIOKV_E_ARGUMENT,
           "buffer_size is 0; give that of the buffer, or sizes where all "
           "%ss have 0 bytes",
           name_of(opcode));
  if (placed && request.stride != 0)
    refuse(XIOKV_E_ARGUMENT, "offsets and stride: give one of both");
  if (placed && request.sizes == nullptr && request.size == 0)
    refuse(XIOKV_E_ARGUMENT, "offsets need sizes, or a size for all");
  const uint64_t stride = placed ? 0 : stride_of(request);
  const uint64_t one = request.size != 0 ? request.size : stride;
  for (uint32_t i = 0; i < packed.count; ++i) {
    const uint64_t begin = placed ? request.offsets[i] : i * stride;
    const uint64_t size = request.sizes != nullptr ? request.sizes[i] : one;
    check_begin(opcode, "offset", begin);
    check_value(opcode, i, begin, size, placed ? most : stride, most,
                request.buffer_size);
  }
  if (request.buffer_size != 0)
    need(request.buffer, "buffer");
  packed.buffer = reinterpret_cast<uintptr_t>(request.buffer);
  check_begin(opcode, "address", packed.buffer);
  packed.stride = stride;
  if (request.sizes != nullptr)
    packed.sizes.assign(request.sizes, request.sizes + packed.count);
  else
    packed.size = static_cast<uint32_t>(one);
  if (!placed)
    return;
  packed.offsets.assign(request.offsets, request.offsets + packed.count);
  if (opcode == XIOKV_OPC_RETRIEVE)
    check_apart(packed);
}

bool carries_values(uint32_t opcode) {
  return opcode == XIOKV_OPC_STORE || opcode == XIOKV_OPC_RETRIEVE;
}

} // namespace

Packed pack_request(uint32_t opcode, const xiokv_request &request,
                    const Rules &rules) {
  if (!carries_values(opcode) && opcode != XIOKV_OPC_EXIST &&
      opcode != XIOKV_OPC_DELETE)
    refuse(XIOKV_E_OPCODE,
           "opcode %#x: Store, Retrieve, Exist and Delete are "
           "requests",
           opcode);
  if (request.count > UINT32_MAX)
    refuse(XIOKV_E_ARGUMENT, "count %zu: up to %u keys are allowed",
           request.count, UINT32_MAX);
  check_options(opcode, request.options);
  check_semantic(request.semantic, rules.fields);
  Packed packed;
  packed.count = static_cast<uint32_t>(request.count);
  packed.options = request.options;
  packed.semantic = request.semantic;
  if (packed.count == 0)
    return packed;
  need(request.keys, "keys");
  pack_keys(request.keys, rules, 1, packed);
  if (carries_values(opcode))
    pack_values(opcode, request, rules, packed);
  return packed;
}

Packed pack_list(const xiokv_key &start, uint64_t page, uint32_t page_size,
                 const Rules &rules) {
  Packed packed;
  packed.count = 1;
  pack_keys(&start, rules, 0, packed);
  packed.buffer = page;
  packed.size = page_size;
  packed.stride = page_size;
  return packed;
}

} // namespace xiokv::host
