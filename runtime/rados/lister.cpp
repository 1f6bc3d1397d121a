// SPDX-License-Identifier: MIT
#include "lister.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "../emulator/list_page.h"
#include "object_name.h"

namespace xiokv::rados {

namespace {

/// How many objects the cluster is asked for at a time. What it looks through
/// are those of all namespaces of the pool, and what it returns may be none: at
/// first so many as fill a page, then ever more.
class Chunk {
public:
  explicit Chunk(uint64_t room) : size_(std::min(room / entry + 1, largest)) {}

  uint32_t next() {
    const uint64_t size = size_;
    size_ = std::min(4 * size, largest);
    return static_cast<uint32_t>(size);
  }

private:
  static constexpr uint64_t entry = 2 + emulator::key_bytes + 2;
  static constexpr uint64_t largest = 1000;

  uint64_t size_;
};

/// Made anew for each place: assigned to another, librados's own leaks.
using Cursor = std::optional<librados::ObjectCursor>;

uint32_t reversed(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i, bits >>= 1)
    result = result << 1 | (bits & 1);
  return result;
}

/// Where the objects of a namespace stand in the cluster's order: by a hash of
/// the name, read from its lowest bit on, then by the name.
class Order {
public:
  explicit Order(librados::IoCtx &objects) : objects_(objects) {}

  /// @return 0, or a negative code where the pool is gone.
  int find(const std::string &name, uint32_t &position) {
    uint32_t hash = 0;
    const int result = objects_.get_object_hash_position2(name, &hash);
    position = reversed(hash);
    return result;
  }

  /// A cut of the whole into 2^32 slices: each begins at one position.
  librados::ObjectCursor cursor(uint32_t position) {
    librados::ObjectCursor first, next;
    objects_.object_list_slice(objects_.object_list_begin(),
                               objects_.object_list_end(), position,
                               size_t{1} << 32, &first, &next);
    return first;
  }

private:
  librados::IoCtx &objects_;
};

/// Skips the objects that share the first one's position and stand before it.
class Start {
public:
  int seek(Order &order, const emulator::Key &key, Cursor &cursor) {
    if (key.length == 0)
      return 0;
    name_ = object_name(key);
    const int result = order.find(name_, position_);
    if (result < 0)
      return result;
    cursor.emplace(order.cursor(position_));
    seeking_ = true;
    return 0;
  }

  bool is_before(Order &order, const std::string &name) {
    if (!seeking_)
      return false;
    uint32_t position = 0;
    seeking_ = name < name_ && order.find(name, position) == 0 &&
               position == position_;
    return seeking_;
  }

private:
  std::string name_;
  uint32_t position_ = 0;
  bool seeking_ = false;
};

} // namespace

Lister::~Lister() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable())
    thread_.join();
}

bool Lister::add(std::shared_ptr<Flight> flight) {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    if (!thread_.joinable())
      thread_ = std::thread([this] { work(); });
  } catch (const std::system_error &) {
    return false;
  }
  waiting_.push_back(std::move(flight));
  changed_.notify_one();
  return true;
}

void Lister::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_)
      return;
    const std::shared_ptr<Flight> flight = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    flight->listing.result = list(*flight);
    flight->inbox->put(*flight);
    lock.lock();
  }
}

bool Lister::is_wanted(const Flight &flight) const {
  return !ends_ && !flight.given_up && Clock::now() < flight.due;
}

/// Objects that no key names, such as those of other programs, are left out.
int Lister::list(Flight &flight) {
  Listing &listing = flight.listing;
  librados::IoCtx objects;
  objects.dup(cluster_.objects());
  Order order(objects);
  Start start;
  Chunk chunk(listing.room);
  Cursor cursor(objects.object_list_begin());
  const librados::ObjectCursor end = objects.object_list_end();
  int result = start.seek(order, listing.start, cursor);
  uint64_t used = emulator::empty_list_page().size();
  while (result >= 0 && !objects.object_list_is_end(*cursor)) {
    if (!is_wanted(flight))
      return -ETIMEDOUT;
    if (listing.keys.size() > 1 && Clock::now() >= listing.hurry)
      return 0;
    std::vector<librados::ObjectItem> items;
    librados::ObjectCursor next;
    result = objects.object_list(*cursor, end, chunk.next(), {}, &items, &next);
    if (result < 0)
      break;
    for (const librados::ObjectItem &item : items) {
      const std::optional<Key> key = key_of_object(item.oid);
      if (!key || key->length > listing.longest || !item.locator.empty() ||
          start.is_before(order, item.oid))
        continue;
      used += emulator::list_entry_bytes(*key);
      if (used > listing.room)
        return 0;
      listing.keys.push_back(*key);
    }
    cursor.emplace(next);
  }
  return result < 0 ? result : 0;
}

} // namespace xiokv::rados
