// SPDX-License-Identifier: MIT
#include "config.h"

#include <cstdlib>
#include <sstream>

namespace standin {
namespace {

std::string text(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value ? value : otherwise;
}

uint64_t number(const char *name, const char *otherwise) {
  return std::strtoull(text(name, otherwise).c_str(), nullptr, 0);
}

constexpr const char *gib16 = "0x400000000";

Config read() {
  Config read;
  read.architecture = text("STANDIN_HIP_ARCH", "gfx942:sramecc+:xnack-");
  read.devices = static_cast<int>(number("STANDIN_HIP_DEVICES", "1"));
  read.large_bar = number("STANDIN_HIP_LARGE_BAR", "1") != 0;
  read.device_bytes = number("STANDIN_HIP_MEMORY", gib16);
  read.pinned_bytes = number("STANDIN_HIP_PINNED", gib16);
  read.two_addresses = number("STANDIN_HIP_TWO_ADDRESSES", "0") != 0;
  read.weak = number("STANDIN_HIP_WEAK", "0") != 0;
  read.seed = number("STANDIN_HIP_SEED", "1");
  read.instructions = number("STANDIN_HIP_INSTRUCTIONS", "0");
  read.known_only = number("STANDIN_HIP_KNOWN_ONLY", "0") != 0;
  read.log = text("STANDIN_HIP_LOG", "");
  return read;
}

} // namespace

const Config &config() {
  static const Config &read_once = *new Config(read());
  return read_once;
}

std::string processor(const std::string &architecture) {
  return architecture.substr(0, architecture.find(':'));
}

bool runs_on(const std::string &object, const std::string &device) {
  if (processor(object) != processor(device))
    return false;
  const std::string settings = device + ":";
  std::istringstream features(object);
  std::string feature;
  std::getline(features, feature, ':'); // the processor
  while (std::getline(features, feature, ':')) {
    if (settings.find(":" + feature + ":") == std::string::npos)
      return false;
  }
  return true;
}

} // namespace standin
