// SPDX-License-Identifier: MIT
#include "fault.h"

#include <cstdarg>
#include <cstdio>

namespace xiokv::host {

namespace {

constexpr size_t error_bytes = 2048;

thread_local char error_text[error_bytes] = "";

} // namespace

void refuse(int code, const char *format, ...) {
  char text[error_bytes];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw Fault{code, text};
}

int keep_error(int code, const char *text) {
  snprintf(error_text, sizeof error_text, "%s", text);
  return code;
}

const char *last_error() { return error_text; }

} // namespace xiokv::host
