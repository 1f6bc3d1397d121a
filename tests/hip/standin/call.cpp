// SPDX-License-Identifier: MIT
#include "call.h"

#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "config.h"

namespace standin {
namespace {

thread_local hipError_t last_error = hipSuccess;

} // namespace

const char *name_of(hipError_t error) {
  switch (error) {
#define STANDIN_NAME(name, value, text)                                        \
  case name:                                                                   \
    return #name;
    STANDIN_ERRORS(STANDIN_NAME)
#undef STANDIN_NAME
  }
  return "hipErrorUnknown";
}

void require_device() { require(config().devices > 0, hipErrorNoDevice); }

void log(const std::string &line) {
  static const int file =
      config().log.empty()
          ? -1
          : open(config().log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0)
    return;
  // One write a line, so that the lines of threads stay whole.
  [[maybe_unused]] const ssize_t written =
      write(file, line.data(), line.size());
}

void keep_error(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady)
    last_error = error;
}

hipError_t take_error() { return std::exchange(last_error, hipSuccess); }

} // namespace standin
