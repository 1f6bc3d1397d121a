// SPDX-License-Identifier: MIT
/// @file
/// @brief Finds keys whose objects have the same place in a cluster's order.
///
/// Usage: colliding CONF POOL NAMESPACE COUNT. Prints COUNT lines, each with
/// the hex of two keys of 4 bytes.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include <rados/librados.hpp>

int main(int argc, char **argv) {
  librados::Rados rados;
  librados::IoCtx objects;
  if (argc != 5 || rados.init("admin") < 0 ||
      rados.conf_read_file(argv[1]) < 0 || rados.connect() < 0 ||
      rados.ioctx_create(argv[2], objects) < 0)
    return 1;
  objects.set_namespace(argv[3]);
  std::unordered_map<uint32_t, uint32_t> seen;
  int left = std::atoi(argv[4]);
  for (uint32_t key = 0; left != 0; ++key) {
    char name[9];
    std::snprintf(name, sizeof name, "%08x", key);
    uint32_t hash = 0;
    if (objects.get_object_hash_position2(name, &hash) < 0)
      return 1;
    const auto [other, is_new] = seen.emplace(hash, key);
    if (is_new)
      continue;
    std::printf("%08x %s\n", other->second, name);
    --left;
  }
}
