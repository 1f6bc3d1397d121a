// SPDX-License-Identifier: MIT
#include "identify.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr uint32_t page_bytes = XIOKV_PAGE_BYTES;
constexpr uint8_t identify_opcode = 0x06;
constexpr uint8_t key_value = 1; // CSI
constexpr uint8_t csi_descriptor = 4;
constexpr uint32_t key_bytes_max = 16;

/// Little-endian number in Identify data.
uint64_t number_at(const uint8_t *data, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i)
    number |= uint64_t{data[i]} << 8 * i;
  return number;
}

struct alignas(page_bytes) Page {
  uint8_t bytes[page_bytes];
};

Page identified(const Execute &execute, const char *name, uint32_t cns,
                uint32_t nsid) {
  Page page = {};
  AdminCommand command{name, identify_opcode};
  command.nsid = nsid;
  command.prp1 = reinterpret_cast<uintptr_t>(page.bytes);
  command.data_size = page_bytes;
  command.cdw10 = cns;
  command.cdw11 = cns == 0x05 ? uint32_t{key_value} << 24 : 0;
  carry_out_admin(execute, command);
  return page;
}

/// Look for the descriptor that names the command set.
bool is_key_value(const Page &descriptors) {
  const uint8_t *const data = descriptors.bytes;
  for (size_t at = 0; at + 4 < page_bytes && data[at + 1] != 0;
       at += 4u + data[at + 1])
    if (data[at] == csi_descriptor)
      return data[at + 4] == key_value;
  return false;
}

const char *admin_status_name(uint32_t status) {
  switch (status) {
  case 0x001:
    return "invalid opcode";
  case 0x002:
    return "invalid field in command";
  case 0x004:
    return "data transfer error";
  case 0x00b:
    return "invalid namespace";
  case 0x013:
    return "PRP offset invalid";
  case 0x100:
    return "completion queue invalid";
  case 0x101:
    return "invalid queue identifier";
  case 0x102:
    return "invalid queue size";
  case 0x10c:
    return "invalid queue deletion";
  default:
    return "a status without a name here";
  }
}

} // namespace

uint32_t admin_status(const Execute &execute, const AdminCommand &command,
                      uint32_t &dw0) {
  uint32_t sqe[16] = {};
  sqe[0] = command.opcode;
  sqe[1] = command.nsid;
  memcpy(sqe + 6, &command.prp1, sizeof command.prp1);
  sqe[10] = command.cdw10;
  sqe[11] = command.cdw11;
  uint8_t bytes[64], cqe[16] = {};
  memcpy(bytes, sqe, sizeof bytes);
  execute(bytes, command.data_size, cqe);
  dw0 = static_cast<uint32_t>(number_at(cqe, 4));
  return static_cast<uint32_t>(number_at(cqe + 14, 2)) >> 1 & 0x7ff;
}

uint32_t carry_out_admin(const Execute &execute, const AdminCommand &command) {
  uint32_t dw0 = 0;
  const uint32_t status = admin_status(execute, command, dw0);
  if (status != 0)
    refuse(XIOKV_E_CONTROLLER, "%s: SCT %u, SC %02xh (%s)", command.name,
           status >> 8, status & 0xff, admin_status_name(status));
  return dw0;
}

xiokv_controller_limits identify(const Execute &execute, uint32_t nsid,
                                 uint64_t cap, uint32_t cc) {
  if (!is_key_value(
          identified(execute, "Identify descriptors (CNS 03h)", 0x03, nsid)))
    refuse(XIOKV_E_DEVICE, "namespace %u is not key-value", nsid);
  const Page controller =
      identified(execute, "Identify controller (CNS 01h)", 0x01, 0);
  const Page kv =
      identified(execute, "Identify namespace (CNS 05h)", 0x05, nsid);
  const uint8_t *const format = kv.bytes + 72 + 16 * (kv.bytes[29] & 0xf);
  const uint32_t mdts = controller.bytes[77];
  const uint64_t unit = uint64_t{page_bytes} << (cap >> 48 & 0xf);
  xiokv_controller_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.key_max =
      std::min(key_bytes_max, static_cast<uint32_t>(number_at(format, 2)));
  limits.value_max = number_at(format + 4, 4);
  limits.transfer_max = mdts == 0 || mdts >= 32 ? 0 : unit << mdts;
  limits.entries_max = static_cast<uint32_t>(cap & 0xffff) + 1;
  limits.page_bytes = page_bytes << (cc >> 7 & 0xf);
  return limits;
}

} // namespace xiokv::host
