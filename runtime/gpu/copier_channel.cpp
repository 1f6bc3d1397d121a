// SPDX-License-Identifier: MIT
#include "copier_channel.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace xiokv::gpu {

namespace {

using Lock = std::lock_guard<std::mutex>;

constexpr uint64_t page_bytes = 4096;
constexpr uint64_t line_bytes = 64;
/// Looks for a copy between two looks at the kernel.
constexpr uint32_t looks = 16;
/// Looks at the kernel between two looks at the clock.
constexpr uint32_t rests = 256;

uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

uint32_t acquire(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/// Bytes that one copy may take along.
uint32_t within_piece(uint64_t address, uint64_t bytes) {
  return static_cast<uint32_t>(
      std::min(bytes, XIOKV_COPIER_PIECE - address % XIOKV_COPIER_PIECE));
}

/// A time that begins when it is first asked about.
class Patience {
public:
  explicit Patience(uint64_t nanoseconds) : length_(nanoseconds) {}

  bool is_over() {
    if (asked_++ % rests != 0)
      return false;
    const auto now = std::chrono::steady_clock::now();
    if (asked_ == 1)
      end_ = now + length_;
    return now > end_;
  }

private:
  const std::chrono::nanoseconds length_;
  std::chrono::steady_clock::time_point end_;
  uint32_t asked_ = 0;
};

/// Nanoseconds of a steady clock.
int64_t now() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace

Layout::Layout(uint32_t slots, uint32_t groups)
    : channels_(page_bytes), done_(sizeof(xiokv_copy) * uint64_t{slots}),
      progress_(
          round_up(done_ + sizeof(uint32_t) * uint64_t{slots}, line_bytes)),
      pieces_(
          round_up(progress_ + sizeof(xiokv_copier_progress) * uint64_t{groups},
                   page_bytes)),
      channel_bytes_(pieces_ + XIOKV_COPIER_PIECE * uint64_t{slots}) {}

void Layout::describe(uint64_t device_memory,
                      xiokv_copier_launch &launch) const {
  launch.stop = device_memory;
  launch.channels = device_memory + channels_;
  launch.channel_bytes = channel_bytes_;
  launch.done = done_;
  launch.progress = progress_;
  launch.pieces = pieces_;
}

Kernel::Kernel(const xiokv_copier_config &config,
               const xiokv_copier_vendor &vendor)
    : config_(config), vendor_(vendor), layout_(config.slots, config.groups),
      stop_(static_cast<uint64_t *>(config.memory)) {
  *stop_ = 0;
}

/// The channels are all served: a thread that comes late to one that is not
/// would have to wait for the end of the lease.
bool Kernel::restart(uint32_t seen) {
  const Lock lock(mutex_);
  if (launches_ != seen)
    return true;
  if (has_failed())
    return false;
  xiokv_copier_launch launch = {};
  layout_.describe(config_.device_memory, launch);
  launch.lease = config_.lease;
  launch.slots = config_.slots;
  launch.groups = config_.groups;
  launch.number = seen + 1;
  if (vendor_.launch(vendor_.context, &launch,
                     config_.groups * config_.channels) != 0)
    return false;
  end_ = std::max(now(), end_.load()) + term();
  launches_.store(seen + 1, std::memory_order_release);
  return true;
}

/// A launch takes longer than its lease, so that launches by the clock alone
/// would pile up: one at most waits in the stream for the one before.
bool Kernel::is_due(uint32_t latest) const {
  const auto *progress = reinterpret_cast<const xiokv_copier_progress *>(
      layout_.channel(config_.memory, 0) + layout_.progress());
  return now() + term() / 2 >= end_ && latest - acquire(&progress->ended) <= 1;
}

/// Where the launch fails, the copies will, too.
void Kernel::attend() {
  const uint32_t seen = launches();
  if (is_due(seen))
    restart(seen);
  needed_.store(launches(), std::memory_order_relaxed);
}

/// Leases may follow on each other, so that the latest was not needed yet.
void Kernel::wake() {
  const uint32_t seen = launches();
  if (seen - needed_.load(std::memory_order_relaxed) <= 1 && seen != 0 &&
      is_due(seen))
    restart(seen);
}

/// A launch that comes late finds the word, and leaves alone what was given up:
/// by then the memory may be somebody else's.
void Kernel::fail() {
  failed_.store(true, std::memory_order_relaxed);
  __atomic_store_n(stop_, uint64_t{1}, __ATOMIC_RELEASE);
}

/// Whoever launches meanwhile has done so on return.
void Kernel::stop() {
  fail();
  const Lock lock(mutex_);
}

Channel::Channel(Kernel &kernel, Places &places, uint32_t number)
    : kernel_(kernel), slots_(kernel.config().slots),
      copies_(reinterpret_cast<xiokv_copy *>(
          kernel.layout().channel(kernel.config().memory, number))),
      done_(reinterpret_cast<uint32_t *>(reinterpret_cast<uint8_t *>(copies_) +
                                         kernel.layout().done())),
      progress_(reinterpret_cast<xiokv_copier_progress *>(
          reinterpret_cast<uint8_t *>(copies_) + kernel.layout().progress())),
      pieces_(reinterpret_cast<uint8_t *>(copies_) + kernel.layout().pieces()),
      places_(places) {
  std::memset(copies_, 0, kernel.layout().pieces());
  for (uint32_t group = 0; group < kernel.config().groups; ++group)
    progress_[group].next = group + 1;
}

bool Channel::read(uint64_t address, void *buffer, uint64_t bytes) {
  uint8_t *to = static_cast<uint8_t *>(buffer);
  return for_each_part(
      address, bytes,
      [to](uint64_t at, uint64_t done, uint64_t size) {
        std::memcpy(to + done, reinterpret_cast<const void *>(at), size);
        return true;
      },
      [this, to](uint64_t at, uint64_t done, uint64_t size) {
        return read_device(at, to + done, size);
      });
}

bool Channel::write(uint64_t address, const void *buffer, uint64_t bytes) {
  const uint8_t *from = static_cast<const uint8_t *>(buffer);
  return for_each_part(
      address, bytes,
      [from](uint64_t at, uint64_t done, uint64_t size) {
        std::memcpy(reinterpret_cast<void *>(at), from + done, size);
        return true;
      },
      [this, from](uint64_t at, uint64_t done, uint64_t size) {
        return write_device(at, from + done, size);
      });
}

bool Channel::flush() {
  const Lock lock(mutex_);
  return await(pushed_);
}

template <class Near, class Far>
bool Channel::for_each_part(uint64_t address, uint64_t bytes, Near near,
                            Far far) {
  const Lock lock(mutex_);
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    // No buffer lies in page 0: a null pointer leads there.
    const xiokv_copier_range *range =
        at < page_bytes ? nullptr : places_.find(at);
    if (range == nullptr)
      return false;
    const uint64_t size =
        std::min(bytes - done, range->bytes - (at - range->first));
    if (range->is_device && (at + size) >> XIOKV_COPY_ADDRESS_BITS != 0)
      return false;
    if (!(range->is_device ? far(at, done, size) : near(at, done, size)))
      return false;
    done += size;
  }
  return true;
}

/// As many copies as there are slots are on their way at once.
bool Channel::read_device(uint64_t address, uint8_t *buffer, uint64_t bytes) {
  const uint64_t end = address + bytes;
  uint64_t asked = address;
  uint32_t number = pushed_;
  for (uint64_t taken = address; taken < end;) {
    for (; asked < end && pushed_ - number < slots_;
         asked += within_piece(asked, end - asked)) {
      if (!await_slot())
        return false;
      push(asked, within_piece(asked, end - asked), XIOKV_COPY_FROM_DEVICE);
    }
    if (!await(++number))
      return false;
    const uint32_t size = within_piece(taken, end - taken);
    std::memcpy(buffer + (taken - address), piece(number, taken), size);
    taken += size;
  }
  return true;
}

bool Channel::write_device(uint64_t address, const uint8_t *buffer,
                           uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const uint32_t size = within_piece(at, bytes - done);
    if (!await_slot())
      return false;
    std::memcpy(piece(pushed_ + 1, at), buffer + done, size);
    push(at, size, 0);
    done += size;
  }
  return true;
}

uint8_t *Channel::piece(uint32_t number, uint64_t address) const {
  return pieces_ + uint64_t{slot(number)} * XIOKV_COPIER_PIECE +
         address % XIOKV_COPIER_PIECE;
}

bool Channel::await_slot() {
  return pushed_ - landed_ < slots_ || await(landed_ + 1);
}

/// The first copy after a pause sees to it that the kernel is there, which
/// comes while the others are made ready.
void Channel::push(uint64_t address, uint32_t bytes, uint32_t direction) {
  if (pushed_ == landed_)
    kernel_.attend();
  const uint64_t number = ++pushed_;
  xiokv_copy &copy = copies_[slot(pushed_)];
  __atomic_store_n(&copy.place, address | number << XIOKV_COPY_ADDRESS_BITS,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&copy.what, bytes | direction | number << 32,
                   __ATOMIC_RELEASE);
}

bool Channel::is_done(uint32_t number) const {
  return acquire(done_ + slot(number)) == number;
}

bool Channel::await(uint32_t number) {
  while (pushed_ - landed_ > pushed_ - number)
    if (!await_next())
      return false;
  return true;
}

/// The clock is read only where there is something to wait for: on virtual
/// machines it is slow.
bool Channel::await_next() {
  const uint32_t next = landed_ + 1;
  Patience patience(kernel_.config().patience);
  for (uint32_t look = 1; !is_done(next); ++look) {
    pause();
    if (look % looks != 0)
      continue;
    if (kernel_.has_failed() || !keep_running(next) || patience.is_over()) {
      kernel_.fail();
      return false;
    }
  }
  landed_ = next;
  return true;
}

/// A workgroup that has left the latest launch will not see the copy any more.
bool Channel::keep_running(uint32_t number) {
  const uint32_t launches = kernel_.launches();
  const uint32_t group = (number - 1) & (kernel_.config().groups - 1);
  return acquire(&progress_[group].ended) != launches ||
         kernel_.restart(launches);
}

} // namespace xiokv::gpu
