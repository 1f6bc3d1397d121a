// SPDX-License-Identifier: MIT
#include "validate.h"

namespace xiokv::emulator {

namespace {

constexpr uint8_t fuse_and_psdt = 0xc3;

/// What sets a command apart from the others.
struct Shape {
  Opcode opcode;
  uint8_t options;   ///< Options that it knows.
  bool transfers;    ///< DPTR and CDW10 are in use.
  bool key_optional; ///< Key length 0 is allowed.
};

constexpr Shape shapes[] = {
    {Opcode::store, 0x07, true, false},  {Opcode::retrieve, 0x01, true, false},
    {Opcode::list, 0x00, true, true},    {Opcode::erase, 0x00, false, false},
    {Opcode::exist, 0x00, false, false},
};

const Shape *find_shape(uint8_t opcode) {
  for (const Shape &shape : shapes)
    if (shape.opcode == static_cast<Opcode>(opcode))
      return &shape;
  return nullptr;
}

bool is_exec(const Sqe &sqe) {
  return static_cast<Opcode>(sqe.opcode()) == Opcode::exec;
}

bool key_size_allowed(const Sqe &sqe, const Shape &shape,
                      const Config &config) {
  const uint32_t length = sqe.key_length();
  return length <= config.key_limit() && (length != 0 || shape.key_optional);
}

/// MPTR, CDW11 bits 31:16, CDW12 and CDW13; DPTR and CDW10 of a command that
/// moves nothing; option bits that mean nothing; bytes past the key.
bool reserved_is_zero(const Sqe &sqe, const Shape &shape) {
  return sqe.flags() == 0 && all_zero(sqe.bytes + 16, 8) &&
         (shape.transfers || all_zero(sqe.bytes + 24, 20)) &&
         (sqe.options() & ~shape.options) == 0 &&
         all_zero(sqe.bytes + 46, 10) && sqe.key() == sqe.key_image();
}

/// CDW2..CDW5, CDW11, CDW14 and CDW15: the key is in the data.
bool exec_reserved_is_zero(const Sqe &sqe) {
  return sqe.flags() == 0 && all_zero(sqe.bytes + 8, 16) &&
         all_zero(sqe.bytes + 44, 4) && all_zero(sqe.bytes + 56, 8);
}

} // namespace

Status validate(const Sqe &sqe, const Config &config) {
  const bool exec = is_exec(sqe) && config.has(XIOKV_EMU_EXEC);
  const Shape *shape = find_shape(sqe.opcode());
  if (!shape && !exec)
    return Status::invalid_opcode;
  if ((sqe.flags() & fuse_and_psdt) != 0)
    return Status::invalid_field;
  if (sqe.nsid() != namespace_id)
    return Status::invalid_namespace;
  const bool strict = config.has(XIOKV_EMU_STRICT);
  if (exec)
    return strict && !exec_reserved_is_zero(sqe) ? Status::invalid_field
                                                 : Status::success;
  if (!key_size_allowed(sqe, *shape, config))
    return Status::invalid_key_size;
  if (strict && !reserved_is_zero(sqe, *shape))
    return Status::invalid_field;
  return Status::success;
}

} // namespace xiokv::emulator
