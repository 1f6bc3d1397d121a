// SPDX-License-Identifier: MIT
/// @file
/// @brief Errors inside the library, and how they leave it: as a code, and as a
/// text of the calling thread.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "xiokv.h"

namespace xiokv::host {

/// @brief Thrown where a call cannot be carried out.
struct Fault {
  int code;         ///< Negative.
  std::string text; ///< Seen, allowed, what to do.
};

/// @brief Throw a Fault with a text as printf(3) makes it.
[[noreturn]] void refuse(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// @brief Keep a text for xiokv_last_error of this thread; return `code`.
int keep_error(int code, const char *text);

const char *last_error();

/// @brief Carry out a call, and turn what it throws into a code and a text.
template <class Work> int guarded(Work &&work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Fault &fault) {
    return keep_error(fault.code, fault.text.c_str());
  } catch (const std::bad_alloc &) {
    return keep_error(XIOKV_E_SYSTEM, "the system gives no memory");
  } catch (const std::exception &error) {
    return keep_error(XIOKV_E_SYSTEM, error.what());
  }
}

/// @brief Refuse a null pointer.
inline void need(const void *pointer, const char *name) {
  if (pointer == nullptr)
    refuse(XIOKV_E_ARGUMENT, "%s is NULL; give one", name);
}

} // namespace xiokv::host
