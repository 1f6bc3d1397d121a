// SPDX-License-Identifier: MIT
#include "commands.h"

#include <algorithm>
#include <utility>

#include "exec.h"
#include "list_page.h"
#include "validate.h"

namespace xiokv::emulator {

namespace {

constexpr uint8_t store_must_exist = 1 << 0;
constexpr uint8_t store_must_not_exist = 1 << 1;
constexpr uint8_t store_must_not_compress = 1 << 2;

/// The value where it lies, if it lies in one piece that was lent.
Blob lent_value(const Command &command, const Namespace &space, uint32_t size) {
  if (command.segments.size() != 1)
    return {};
  const uint8_t *bytes = space.dma.memory(command.segments.front().iova);
  return bytes ? space.store.borrow(bytes, size) : Blob();
}

Status take_value(Command &command, const Namespace &space, uint32_t size) {
  command.request.value = lent_value(command, space, size);
  if (command.request.value.bytes)
    return Status::success;
  Room room = space.store.allocate(size);
  if (!room.bytes)
    return Status::capacity_exceeded;
  command.request.value = std::move(room.blob);
  return gather(space.dma, command.segments, room.bytes, size);
}

Status begin_store(Command &command, const Namespace &space) {
  const uint32_t size = command.sqe.size();
  if (size > space.config.value_max)
    return Status::invalid_value_size;
  const Status status = map_buffer(command, space, size);
  if (status != Status::success)
    return status;
  command.bytes_in += size;
  command.request.operation = Operation::store;
  const uint8_t options = command.sqe.options();
  command.request.condition = {(options & store_must_exist) != 0,
                               (options & store_must_not_exist) != 0};
  command.request.may_compress = (options & store_must_not_compress) == 0;
  return take_value(command, space, size);
}

Status begin_retrieve(Command &command, const Namespace &space) {
  command.request.operation = Operation::retrieve;
  command.request.wanted = command.sqe.size();
  return map_buffer(command, space, command.sqe.size());
}

/// The page grows as the store hands out keys. Those that no command could name
/// are of a controller with other limits.
Status begin_list(Command &command, const Namespace &space) {
  command.page = empty_list_page();
  command.request.operation = Operation::list;
  command.request.wanted = command.sqe.size();
  const uint32_t longest = space.config.key_limit();
  command.request.longest = longest;
  command.request.sink = [&page = command.page, room = command.sqe.size(),
                          longest](const Key &key) {
    return key.length > longest || add_to_list_page(page, room, key);
  };
  return map_buffer(command, space, command.sqe.size());
}

Status begin_delete(Command &command) {
  command.request.operation = Operation::erase;
  return Status::success;
}

Status begin_exist(Command &command) {
  command.request.operation = Operation::exist;
  return Status::success;
}

Outcome finish_store(const Command &command, const Namespace &space) {
  const bool tell = space.config.has(XIOKV_EMU_STORE_RETURNS_SIZE);
  return {Status::success, tell ? command.sqe.size() : 0};
}

Outcome finish_retrieve(Command &command, const Reply &reply,
                        const Namespace &space) {
  // Others may have put it there.
  if (reply.size > space.config.value_max)
    return {Status::invalid_value_size, 0};
  const uint32_t bytes = std::min(command.sqe.size(), reply.size);
  const Status status = return_data(command, space, reply.value.bytes, bytes);
  return {status, status == Status::success ? reply.size : 0};
}

Outcome finish_list(Command &command, const Namespace &space) {
  const uint64_t bytes =
      std::min<uint64_t>(command.sqe.size(), command.page.size());
  return {return_data(command, space, command.page.data(), bytes), 0};
}

Status to_status(Answer answer) {
  switch (answer) {
  case Answer::done:
    return Status::success;
  case Answer::missing:
    return Status::key_missing;
  case Answer::exists:
    return Status::key_exists;
  case Answer::full:
    return Status::capacity_exceeded;
  case Answer::too_large:
    return Status::invalid_value_size;
  case Answer::read_only:
    return Status::write_protected;
  case Answer::denied:
    return Status::operation_denied;
  case Answer::gone:
    return Status::invalid_namespace;
  case Answer::unreachable:
    return Status::namespace_not_ready;
  case Answer::cut_off:
    return Status::controller_pathing_error;
  case Answer::failed:
    break;
  }
  return Status::unrecovered_error;
}

} // namespace

Status map_buffer(Command &command, const Namespace &space, uint64_t bytes) {
  if (bytes > space.config.transfer_max())
    return Status::invalid_field;
  return walk_prp(space.dma, command.sqe.prp1(), command.sqe.prp2(), bytes,
                  command.segments);
}

Status return_data(Command &command, const Namespace &space,
                   const uint8_t *data, uint64_t bytes) {
  command.bytes_out += bytes;
  return scatter(space.dma, command.segments, data, bytes);
}

Status begin(Command &command, const Namespace &space) {
  const Status status = validate(command.sqe, space.config);
  if (status != Status::success)
    return status;
  command.request.key = command.sqe.key();
  switch (static_cast<Opcode>(command.sqe.opcode())) {
  case Opcode::store:
    return begin_store(command, space);
  case Opcode::retrieve:
    return begin_retrieve(command, space);
  case Opcode::list:
    return begin_list(command, space);
  case Opcode::erase:
    return begin_delete(command);
  case Opcode::exist:
    return begin_exist(command);
  case Opcode::exec:
    return begin_exec(command, space);
  }
  return Status::invalid_opcode;
}

Outcome finish(Command &command, const Reply &reply, const Namespace &space) {
  const Opcode opcode = static_cast<Opcode>(command.sqe.opcode());
  const bool forgiven = opcode == Opcode::erase &&
                        reply.answer == Answer::missing &&
                        !space.delete_missing_fails;
  if (reply.answer != Answer::done && !forgiven)
    return {to_status(reply.answer), 0};
  if (opcode == Opcode::store)
    return finish_store(command, space);
  if (opcode == Opcode::retrieve)
    return finish_retrieve(command, reply, space);
  if (opcode == Opcode::list)
    return finish_list(command, space);
  if (opcode == Opcode::exec)
    return finish_exec(command, reply, space);
  return {};
}

} // namespace xiokv::emulator
