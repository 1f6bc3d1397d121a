// SPDX-License-Identifier: MIT
/// @file
/// @brief What a caller holds of an object: a number in a pointer's clothes.
///
/// It is never used again, so that a call with one that was closed is refused,
/// and one that comes while another thread closes the object still has it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "fault.h"
#include "process.h"

namespace xiokv::host {

/// @brief A number that no handle of this process had before.
uintptr_t next_handle();

/// @brief The objects of one kind that callers hold.
/// @tparam Object has `static constexpr const char *what` for messages, and
/// `static constexpr bool forks`: whether it works in a child of fork.
/// @tparam Handle the incomplete type that callers know.
template <class Object, class Handle> class Handles {
public:
  static Handle *add(std::shared_ptr<Object> object) {
    const uintptr_t number = next_handle();
    const std::lock_guard<std::mutex> lock(process_mutex());
    table()[number] = {std::move(object), generation()};
    return reinterpret_cast<Handle *>(number);
  }

  /// @brief The object; a Fault where there is none, or it is a parent's.
  static std::shared_ptr<Object> find(const Handle *handle) {
    const std::lock_guard<std::mutex> lock(process_mutex());
    return found(handle)->second.object;
  }

  /// @brief The same, and let the handle go.
  static std::shared_ptr<Object> take(const Handle *handle) {
    const std::lock_guard<std::mutex> lock(process_mutex());
    const auto at = found(handle);
    std::shared_ptr<Object> object = std::move(at->second.object);
    table().erase(at);
    return object;
  }

private:
  struct Entry {
    std::shared_ptr<Object> object;
    unsigned generation;
  };
  using Table = std::unordered_map<uintptr_t, Entry>;

  /// Never destroyed: objects have threads that may outlive main.
  static Table &table() {
    static Table *const made = new Table;
    return *made;
  }

  static typename Table::iterator found(const Handle *handle) {
    const auto at = table().find(reinterpret_cast<uintptr_t>(handle));
    if (at == table().end())
      refuse(XIOKV_E_HANDLE,
             "this %s is none: it was closed, or is of another kind, or NULL",
             Object::what);
    if (!Object::forks && at->second.generation != generation())
      refuse(XIOKV_E_FORKED,
             "this %s is of a parent process, whose threads a fork leaves "
             "behind: make one in this process",
             Object::what);
    return at;
  }
};

} // namespace xiokv::host
