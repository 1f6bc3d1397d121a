// SPDX-License-Identifier: MIT
/// @file
/// @brief The embedded controller, as a controller of xiokv.h.

#include <cstdio>
#include <cstring>

#include "controllers.h"
#include "identify.h"
#include "xiokv_emulator.h"

namespace xiokv::host {

namespace {

constexpr uint8_t opcode_delete_sq = 0x00, opcode_create_sq = 0x01;
constexpr uint8_t opcode_delete_cq = 0x04, opcode_create_cq = 0x05;
constexpr uint8_t opcode_get_features = 0x0a;
constexpr uint32_t number_of_queues = 0x07;
constexpr uint32_t contiguous = 1;
constexpr uint32_t invalid_queue_identifier = 0x101;
constexpr size_t cap_at = 0x00, cc_at = 0x14, doorbells_at = 0x1000;

xiokv_emu *emulator_at(void *context) {
  return static_cast<xiokv_emu *>(context);
}

template <class Number> Number register_at(void *context, size_t offset) {
  Number value;
  memcpy(
      &value,
      static_cast<const uint8_t *>(xiokv_emu_registers(emulator_at(context))) +
          offset,
      sizeof value);
  return value;
}

Execute executor(void *context) {
  return [context](const uint8_t *sqe, uint32_t, uint8_t *cqe) {
    if (xiokv_emu_admin(emulator_at(context), sqe, cqe) != 0)
      refuse(XIOKV_E_CONTROLLER,
             "the controller is disabled: set CC.EN, or reset it");
  };
}

uint32_t queues_granted(const Execute &execute) {
  AdminCommand command{"Get Features 07h", opcode_get_features};
  command.cdw10 = number_of_queues;
  const uint32_t granted = carry_out_admin(execute, command);
  return std::min(granted & 0xffff, granted >> 16) + 1;
}

AdminCommand about_queue(const char *name, uint8_t opcode, uint32_t qid,
                         uint32_t depth = 1, uint64_t ring = 0,
                         uint32_t cdw11 = 0) {
  AdminCommand command{name, opcode};
  command.prp1 = ring;
  command.cdw10 = (depth - 1) << 16 | qid;
  command.cdw11 = cdw11;
  return command;
}

/// Create a completion queue on the lowest number that is free.
uint32_t create_cq(const Execute &execute, const xiokv_rings &rings) {
  const uint32_t most = queues_granted(execute);
  for (uint32_t qid = 1; qid <= most; ++qid) {
    const AdminCommand command =
        about_queue("Create I/O Completion Queue", opcode_create_cq, qid,
                    rings.cq_depth, rings.cq, contiguous);
    uint32_t dw0;
    const uint32_t status = admin_status(execute, command, dw0);
    if (status == 0)
      return qid;
    if (status != invalid_queue_identifier)
      carry_out_admin(execute, command); // says what it is
  }
  refuse(XIOKV_E_CONTROLLER, "all %u queue pairs are taken", most);
}

void create_sq(const Execute &execute, const xiokv_rings &rings, uint32_t qid) {
  try {
    carry_out_admin(execute, about_queue("Create I/O Submission Queue",
                                         opcode_create_sq, qid, rings.sq_depth,
                                         rings.sq, qid << 16 | contiguous));
  } catch (const Fault &) {
    carry_out_admin(execute, about_queue("Delete I/O Completion Queue",
                                         opcode_delete_cq, qid));
    throw;
  }
}

int embedded_limits(void *context, uint32_t nsid,
                    xiokv_controller_limits *limits, char *why,
                    size_t why_size) {
  return answered(why, why_size, [&] {
    const Execute execute = executor(context);
    *limits = identify(execute, nsid, register_at<uint64_t>(context, cap_at),
                       register_at<uint32_t>(context, cc_at));
    limits->queues_max = queues_granted(execute);
  });
}

int embedded_create_queue(void *context, const xiokv_rings *rings,
                          xiokv_created *created, char *why, size_t why_size) {
  return answered(why, why_size, [&] {
    const Execute execute = executor(context);
    const uint32_t qid = create_cq(execute, *rings);
    create_sq(execute, *rings, qid);
    const size_t stride =
        size_t{4} << (register_at<uint64_t>(context, cap_at) >> 32 & 0xf);
    uint8_t *const doorbell =
        static_cast<uint8_t *>(xiokv_emu_registers(emulator_at(context))) +
        doorbells_at + 2 * qid * stride;
    *created = {reinterpret_cast<uint32_t *>(doorbell),
                reinterpret_cast<uint32_t *>(doorbell + stride), qid, 0};
  });
}

int embedded_delete_queue(void *context, uint32_t qid, char *why,
                          size_t why_size) {
  return answered(why, why_size, [&] {
    const Execute execute = executor(context);
    carry_out_admin(execute, about_queue("Delete I/O Submission Queue",
                                         opcode_delete_sq, qid));
    carry_out_admin(execute, about_queue("Delete I/O Completion Queue",
                                         opcode_delete_cq, qid));
  });
}

} // namespace

} // namespace xiokv::host

int xiokv_emu_controller(xiokv_emu *emu, struct xiokv_controller *controller) {
  using namespace xiokv::host;
  return guarded([&] {
    need(emu, "emu");
    need(controller, "controller");
    *controller = {sizeof(xiokv_controller),
                   0,
                   emu,
                   embedded_limits,
                   embedded_create_queue,
                   embedded_delete_queue};
    return XIOKV_E_OK;
  });
}
