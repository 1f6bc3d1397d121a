// SPDX-License-Identifier: MIT
/// @file
/// @brief Where values are kept: the interface between the controller and a
/// store, made so that a store may be far away.
///
/// A queue opens a session, submits requests to it and polls it for replies; no
/// call blocks, and no thread is needed per request. A store in memory replies
/// at once.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>

#include "bytes.h"
#include "config.h"

namespace xiokv::emulator {

/// @brief A key: its bytes, zeros after them, and its length.
struct Key {
  std::array<uint8_t, key_bytes> bytes = {};
  uint8_t length = 0;

  bool operator==(const Key &other) const {
    return length == other.length && bytes == other.bytes;
  }

  /// @brief By bytes, a prefix first.
  bool operator<(const Key &other) const {
    for (const uint32_t at : {0u, 8u})
      if (word(at) != other.word(at))
        return word(at) < other.word(at);
    return length < other.length;
  }

private:
  /// Eight bytes from `at` on, as a number that sorts as they do.
  uint64_t word(uint32_t at) const {
    return __builtin_bswap64(load<uint64_t>(bytes.data() + at));
  }
};

/// @brief A value, or its first bytes. Its bytes never change, so that whoever
/// holds a blob may read it while the key gets another value.
struct Blob {
  const uint8_t *bytes = nullptr;
  uint32_t size = 0;
  std::shared_ptr<const void> owner; ///< Keeps the bytes; its store's business.
};

/// @brief Memory for a value that is going to be stored.
struct Room {
  uint8_t *bytes = nullptr; ///< Null where there is no memory.
  Blob blob;                ///< The same memory, for the request.
};

/// @brief What a Store asks of the key's presence.
struct Condition {
  bool must_exist = false;
  bool must_not_exist = false;
};

enum class Operation { store, retrieve, list, erase, exist };

/// @brief Takes the next key of a List; returns whether it had room for it.
using KeySink = std::function<bool(const Key &)>;

/// @brief One operation. It stays where it is until its reply was polled.
struct Request {
  Operation operation = Operation::exist;
  uint64_t token = 0; ///< Comes back in the reply.
  Key key;            ///< List: the first key wanted; length 0: from the start.
  Blob value; ///< Store: the value, in memory that the store allocated or
              ///< borrowed.
  Condition condition;
  bool may_compress = true; ///< Store: where the store compresses at all.
  uint32_t wanted = 0; ///< Retrieve: bytes of the value that are needed. List:
                       ///< bytes that the keys may take as a page has them.
  uint32_t longest = key_bytes; ///< List: no key is wanted that is longer.
  KeySink sink; ///< List: called in order until it returns false, by the
                ///< thread that submits or polls.
};

enum class Answer {
  done,
  missing,
  exists,
  full,
  too_large,   ///< The store takes no value of that size.
  read_only,   ///< The store was opened so.
  denied,      ///< The store does not let this user do that.
  gone,        ///< What the store was opened on is no more.
  unreachable, ///< No reply within the store's deadline; it may come back.
  cut_off,     ///< The store has shut this client out.
  failed,
};

struct Reply {
  uint64_t token = 0;
  Answer answer = Answer::done;
  Blob value;        ///< Retrieve: at least the bytes wanted, if there are.
  uint32_t size = 0; ///< Retrieve: bytes of the whole value.
};

struct Usage {
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

/// @brief Requests in flight of one queue; used by one thread at a time.
///
/// When the destructor returns, no request is touched any more; whether those
/// without a reply took effect is open.
class Session {
public:
  virtual ~Session() = default;
  virtual void submit(Request &request) = 0;

  /// @brief Take one reply.
  /// @return Whether there was one.
  virtual bool poll(Reply &reply) = 0;
};

/// @brief Called by any thread when a session may have replies: whoever polls
/// it need not look before.
using Wake = std::function<void()>;

/// @brief A store. Sessions of different queues work at the same time; the
/// store outlives them.
class ValueStore {
public:
  virtual ~ValueStore() = default;

  /// @brief Open a session.
  /// @param wake For replies that come by themselves; a store that replies at
  /// once never calls it. Not called any more when the session is closed.
  virtual std::unique_ptr<Session> open(Wake wake) = 0;

  /// @brief For how long a reply may lie unseen; 0 where replies come at once,
  /// or none is on its way.
  /// A thread that waits for later ones leaves its core to others meanwhile.
  virtual std::chrono::microseconds nap() const { return {}; }

  /// @brief Allocate memory for a value.
  virtual Room allocate(uint32_t size) const;

  /// @brief Take values from memory of the host where they lie, until it is
  /// taken back.
  /// @return Whether the store does so.
  virtual bool lend(uint8_t *, uint64_t) { return false; }

  /// @brief Take memory back that was lent, of which no request is under way.
  virtual void take_back(uint8_t *) {}

  /// @brief A value where it lies, for a request; no bytes unless its memory
  /// was lent and the store will have it.
  virtual Blob borrow(const uint8_t *, uint32_t) { return {}; }

  /// @brief Bytes of the largest value that it is known to take.
  virtual uint32_t value_max() const { return UINT32_MAX; }

  /// @brief What is stored; zeros where the store cannot tell.
  virtual Usage usage() const = 0;
};

/// @brief Ordinary memory, shared by whoever holds the blob.
inline Room ValueStore::allocate(uint32_t size) const {
  const std::shared_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[size]);
  return {bytes.get(), {bytes.get(), size, bytes}};
}

} // namespace xiokv::emulator
