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

/// Most objects that the cluster returns at a time. It looks through those of
/// all namespaces of the pool, in steps of so many: fewer make a crowded pool
/// slow.
constexpr uint32_t chunk = 1000;

/// The number of positions in the cluster's order.
constexpr uint64_t positions = UINT64_C(1) << 32;

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
                               objects_.object_list_end(), position, positions,
                               &first, &next);
    return first;
  }

private:
  librados::IoCtx &objects_;
};

/// Goes through the keys of a namespace from one on, until a page is full.
class Walk {
public:
  Walk(librados::IoCtx &objects, Listing &listing)
      : objects_(objects), order_(objects), listing_(listing),
        used_(emulator::empty_list_page().size()) {}

  /// @return 0, or a negative code.
  int begin() {
    cursor_.emplace(objects_.object_list_begin());
    if (listing_.start.length == 0)
      return 0;
    first_ = object_name(listing_.start);
    const int result = order_.find(first_, first_position_);
    if (result < 0)
      return result;
    cursor_.emplace(order_.cursor(first_position_));
    position_ = first_position_;
    seeking_ = true;
    return 0;
  }

  bool is_over() const { return is_full_ || position_ == positions; }

  /// @return 0, or a negative code.
  int list_part() {
    position_ = std::min(position_ + width_, positions);
    const librados::ObjectCursor end =
        position_ == positions
            ? objects_.object_list_end()
            : order_.cursor(static_cast<uint32_t>(position_));
    while (!is_full_ && *cursor_ < end) {
      std::vector<librados::ObjectItem> items;
      librados::ObjectCursor next;
      const int result =
          objects_.object_list(*cursor_, end, chunk, {}, &items, &next);
      if (result < 0)
        return result;
      add(items);
      cursor_.emplace(next);
    }
    return 0;
  }

  void set_pace(Clock::duration part) {
    width_ = part < std::chrono::milliseconds(50)
                 ? std::min(2 * width_, positions)
                 : std::max(width_ / 2, uint64_t{1});
  }

private:
  /// Objects that no key names, such as those of other programs, are left out.
  void add(const std::vector<librados::ObjectItem> &items) {
    for (const librados::ObjectItem &item : items) {
      const std::optional<Key> key = key_of_object(item.oid);
      if (!key || key->length > listing_.longest || !item.locator.empty() ||
          is_before_first(item.oid))
        continue;
      used_ += emulator::list_entry_bytes(*key);
      is_full_ = used_ > listing_.room;
      if (is_full_)
        return;
      listing_.keys.push_back(*key);
    }
  }

  /// Whether an object shares the first one's position and stands before it.
  bool is_before_first(const std::string &name) {
    if (!seeking_)
      return false;
    uint32_t position = 0;
    seeking_ = name < first_ && order_.find(name, position) == 0 &&
               position == first_position_;
    return seeking_;
  }

  librados::IoCtx &objects_;
  Order order_;
  Listing &listing_;
  std::string first_;
  uint32_t first_position_ = 0;
  bool seeking_ = false;
  Cursor cursor_;
  uint64_t position_ = 0;           ///< Where the part ends.
  uint64_t width_ = positions / 64; ///< Of the next part.
  uint64_t used_;                   ///< Bytes of the page.
  bool is_full_ = false;
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
    cluster_.limit_calls(longest_);
    flight->listing.result = list(*flight);
    cluster_.limit_calls(std::chrono::milliseconds::zero());
    flight->inbox->put(*flight);
    lock.lock();
  }
}

bool Lister::is_wanted(const Flight &flight) const {
  return !ends_ && !flight.given_up && Clock::now() < flight.due;
}

/// A call cannot be cancelled, and is over only when it has looked through all
/// that it was asked for: so it is asked for parts, which take a short time
/// each.
int Lister::list(Flight &flight) {
  librados::IoCtx objects;
  objects.dup(cluster_.objects());
  Walk walk(objects, flight.listing);
  int result = walk.begin();
  while (result == 0 && !walk.is_over()) {
    if (!is_wanted(flight))
      return -ETIMEDOUT;
    const Clock::time_point began = Clock::now();
    if (flight.listing.keys.size() > 1 && began >= flight.listing.hurry)
      return 0;
    result = walk.list_part();
    walk.set_pace(Clock::now() - began);
  }
  return result;
}

} // namespace xiokv::rados
