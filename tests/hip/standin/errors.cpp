// SPDX-License-Identifier: MIT
/// @file
/// @brief Calls that tell what an error is.
#include "call.h"

#define STANDIN_TEXT_API                                                       \
  extern "C" __attribute__((visibility("default"))) const char *

STANDIN_TEXT_API hipGetErrorName(hipError_t error) {
  return standin::name_of(error);
}

STANDIN_TEXT_API hipGetErrorString(hipError_t error) {
  switch (error) {
#define STANDIN_TEXT(name, value, text)                                        \
  case name:                                                                   \
    return text;
    STANDIN_ERRORS(STANDIN_TEXT)
#undef STANDIN_TEXT
  }
  return "unknown error";
}

STANDIN_API hipGetLastError() { return standin::take_error(); }
