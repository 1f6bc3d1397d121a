// SPDX-License-Identifier: MIT
#include "exec.h"

#include <algorithm>
#include <new>

#include "exec_operations.h"

namespace xiokv::emulator {

namespace {

/// Bytes of the key length, with which the data begin.
constexpr uint64_t prefix_bytes = 2;

/// CDW12.
uint32_t output_room(const Sqe &sqe) { return sqe.dword(12); }

/// Finds out how much the host sends. CDW10 is all of it, or with
/// XIOKV_EMU_EXEC_INPUT_LENGTH the input alone, beside what the data say
/// themselves.
Status payload_bytes(const Sqe &sqe, const Namespace &space, uint64_t &bytes) {
  bytes = sqe.size();
  if (!space.config.has(XIOKV_EMU_EXEC_INPUT_LENGTH))
    return Status::success;
  if (sqe.prp1() % 4 != 0)
    return Status::prp_offset_invalid;
  uint8_t prefix[prefix_bytes];
  if (!space.dma.read(sqe.prp1(), prefix, sizeof prefix))
    return Status::data_transfer_error;
  bytes += prefix_bytes + load<uint16_t>(prefix);
  return Status::success;
}

/// Reads the host's data; the buffer is mapped for the output, too.
Status read_payload(Command &command, const Namespace &space) {
  uint64_t bytes = 0;
  Status status = payload_bytes(command.sqe, space, bytes);
  if (status != Status::success)
    return status;
  if (bytes < prefix_bytes)
    return Status::invalid_field;
  status = map_buffer(command, space,
                      std::max<uint64_t>(bytes, output_room(command.sqe)));
  if (status != Status::success)
    return status;
  command.payload.reset(new (std::nothrow) uint8_t[bytes]);
  if (!command.payload)
    return Status::capacity_exceeded;
  command.payload_bytes = bytes;
  return gather(space.dma, command.segments, command.payload.get(), bytes);
}

/// Takes the key out of the data. One that is longer than any value's in this
/// namespace, and shorter than its limit, is simply not there.
Status read_key(const Command &command, const Config &config, Key &key) {
  const uint32_t length = load<uint16_t>(command.payload.get());
  if (command.payload_bytes - prefix_bytes < length)
    return Status::invalid_field;
  if (length == 0 || length > config.key_max)
    return Status::invalid_key_size;
  if (length > key_bytes)
    return Status::key_missing;
  key = {};
  std::memcpy(key.bytes.data(), command.payload.get() + prefix_bytes, length);
  key.length = static_cast<uint8_t>(length);
  return Status::success;
}

/// The data after the key.
Bytes exec_input(const Command &command) {
  const uint64_t before = prefix_bytes + load<uint16_t>(command.payload.get());
  return {command.payload.get() + before,
          static_cast<uint32_t>(command.payload_bytes - before)};
}

} // namespace

Status begin_exec(Command &command, const Namespace &space) {
  Status status = read_payload(command, space);
  if (status == Status::success)
    status = read_key(command, space.config, command.request.key);
  if (status != Status::success)
    return status;
  command.bytes_in += command.payload_bytes;
  const ExecOperation *operation = find_operation(command.sqe.dword(13));
  if (!operation || exec_input(command).size != operation->input_bytes)
    return Status::invalid_field;
  command.request.operation = Operation::retrieve;
  command.request.wanted = UINT32_MAX;
  return Status::success;
}

Outcome finish_exec(Command &command, const Reply &reply,
                    const Namespace &space) {
  const ExecOperation *operation = find_operation(command.sqe.dword(13));
  const ExecOutput output =
      operation->run({reply.value.bytes, reply.size}, exec_input(command));
  const Bytes bytes = output.bytes();
  const uint32_t returned = std::min(bytes.size, output_room(command.sqe));
  const Status status = return_data(command, space, bytes.first, returned);
  return {status, status == Status::success ? bytes.size : 0};
}

Key key_of(const Sqe &sqe, const Namespace &space) {
  if (static_cast<Opcode>(sqe.opcode()) != Opcode::exec)
    return sqe.key();
  Command command;
  command.sqe = sqe;
  Key key;
  if (space.config.has(XIOKV_EMU_EXEC) &&
      read_payload(command, space) == Status::success)
    read_key(command, space.config, key);
  return key;
}

} // namespace xiokv::emulator
