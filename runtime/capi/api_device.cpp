// SPDX-License-Identifier: MIT
/// @file
/// @brief The calls of xiokv.h for devices.

#include "controllers.h"
#include "device.h"
#include "handles.h"
#include "sized.h"

namespace xiokv::host {

namespace {

using OpenDevices = Handles<NvmeDevice, xiokv_device>;

std::shared_ptr<NvmeDevice> opened_device(const char *path,
                                          const xiokv_device_config *config) {
  need(path, "path");
  return std::make_shared<NvmeDevice>(path, sized(config, "config"));
}

/// Also one with queue pairs, whose commands it waits for.
void close_device(void *device) {
  guarded([&] {
    OpenDevices::take(static_cast<xiokv_device *>(device));
    return XIOKV_E_OK;
  });
}

} // namespace

} // namespace xiokv::host

using namespace xiokv::host;

int xiokv_device_open(const char *path,
                      const struct xiokv_device_config *config,
                      struct xiokv_device **device) {
  return guarded([&] {
    need(device, "device");
    *device = OpenDevices::add(opened_device(path, config));
    return XIOKV_E_OK;
  });
}

int xiokv_device_controller(struct xiokv_device *device,
                            struct xiokv_controller *controller) {
  return guarded([&] {
    need(controller, "controller");
    OpenDevices::find(device);
    *controller = controller_of(device);
    return XIOKV_E_OK;
  });
}

int64_t xiokv_device_nsid(struct xiokv_device *device) {
  uint32_t nsid = 0;
  const int code = guarded([&] {
    nsid = OpenDevices::find(device)->nsid();
    return XIOKV_E_OK;
  });
  return code == XIOKV_E_OK ? int64_t{nsid} : code;
}

int xiokv_device_admin(struct xiokv_device *device, const uint8_t *sqe,
                       uint32_t data_size, uint8_t *cqe) {
  return guarded([&] {
    need(sqe, "sqe");
    need(cqe, "cqe");
    OpenDevices::find(device)->admin(sqe, data_size, cqe);
    return XIOKV_E_OK;
  });
}

int xiokv_device_count(struct xiokv_device *device,
                       struct xiokv_device_counters *counters) {
  return guarded([&] {
    need(counters, "counters");
    *counters = OpenDevices::find(device)->counters();
    return XIOKV_E_OK;
  });
}

int xiokv_device_reset(struct xiokv_device *device) {
  return guarded([&] {
    OpenDevices::find(device)->reset();
    return XIOKV_E_OK;
  });
}

int xiokv_device_stop(struct xiokv_device *device) {
  return guarded([&] {
    OpenDevices::find(device)->stop();
    return XIOKV_E_OK;
  });
}

int xiokv_device_close(struct xiokv_device *device) {
  return guarded([&] {
    if (OpenDevices::find(device)->in_use())
      refuse(XIOKV_E_BUSY, "the device has queue pairs: detach what is "
                           "attached to it first");
    OpenDevices::take(device);
    return XIOKV_E_OK;
  });
}

int xiokv_attach_device(struct xiokv_module *module, const char *path,
                        const struct xiokv_device_config *device_config,
                        const struct xiokv_attach_config *config,
                        struct xiokv_ctx **ctx) {
  return guarded([&] {
    xiokv_device *const device =
        OpenDevices::add(opened_device(path, device_config));
    const std::shared_ptr<void> closes(
        device, [](void *opened) { close_device(opened); });
    const xiokv_controller controller = controller_of(device);
    return attach_owning(module, &controller, config, closes, ctx);
  });
}
