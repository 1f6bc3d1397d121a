// SPDX-License-Identifier: MIT
/// @file
/// @brief In place of ioctl(2) on a namespace's character device: what the
/// system's driver does, in front of the embedded controller.
///
/// It knows the namespace as 7, keeps the arguments of its calls, and fails or
/// holds them on request. As the system's, it fills a buffer whose address or
/// size is no multiple of 4 from a copy of its own, with zeros to its end.

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "../../../runtime/emulator/emulator.h"

namespace {

constexpr uint32_t nsid = 7;
constexpr uint16_t qid = 1;
constexpr uint32_t depth = 4;
constexpr uint64_t page = 4096;

struct alignas(page) Memory {
  uint32_t sq[page / 4];
  uint32_t cq[page / 4];
  uint64_t list[64][page / 8];
};

xiokv_emu *emu;
Memory memory;
uint32_t tail, head, phase;
std::mutex mutex;
std::condition_variable released;
bool held;
int failing;
std::vector<nvme_passthru_cmd64> calls;
std::atomic<uint32_t> inside{0}, most{0};

uint64_t address(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

uint32_t *doorbell(uint32_t number) {
  return reinterpret_cast<uint32_t *>(
      static_cast<char *>(xiokv_emu_registers(emu)) + 0x1000 +
      4 * (2 * qid + number));
}

/// PRP2 for a buffer that takes more than its first page.
uint64_t second_entry(uint64_t data, uint64_t bytes) {
  const uint64_t first = data / page + 1;
  const uint64_t end = (data + bytes - 1) / page + 1;
  if (end - first <= 1)
    return end == first ? 0 : first * page;
  uint64_t *entry = memory.list[0];
  for (uint64_t number = first; number < end; ++number, ++entry) {
    if ((address(entry) + 8) % page == 0 && number + 1 < end) {
      *entry = address(entry + 1);
      ++entry;
    }
    *entry = number * page;
  }
  return address(memory.list[0]);
}

void make_entry(const nvme_passthru_cmd64 &call, uint32_t sqe[16]) {
  std::memset(sqe, 0, 64);
  sqe[0] = call.opcode | uint32_t{tail} << 16;
  sqe[1] = call.nsid == nsid ? 1 : call.nsid;
  sqe[2] = call.cdw2;
  sqe[3] = call.cdw3;
  if (call.data_len != 0) {
    const uint64_t prp[] = {call.addr, second_entry(call.addr, call.data_len)};
    std::memcpy(sqe + 6, prp, sizeof prp);
  }
  const uint32_t rest[] = {call.cdw10, call.cdw11, call.cdw12,
                           call.cdw13, call.cdw14, call.cdw15};
  std::memcpy(sqe + 10, rest, sizeof rest);
}

int finish(nvme_passthru_cmd64 &call, const uint32_t cqe[4]) {
  call.result = cqe[0];
  return static_cast<int>(cqe[3] >> 17);
}

int admin(nvme_passthru_cmd64 &call) {
  uint32_t sqe[16], cqe[4];
  make_entry(call, sqe);
  xiokv_emu_admin(emu, reinterpret_cast<uint8_t *>(sqe),
                  reinterpret_cast<uint8_t *>(cqe));
  return finish(call, cqe);
}

int io(nvme_passthru_cmd64 &call) {
  make_entry(call, memory.sq + 16 * tail);
  tail = (tail + 1) % depth;
  __atomic_store_n(doorbell(0), tail, __ATOMIC_RELEASE);
  uint32_t *cqe = memory.cq + 4 * head;
  // As it is written: its half of the entry at once.
  const uint64_t *half = reinterpret_cast<const uint64_t *>(cqe) + 1;
  while ((__atomic_load_n(half, __ATOMIC_ACQUIRE) >> 48 & 1) != phase)
    std::this_thread::yield();
  const int status = finish(call, cqe);
  head = (head + 1) % depth;
  phase ^= head == 0 ? 1 : 0;
  __atomic_store_n(doorbell(1), head, __ATOMIC_RELEASE);
  return status;
}

void create_queue() {
  uint32_t sqe[16] = {0x05}, cqe[4];
  const auto run = [&](uint64_t ring, uint32_t cdw11) {
    std::memcpy(sqe + 6, &ring, sizeof ring);
    sqe[10] = (depth - 1) << 16 | qid;
    sqe[11] = cdw11;
    xiokv_emu_admin(emu, reinterpret_cast<uint8_t *>(sqe),
                    reinterpret_cast<uint8_t *>(cqe));
  };
  run(address(memory.cq), 1);
  sqe[0] = 0x01;
  run(address(memory.sq), uint32_t{qid} << 16 | 1);
}

/// By a copy, which begins where a page does.
int io_by_copy(nvme_passthru_cmd64 call, uint64_t &result) {
  std::vector<uint8_t> space(call.data_len + page);
  uint8_t *copy = space.data() + (page - address(space.data()) % page) % page;
  void *buffer = reinterpret_cast<void *>(call.addr);
  const bool sends = (call.opcode & 1) != 0;
  if (sends)
    std::memcpy(copy, buffer, call.data_len);
  call.addr = address(copy);
  const int status = io(call);
  if (!sends)
    std::memcpy(buffer, copy, call.data_len);
  result = call.result;
  return status;
}

int carry_out(nvme_passthru_cmd64 &call) {
  std::unique_lock<std::mutex> lock(mutex);
  calls.push_back(call);
  released.wait(lock, [] { return !held; });
  if (failing != 0)
    return errno = failing, -1;
  if (((call.addr | call.data_len) & 3) == 0)
    return io(call);
  uint64_t result = 0;
  const int status = io_by_copy(call, result);
  call.result = result;
  return status;
}

} // namespace

/// @brief Begin anew, in front of a controller without queues, whose doorbells
/// are 4 bytes apart.
extern "C" void standin_begin(xiokv_emu *controller) {
  emu = controller;
  memory = {};
  tail = head = 0;
  phase = 1;
  held = false;
  failing = 0;
  calls.clear();
  inside = most = 0;
  create_queue();
}

/// @brief Let I/O calls fail with an errno; 0: no more.
extern "C" void standin_fail(int code) {
  const std::lock_guard<std::mutex> lock(mutex);
  failing = code;
}

/// @brief Keep I/O calls waiting, or let them go.
extern "C" void standin_hold(int hold) {
  const std::lock_guard<std::mutex> lock(mutex);
  held = hold != 0;
  released.notify_all();
}

/// @brief The n-th argument of an I/O call; returns how many there are.
extern "C" size_t standin_call(size_t number, void *call) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (number < calls.size())
    std::memcpy(call, &calls[number], sizeof calls[number]);
  return calls.size();
}

/// @brief Most I/O calls that were under way at once.
extern "C" uint32_t standin_most() { return most; }

extern "C" int standin_ioctl(int, unsigned long request, void *argument) {
  if (request == NVME_IOCTL_ID)
    return nsid;
  nvme_passthru_cmd64 &call = *static_cast<nvme_passthru_cmd64 *>(argument);
  if (request == NVME_IOCTL_ADMIN64_CMD) {
    const std::lock_guard<std::mutex> lock(mutex);
    return admin(call);
  }
  if (request != NVME_IOCTL_IO64_CMD || call.nsid != nsid)
    return errno = EINVAL, -1;
  const uint32_t now = ++inside;
  for (uint32_t seen = most;
       seen < now && !most.compare_exchange_weak(seen, now);)
    continue;
  const int status = carry_out(call);
  --inside;
  return status;
}
