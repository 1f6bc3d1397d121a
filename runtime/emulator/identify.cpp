// SPDX-License-Identifier: MIT
#include "identify.h"

#include <algorithm>
#include <cstring>

#include "bytes.h"
#include "registers.h"

namespace xiokv::emulator {

namespace {

constexpr uint8_t key_value_csi = 1;

/// Version 1.3 of the key-value command set's controller structure.
constexpr uint32_t key_value_version = 0x00010300;

constexpr uint8_t namespace_guid[16] = {'x', 'i', 'o', 'k', 'v', '-', 'e', 'm',
                                        'u', 'l', 'a', 't', 'o', 'r', 0,   1};

/// Bytes of text, padded with spaces.
void put_text(uint8_t *to, size_t size, const char *text) {
  std::memset(to, ' ', size);
  std::memcpy(to, text, std::min(size, std::strlen(text)));
}

Status identify_controller(const Config &config, IdentifyData &data) {
  uint8_t *at = data.data();
  put_text(at + 4, 20, "1");
  put_text(at + 24, 40, "xiokv embedded controller");
  put_text(at + 64, 8, "1");
  at[77] = static_cast<uint8_t>(config.mdts);
  store<uint32_t>(at + 80, nvme_version);
  at[111] = 1;    // I/O controller
  at[512] = 0x66; // SQE of 64 bytes
  at[513] = 0x44; // CQE of 16 bytes
  store<uint32_t>(at + 516, namespace_id);
  std::memcpy(at + 768, "nqn.2014-08.org.nvmexpress:xiokv-emulator", 41);
  return Status::success;
}

Status identify_active_namespaces(uint32_t nsid, IdentifyData &data) {
  if (nsid >= 0xfffffffe)
    return Status::invalid_namespace;
  if (nsid < namespace_id)
    store<uint32_t>(data.data(), namespace_id);
  return Status::success;
}

/// One descriptor: type, length, 2 reserved bytes, the identifier.
uint8_t *put_descriptor(uint8_t *at, uint8_t type, const uint8_t *identifier,
                        uint8_t size) {
  at[0] = type;
  at[1] = size;
  std::memcpy(at + 4, identifier, size);
  return at + 4 + size;
}

Status identify_descriptors(IdentifyData &data) {
  uint8_t *at = put_descriptor(data.data(), 2, namespace_guid, 16);
  put_descriptor(at, 4, &key_value_csi, 1);
  return Status::success;
}

void put_format(uint8_t *at, uint32_t key_max, uint32_t value_max,
                uint32_t max_keys) {
  store<uint16_t>(at, static_cast<uint16_t>(key_max));
  store<uint32_t>(at + 4, value_max);
  store<uint32_t>(at + 8, max_keys);
}

/// Formats below the active one have limits that are not in force.
Status identify_namespace(const Config &config, const Usage &usage,
                          IdentifyData &data) {
  uint8_t *at = data.data();
  const uint32_t active = config.active_format;
  store<uint64_t>(at, config.capacity);
  store<uint64_t>(at + 16, usage.bytes);
  at[25] = static_cast<uint8_t>(active); // 0's based
  at[29] = static_cast<uint8_t>(active);
  std::memcpy(at + 48, namespace_guid, sizeof namespace_guid);
  for (uint32_t i = 0; i < active; ++i)
    put_format(at + 72 + 16 * i, config.key_max == 8 ? 4 : 8, page_bytes, 1);
  put_format(at + 72 + 16 * active, config.key_max, config.value_max,
             config.max_keys);
  return Status::success;
}

Status identify_key_value_controller(IdentifyData &data) {
  store<uint32_t>(data.data(), key_value_version);
  return Status::success;
}

/// One combination of command sets: key-value alone.
Status identify_command_sets(IdentifyData &data) {
  store<uint64_t>(data.data(), UINT64_C(1) << key_value_csi);
  return Status::success;
}

} // namespace

Status identify(uint8_t cns, uint8_t csi, uint32_t nsid, const Config &config,
                const Usage &usage, IdentifyData &data) {
  data.fill(0);
  const bool of_namespace = cns == 0x03 || cns == 0x05;
  const bool of_command_set = cns == 0x05 || cns == 0x06;
  if (of_namespace && nsid != namespace_id)
    return Status::invalid_namespace;
  if (of_command_set && csi != key_value_csi)
    return Status::invalid_field;
  switch (cns) {
  case 0x01:
    return identify_controller(config, data);
  case 0x02:
    return identify_active_namespaces(nsid, data);
  case 0x03:
    return identify_descriptors(data);
  case 0x05:
    return identify_namespace(config, usage, data);
  case 0x06:
    return identify_key_value_controller(data);
  case 0x1c:
    return identify_command_sets(data);
  default:
    return Status::invalid_field;
  }
}

} // namespace xiokv::emulator
