// SPDX-License-Identifier: MIT
/// @file
/// @brief Objects that callers know by a handle.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "call.h"

namespace standin {

/// @brief Handles of one kind, and what they stand for.
/// @tparam Handle A pointer type; its value is the object's address.
/// @tparam Object What the handle stands for.
template <class Handle, class Object> class Table {
public:
  /// @brief Take in an object; return its handle.
  Handle add(std::shared_ptr<Object> object) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto handle = reinterpret_cast<Handle>(object.get());
    objects_[handle] = std::move(object);
    return handle;
  }

  /// @brief Return what a handle stands for.
  std::shared_ptr<Object> get(Handle handle) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = objects_.find(handle);
    require(found != objects_.end(), hipErrorInvalidHandle);
    return found->second;
  }

  /// @brief Forget a handle; return what it stood for.
  std::shared_ptr<Object> take(Handle handle) {
    std::shared_ptr<Object> object = get(handle);
    const std::lock_guard<std::mutex> guard(mutex_);
    require(objects_.erase(handle) == 1, hipErrorInvalidHandle);
    return object;
  }

  /// @brief Return every object there is.
  std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    for (const auto &entry : objects_)
      objects.push_back(entry.second);
    return objects;
  }

private:
  mutable std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Object>> objects_;
};

} // namespace standin
