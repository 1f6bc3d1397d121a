// SPDX-License-Identifier: MIT
/// @file
/// @brief Controllers as xiokv.h describes them: called, and provided.
#pragma once

#include <cstdio>
#include <memory>

#include "fault.h"
#include "xiokv.h"

namespace xiokv::host {

/// @brief Calls a controller; what it refuses is a Fault.
class Controller {
public:
  /// @param given Copied.
  explicit Controller(const xiokv_controller &given);

  xiokv_controller_limits limits(uint32_t nsid) const;
  xiokv_created create_queue(const xiokv_rings &rings) const;
  void delete_queue(uint32_t qid) const;

private:
  xiokv_controller given_;
};

/// @brief The controller of a device, given what stands for it.
xiokv_controller controller_of(const xiokv_device *device);

/// @brief xiokv_attach with something that goes with the queues.
int attach_owning(xiokv_module *module, const xiokv_controller *controller,
                  const xiokv_attach_config *config,
                  std::shared_ptr<void> owned, xiokv_ctx **ctx);

/// @brief Answer a controller's caller: 0, or a code and a reason.
template <class Work> int answered(char *why, size_t why_size, Work &&work) {
  const int code = guarded([&] {
    work();
    return XIOKV_E_OK;
  });
  if (code != XIOKV_E_OK)
    snprintf(why, why_size, "%s", last_error());
  return code;
}

} // namespace xiokv::host
