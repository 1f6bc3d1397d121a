// SPDX-License-Identifier: MIT
#include "launch.h"

#include <cstring>

#include "crew.h"

namespace xiokv::host {

Launch::Launch(xiokv_entry entry, const void *argument, size_t size,
               uint32_t count, std::shared_ptr<Launch> after)
    : entry_(entry),
      argument_((size + sizeof(max_align_t) - 1) / sizeof(max_align_t)),
      count_(count), after_(std::move(after)) {
  if (size != 0)
    memcpy(argument_.data(), argument, size);
}

void Launch::run() {
  await_turn();
  const int64_t begin = now();
  sharing_ = run_on_crew(
      count_, [this](uint32_t number) { entry_(argument_.data(), number); });
  nanoseconds_ = now() - begin;
  end(0);
}

void Launch::skip(int code) {
  await_turn();
  end(code);
}

/// How the other one ended is for those who wait for it.
void Launch::await_turn() {
  if (after_ != nullptr)
    after_->end_.wait_out();
  after_ = nullptr; // else each would hold all before it
}

void Launch::end(int code) {
  code_ = code;
  end_.set();
}

} // namespace xiokv::host
