// SPDX-License-Identifier: MIT
#include "module.h"

#include <cinttypes>

#include "fault.h"
#include "xiokv/kv_abi_hash.h"

namespace xiokv::host {

namespace {

/// Read, with who named the place in what is said of it.
Description described(const Found &found) {
  try {
    return read_description(found.place);
  } catch (Fault &fault) {
    fault.text += "\nfound by " + found.source + ": " + found.place;
    throw;
  }
}

} // namespace

Module::Module(Found found)
    : found_(std::move(found)), description_(described(found_)),
      library_(description_.file) {
  check_inside();
}

xiokv_entry Module::kernel(uint32_t opcode) const {
  const auto command = description_.commands.find(opcode);
  if (command == description_.commands.end())
    refuse(XIOKV_E_OPCODE, "opcode %02xh: %s has no kernel for it", opcode,
           description_.file.c_str());
  return reinterpret_cast<xiokv_entry>(
      library_.symbol(command->second.kernel.c_str()));
}

xiokv_reserved Module::fields(uint32_t opcode) const {
  const auto command = description_.commands.find(opcode);
  return command == description_.commands.end() ? xiokv_reserved{}
                                                : command->second.fields;
}

std::string Module::told() const {
  return description_.file + ": " + description_.built() + ", found by " +
         found_.source;
}

/// Compare what the module itself carries with this library and with its
/// description.
void Module::check_inside() const {
  const auto have = [&](const char *symbol) {
    void *const found = library_.symbol(symbol);
    if (found == nullptr)
      refuse(XIOKV_E_MODULE,
             "%s lacks %s; run xiokv-gen build --target host to make it anew",
             description_.file.c_str(), symbol);
    return found;
  };
  const auto *const abi =
      static_cast<const uint64_t *>(have("xiokv_module_abi"));
  const std::string spec = static_cast<const char *>(have("xiokv_module_spec"));
  for (const auto &[opcode, command] : description_.commands)
    have(command.kernel.c_str());
  if (abi[0] != XIOKV_ABI_VERSION || abi[1] != xiokv_abi_hash())
    refuse(XIOKV_E_MODULE,
           "%s has ABI version %" PRIu64 " with layout %016" PRIx64
           ", this library %u with %016" PRIx64
           "; run xiokv-gen build --target host with xiokv " XIOKV_GENERATOR
           "\nbuilt: %s",
           description_.file.c_str(), abi[0], abi[1], XIOKV_ABI_VERSION,
           xiokv_abi_hash(), description_.built().c_str());
  if (spec != description_.spec)
    refuse(XIOKV_E_MODULE,
           "%s holds spec %.12s, its description says %.12s; run xiokv-gen "
           "build --target host",
           description_.file.c_str(), spec.c_str(), description_.spec.c_str());
}

} // namespace xiokv::host
