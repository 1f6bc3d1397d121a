// SPDX-License-Identifier: MIT
#include "reach.h"

#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "error.h"

namespace amdgpu {

thread_local sigjmp_buf Guard::place;
thread_local bool Guard::armed = false;
thread_local uint64_t Guard::address = 0;

namespace {

struct sigaction previous[NSIG];

std::string hexadecimal(uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx",
           static_cast<unsigned long long>(number));
  return text;
}

void on_signal(int signal, siginfo_t *info, void *context) {
  if (Guard::armed) {
    Guard::armed = false;
    Guard::address = reinterpret_cast<uint64_t>(info->si_addr);
    siglongjmp(Guard::place, 1);
  }
  const struct sigaction &before = previous[signal];
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
  else
    sigaction(signal, &before, nullptr); // The access comes again, and ends it.
}

void take(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // Not deferred: the jump out of the handler leaves the signal allowed.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  struct sigaction current;
  sigaction(signal, nullptr, &current);
  if (current.sa_sigaction == on_signal)
    return;
  previous[signal] = current;
  sigaction(signal, &action, nullptr);
}

} // namespace

void Guard::install() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  take(SIGSEGV);
  take(SIGBUS);
}

void Guard::fail() {
  throw Fault("bad address " + hexadecimal(Guard::address) + ": not mapped");
}

void Reach::add(const amdgpu_range &range) {
  const auto place =
      std::upper_bound(ranges_.begin(), ranges_.end(), range,
                       [](const amdgpu_range &a, const amdgpu_range &b) {
                         return a.address < b.address;
                       });
  ranges_.insert(place, range);
}

bool Reach::inside(const amdgpu_range &range, uint64_t address,
                   uint64_t bytes) {
  return address - range.address < range.bytes &&
         bytes <= range.bytes - (address - range.address);
}

uint8_t *Reach::at(uint64_t address, uint64_t bytes) {
  if (!ranges_.empty() && !inside(last_, address, bytes))
    find(address, bytes);
  return reinterpret_cast<uint8_t *>(address);
}

void Reach::find(uint64_t address, uint64_t bytes) {
  auto range = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](uint64_t a, const amdgpu_range &b) { return a < b.address; });
  if (range == ranges_.begin() || !inside(*--range, address, bytes))
    throw Fault("bad address " + hexadecimal(address) + ": " +
                std::to_string(bytes) + " bytes that the kernel may not reach");
  last_ = *range;
}

} // namespace amdgpu
