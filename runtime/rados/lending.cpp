// SPDX-License-Identifier: MIT
#include "lending.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <utility>

namespace xiokv::rados {

namespace {

using Lock = std::lock_guard<std::mutex>;

/// Smaller ones are copied sooner than their pages would be.
constexpr uint32_t least_lent = 64 << 10;

/// Most that are lent at once: each may split a mapping into three, of which a
/// process has some 65000.
constexpr uint64_t most_lent = 4096;

constexpr std::chrono::milliseconds between_tries{1};

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// A child of fork would keep the host's memory by it for as long as it lives.
void keep_from_children(void *mapped, uint64_t bytes) {
  madvise(mapped, bytes, MADV_DONTFORK);
}

/// A second mapping of shared pages, somewhere or at a place; null where there
/// is none.
char *mapped_again(const char *pages, uint64_t bytes, char *place = nullptr) {
  const int flags = MREMAP_MAYMOVE | (place ? MREMAP_FIXED : 0);
  void *mapped = mremap(const_cast<char *>(pages), 0, bytes, flags, place);
  if (mapped == MAP_FAILED)
    return nullptr;
  keep_from_children(mapped, bytes);
  return static_cast<char *>(mapped);
}

bool is_alone(const std::shared_ptr<const Memory> &value) {
  return value->raw_nref() == 1;
}

} // namespace

/// The host's memory, and its second mapping.
class Lending::Region {
public:
  Region(uintptr_t host, char *again, uint64_t bytes,
         std::atomic<uint64_t> &all_lent)
      : host_(host), again_(again), bytes_(bytes), all_lent_(all_lent) {}
  /// Where a message may still read there, the mapping stays.
  ~Region() {
    if (is_free())
      munmap(again_, bytes_);
  }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;

  bool ends_after(uintptr_t host) const { return host_ + bytes_ > host; }
  bool has(uintptr_t bytes, uint32_t size) const {
    const uint64_t at = bytes - host_;
    return at < bytes_ && size <= bytes_ - at;
  }
  bool has_lent(const char *bytes) const {
    return bytes >= again_ && bytes < again_ + bytes_;
  }

  /// The host's memory is no longer to be looked at.
  void forget_host() { host_ = 0; }

  /// Nothing of it is lent or held.
  bool is_free() const { return lent_ == 0 && held_.empty(); }
  bool has_held() const { return !held_.empty() || !left_.empty(); }

  std::shared_ptr<const Memory> lend(uintptr_t bytes, uint32_t size);
  bool part(const std::shared_ptr<const Memory> &value);
  void put_back();

private:
  struct Pages {
    uint64_t first, end;
  };
  struct Held {
    std::shared_ptr<const Memory> value;
    Pages pages;
  };

  Pages pages_of(uint64_t at, uint64_t size) const {
    return {at / page_bytes(), (at + size - 1) / page_bytes() + 1};
  }
  bool is_parted(uint64_t page) const { return holders_.count(page) != 0; }
  bool is_any_parted(Pages pages) const;
  void hold(const std::shared_ptr<const Memory> &value, Pages pages);
  bool put_copy(Pages pages);
  void drop(Pages pages);
  void drop_copies(Pages pages);

  uintptr_t host_; ///< 0 once it is gone.
  char *const again_;
  const uint64_t bytes_;
  std::atomic<uint64_t> &all_lent_;
  std::atomic<uint64_t> lent_{0};
  std::vector<Held> held_;
  /// Copies that no message holds, and that the system did not let go.
  std::vector<Pages> left_;
  /// Of pages that are copies: how many of `held_` they are of.
  std::unordered_map<uint64_t, uint32_t> holders_;
};

std::shared_ptr<const Memory> Lending::Region::lend(uintptr_t bytes,
                                                    uint32_t size) {
  const uint64_t at = bytes - host_;
  if (is_any_parted(pages_of(at, size)))
    return nullptr;
  // A buffer of its own each time: it remembers the checksum of its bytes.
  auto memory =
      std::make_unique<Memory>(ceph::buffer::create_static(size, again_ + at));
  ++all_lent_;
  ++lent_;
  return {memory.release(), [this](const Memory *value) {
            delete value;
            --all_lent_;
            --lent_;
          }};
}

/// Pages that are copies already have what this value had, too: while both were
/// lent, the host let them be.
/// @return Whether there was room for a copy of all the others.
bool Lending::Region::part(const std::shared_ptr<const Memory> &value) {
  const auto at = static_cast<uint64_t>(value->c_str() - again_);
  const Pages pages = pages_of(at, value->length());
  bool is_begun = false;
  for (uint64_t first = pages.first; first < pages.end;) {
    uint64_t end = first;
    while (end < pages.end && !is_parted(end))
      ++end;
    if (first < end && !put_copy({first, end})) {
      if (is_begun)
        hold(value, {pages.first, first});
      return false;
    }
    is_begun |= first < end;
    first = end + 1;
  }
  hold(value, pages);
  return true;
}

void Lending::Region::hold(const std::shared_ptr<const Memory> &value,
                           Pages pages) {
  for (uint64_t page = pages.first; page < pages.end; ++page)
    ++holders_[page];
  held_.push_back({value, pages});
}

/// Whoever reads there meanwhile reads the same before and after.
/// @return Whether there was room for it.
bool Lending::Region::put_copy(Pages pages) {
  const uint64_t bytes = (pages.end - pages.first) * page_bytes();
  char *place = again_ + pages.first * page_bytes();
  void *copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return false;
  keep_from_children(copy, bytes);
  std::memcpy(copy, place, bytes);
  if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) !=
      MAP_FAILED)
    return true;
  munmap(copy, bytes);
  return false;
}

bool Lending::Region::is_any_parted(Pages pages) const {
  if (holders_.empty())
    return false;
  for (uint64_t page = pages.first; page < pages.end; ++page)
    if (is_parted(page))
      return true;
  return false;
}

/// Put the host's pages where copies are that no message holds any more.
void Lending::Region::put_back() {
  for (const Pages &pages : std::exchange(left_, {}))
    drop(pages);
  for (size_t i = held_.size(); i-- != 0;) {
    if (!is_alone(held_[i].value))
      continue;
    const Pages pages = held_[i].pages;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    drop(pages);
  }
}

/// One holder less; pages with no other go as many at once as follow on.
void Lending::Region::drop(Pages pages) {
  uint64_t first = pages.first;
  for (uint64_t page = pages.first; page < pages.end; ++page) {
    const auto found = holders_.find(page);
    if (found->second == 1)
      continue;
    --found->second;
    drop_copies({first, page});
    first = page + 1;
  }
  drop_copies({first, pages.end});
}

/// Pages that the system does not map again stay copies, for now.
void Lending::Region::drop_copies(Pages pages) {
  if (pages.first == pages.end || host_ == 0)
    return;
  const uint64_t at = pages.first * page_bytes();
  const uint64_t bytes = (pages.end - pages.first) * page_bytes();
  const auto *host = reinterpret_cast<const char *>(host_ + at);
  if (!mapped_again(host, bytes, again_ + at))
    return left_.push_back(pages);
  for (uint64_t page = pages.first; page < pages.end; ++page)
    holders_.erase(page);
}

Lending::Lending() = default;

Lending::~Lending() {
  while (!regions_.empty())
    leave(regions_.begin());
}

bool Lending::add(uint8_t *memory, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uint64_t page = page_bytes();
  if (begin % page != 0 || bytes < least_lent)
    return false;
  const uint64_t whole = (bytes + page - 1) / page * page;
  const Lock lock(mutex_);
  put_back();
  char *again = mapped_again(reinterpret_cast<char *>(memory), whole);
  if (!again)
    return false;
  // Memory that was there before and is not any more, whatever was told of it.
  for (auto at = region_of(begin + whole - 1);
       at != regions_.end() && at->second->ends_after(begin);
       at = region_of(begin + whole - 1))
    leave(at);
  regions_[begin] = std::make_unique<Region>(begin, again, whole, lent_);
  return true;
}

void Lending::remove(uint8_t *memory) {
  const Lock lock(mutex_);
  const auto found = regions_.find(reinterpret_cast<uintptr_t>(memory));
  if (found != regions_.end())
    leave(found);
}

std::shared_ptr<const Memory> Lending::lend(const uint8_t *bytes,
                                            uint32_t size) {
  if (size < least_lent)
    return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(bytes);
  const Lock lock(mutex_);
  put_back();
  if (lent_ >= most_lent)
    return nullptr;
  const auto found = region_of(at);
  if (found == regions_.end() || !found->second->has(at, size))
    return nullptr;
  return found->second->lend(at, size);
}

void Lending::part(const std::shared_ptr<const Memory> &value) {
  while (!is_alone(value) && !try_part(value))
    std::this_thread::sleep_for(between_tries);
}

/// @return Whether that is done, or the value lies elsewhere.
bool Lending::try_part(const std::shared_ptr<const Memory> &value) {
  const Lock lock(mutex_);
  put_back();
  any_held_ = true;
  for (const auto &entry : regions_)
    if (entry.second->has_lent(value->c_str()))
      return entry.second->part(value);
  for (const auto &region : leaving_)
    if (region->has_lent(value->c_str()))
      return region->part(value);
  return true;
}

/// Let go of what no message holds any more.
void Lending::put_back() {
  if (!any_held_ && leaving_.empty())
    return;
  any_held_ = false;
  for (const auto &entry : regions_) {
    entry.second->put_back();
    any_held_ |= entry.second->has_held();
  }
  const auto is_over = [](const std::unique_ptr<Region> &one) {
    one->put_back();
    return one->is_free();
  };
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), is_over),
                 leaving_.end());
}

/// The last region that begins there or before.
Lending::Regions::iterator Lending::region_of(uintptr_t host) {
  const auto next = regions_.upper_bound(host);
  return next == regions_.begin() ? regions_.end() : std::prev(next);
}

void Lending::leave(Regions::iterator region) {
  region->second->forget_host();
  leaving_.push_back(std::move(region->second));
  regions_.erase(region);
  put_back();
}

} // namespace xiokv::rados
