// SPDX-License-Identifier: MIT
/// @file
/// @brief Threads that signals pass by.
#pragma once

#include <signal.h>

namespace xiokv::emulator {

/// @brief While it lives, the calling thread takes no signals, nor do threads
/// that it starts: they are for those of the program, which may have to notice
/// them.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace xiokv::emulator
