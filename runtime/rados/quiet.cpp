// SPDX-License-Identifier: MIT
#include "quiet.h"

#include <iostream>
#include <mutex>
#include <streambuf>

namespace xiokv::rados {

namespace {

thread_local unsigned quiet_here = 0;

/// Lies before a stream's own buffer while any thread is quiet.
class Sieve : public std::streambuf {
public:
  explicit Sieve(std::ostream &stream) : stream_(stream) {}

  void begin() {
    behind_ = stream_.rdbuf(); // first: others may write at any moment
    stream_.rdbuf(this);
  }
  void end() {
    if (stream_.rdbuf() == this)
      stream_.rdbuf(behind_);
  }

protected:
  int_type overflow(int_type sign) override {
    if (quiet_here || traits_type::eq_int_type(sign, traits_type::eof()))
      return traits_type::not_eof(sign);
    return behind_->sputc(traits_type::to_char_type(sign));
  }
  std::streamsize xsputn(const char *text, std::streamsize size) override {
    return quiet_here ? size : behind_->sputn(text, size);
  }
  int sync() override { return quiet_here ? 0 : behind_->pubsync(); }

private:
  std::ostream &stream_;
  std::streambuf *behind_ = nullptr;
};

struct Sieves {
  std::mutex lock;
  unsigned threads = 0;
  Sieve out{std::cout}, err{std::cerr};
};

/// Never destroyed: another thread may be in it when the process ends.
Sieves &sieves() {
  static Sieves &only = *new Sieves;
  return only;
}

} // namespace

Quiet::Quiet() {
  Sieves &all = sieves();
  const std::lock_guard<std::mutex> hold(all.lock);
  if (all.threads++ == 0) {
    all.out.begin();
    all.err.begin();
  }
  ++quiet_here;
}

Quiet::~Quiet() {
  Sieves &all = sieves();
  const std::lock_guard<std::mutex> hold(all.lock);
  --quiet_here;
  if (--all.threads == 0) {
    all.out.end();
    all.err.end();
  }
}

} // namespace xiokv::rados
