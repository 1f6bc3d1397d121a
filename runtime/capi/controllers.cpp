// SPDX-License-Identifier: MIT
#include "controllers.h"

#include <cstdio>

#include "device.h"
#include "handles.h"

namespace xiokv::host {

namespace {

using Devices = Handles<NvmeDevice, xiokv_device>;

/// Where a controller writes why it refuses.
struct Why {
  char text[1024] = "";

  void check(int code, const char *what) const {
    if (code != 0)
      throw Fault{code < 0 ? code : int{XIOKV_E_CONTROLLER},
                  text[0] != 0 ? std::string(text)
                               : std::string(what) +
                                     ": the controller refused"
                                     " with code " +
                                     std::to_string(code)};
  }
};

std::shared_ptr<NvmeDevice> device_at(void *context) {
  return Devices::find(static_cast<xiokv_device *>(context));
}

int device_limits(void *context, uint32_t nsid, xiokv_controller_limits *limits,
                  char *why, size_t why_size) {
  return answered(why, why_size,
                  [&] { *limits = device_at(context)->limits(nsid); });
}

int device_create_queue(void *context, const xiokv_rings *rings,
                        xiokv_created *created, char *why, size_t why_size) {
  return answered(why, why_size,
                  [&] { *created = device_at(context)->create_queue(*rings); });
}

int device_delete_queue(void *context, uint32_t qid, char *why,
                        size_t why_size) {
  return answered(why, why_size,
                  [&] { device_at(context)->delete_queue(qid); });
}

} // namespace

Controller::Controller(const xiokv_controller &given) : given_(given) {
  if (given.limits == nullptr || given.create_queue == nullptr ||
      given.delete_queue == nullptr)
    refuse(XIOKV_E_ARGUMENT, "the controller lacks a function; it needs "
                             "limits, create_queue and delete_queue");
}

xiokv_controller_limits Controller::limits(uint32_t nsid) const {
  xiokv_controller_limits found = {};
  Why why;
  found.struct_size = sizeof found;
  why.check(
      given_.limits(given_.context, nsid, &found, why.text, sizeof why.text),
      "limits");
  return found;
}

xiokv_created Controller::create_queue(const xiokv_rings &rings) const {
  xiokv_created made = {};
  Why why;
  why.check(given_.create_queue(given_.context, &rings, &made, why.text,
                                sizeof why.text),
            "create_queue");
  return made;
}

void Controller::delete_queue(uint32_t qid) const {
  Why why;
  why.check(given_.delete_queue(given_.context, qid, why.text, sizeof why.text),
            "delete_queue");
}

xiokv_controller controller_of(const xiokv_device *device) {
  return {sizeof(xiokv_controller),
          0,
          const_cast<xiokv_device *>(device),
          device_limits,
          device_create_queue,
          device_delete_queue};
}

} // namespace xiokv::host
