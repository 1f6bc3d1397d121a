// SPDX-License-Identifier: MIT
/// @file
/// @brief Calls about modules, and launches.
#include "config.h"
#include "runtime.h"

using namespace standin;

namespace {

void forget(hipModule_t handle) {
  const std::shared_ptr<Module> module = runtime().modules.take(handle);
  for (const auto &function : runtime().functions.all()) {
    if (function->module == module)
      runtime().functions.take(reinterpret_cast<hipFunction_t>(function.get()));
  }
}

hipFunction_t find_function(hipModule_t handle, const char *name) {
  const std::shared_ptr<Module> module = runtime().modules.get(handle);
  void *code = nullptr;
  uint64_t bytes = 0;
  require(amdgpu_symbol(module->image, name, &code, &bytes) == 0,
          hipErrorNotFound);
  return runtime().functions.add(
      std::make_shared<Function>(Function{module, name}));
}

void find_global(void **address, size_t *bytes, hipModule_t handle,
                 const char *name) {
  const std::shared_ptr<Module> module = runtime().modules.get(handle);
  void *found = nullptr;
  uint64_t size = 0;
  require(amdgpu_symbol(module->image, name, &found, &size) == 0,
          hipErrorNotFound);
  if (address)
    *address = found;
  if (bytes)
    *bytes = size;
}

void check_shape(const Launch &launch) {
  uint64_t lanes = 1;
  for (int axis = 0; axis < 3; ++axis) {
    require(launch.groups[axis] > 0, hipErrorInvalidConfiguration);
    lanes *= launch.lanes[axis];
  }
  require(lanes > 0 && lanes <= lanes_most, hipErrorInvalidConfiguration);
}

void submit(Launch launch, hipStream_t stream) {
  check_shape(launch);
  const std::shared_ptr<Stream> target = runtime().stream(stream);
  require(target->device == launch.module->device, hipErrorInvalidHandle);
  const hipError_t ended = target->last()->query();
  require(ended == hipSuccess || ended == hipErrorNotReady, ended);
  runtime().submit(stream, [launch] { return execute(launch); });
}

} // namespace

STANDIN_API hipModuleLoadData(hipModule_t *module, const void *image) {
  return call("hipModuleLoadData", [=] {
    require(image != nullptr, hipErrorInvalidValue);
    *module = runtime().modules.add(
        std::make_shared<Module>(image, current_device()));
  });
}

STANDIN_API hipModuleUnload(hipModule_t module) {
  return call("hipModuleUnload", [=] { forget(module); }, module);
}

STANDIN_API hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                 const char *name) {
  return call(
      "hipModuleGetFunction", [=] { *function = find_function(module, name); },
      name);
}

STANDIN_API hipModuleGetGlobal(void **address, size_t *bytes,
                               hipModule_t module, const char *name) {
  return call(
      "hipModuleGetGlobal", [=] { find_global(address, bytes, module, name); },
      name);
}

STANDIN_API hipModuleLaunchKernel(hipFunction_t handle, unsigned groups_x,
                                  unsigned groups_y, unsigned groups_z,
                                  unsigned lanes_x, unsigned lanes_y,
                                  unsigned lanes_z, unsigned shared_bytes,
                                  hipStream_t stream, void **arguments,
                                  void **extra) {
  return call(
      "hipModuleLaunchKernel",
      [=] {
        const auto function = runtime().functions.get(handle);
        submit({function->module,
                function->name,
                {groups_x, groups_y, groups_z},
                {lanes_x, lanes_y, lanes_z},
                shared_bytes,
                pack(*function, arguments, extra)},
               stream);
      },
      handle, groups_x, lanes_x, stream);
}
