// SPDX-License-Identifier: MIT
/// @file
/// @brief The frame around every call: whether there is a device at all, errors
/// as return values, and a line in the log.
#pragma once

#include <sstream>

#include "hip_abi.h"

namespace standin {

/// @brief What a call ends with, thrown where it is found out.
struct Fault {
  hipError_t error;
};

/// @brief End the call with an error unless a condition holds.
inline void require(bool condition, hipError_t error) {
  if (!condition)
    throw Fault{error};
}

/// @brief Return an error's name.
const char *name_of(hipError_t error);

/// @brief Fail unless there is a device.
void require_device();

/// @brief Add a line to the log, if there is one.
void log(const std::string &line);

/// @brief Keep a call's error as its thread's last one, if it is an error.
void keep_error(hipError_t error);

/// @brief Return the thread's last error, and forget it.
hipError_t take_error();

/// @brief Carry out a call of the API.
/// @param name The function's name, for the log.
/// @param body What it does; it throws a Fault, or returns.
/// @param arguments For the log.
template <class Body, class... Arguments>
hipError_t call(const char *name, Body body, const Arguments &...arguments) {
  hipError_t error = hipSuccess;
  try {
    require_device();
    body();
  } catch (const Fault &fault) {
    error = fault.error;
  } catch (const std::bad_alloc &) {
    error = hipErrorOutOfMemory;
  }
  keep_error(error);
  std::ostringstream line;
  line << name;
  ((line << ' ' << arguments), ...);
  line << " = " << name_of(error) << '\n';
  log(line.str());
  return error;
}

} // namespace standin
