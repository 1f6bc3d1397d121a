// SPDX-License-Identifier: MIT
#include "copier_places.h"

#include <iterator>
#include <mutex>

namespace xiokv::gpu {

namespace {

bool holds(const xiokv_copier_range &range, uint64_t address) {
  return address - range.first < range.bytes;
}

} // namespace

/// Mostly it is known already, since batches use the same memory again.
void Places::note(const xiokv_copier_range &range) {
  if (range.bytes == 0)
    return;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    xiokv_copier_range known;
    if (look_up(range.first, known) && known.is_device == range.is_device &&
        holds(known, range.first + range.bytes - 1))
      return;
  }
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  insert(range);
}

void Places::forget() {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  ranges_.clear();
  ++edition_;
}

bool Places::find(uint64_t address, xiokv_copier_range &range) {
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    if (look_up(address, range))
      return true;
  }
  if (vendor_.locate(vendor_.context, address, &range) != 0)
    return false;
  if (range.is_known != 0) {
    const std::lock_guard<std::shared_mutex> lock(mutex_);
    insert(range);
  }
  return true;
}

bool Places::look_up(uint64_t address, xiokv_copier_range &range) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin() || !holds(std::prev(after)->second, address))
    return false;
  range = std::prev(after)->second;
  return true;
}

/// Takes the place of all that it overlaps.
void Places::insert(const xiokv_copier_range &range) {
  const size_t count = ranges_.size();
  auto at = ranges_.upper_bound(range.first);
  if (at != ranges_.begin() && holds(std::prev(at)->second, range.first))
    at = ranges_.erase(std::prev(at));
  while (at != ranges_.end() && at->first - range.first < range.bytes)
    at = ranges_.erase(at);
  edition_ += ranges_.size() != count;
  ranges_[range.first] = range;
}

const xiokv_copier_range *RecentPlaces::find(uint64_t address) {
  const uint64_t edition = places_.edition();
  if (edition != edition_)
    ranges_ = {};
  edition_ = edition;
  for (const xiokv_copier_range &range : ranges_)
    if (holds(range, address))
      return &range;
  xiokv_copier_range &range = ranges_[next_++ % ranges_.size()];
  range = {};
  if (!places_.find(address, range))
    return nullptr;
  return &range;
}

} // namespace xiokv::gpu
