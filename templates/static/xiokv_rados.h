// SPDX-License-Identifier: MIT
/// @file
/// @brief Values of an embedded controller in a Ceph cluster: one RADOS object
/// each, named by the key's bytes in lower-case hex.
///
/// Of the library libxiokv_rados, which needs librados and goes with a libxiokv
/// of the same version.
#pragma once

#include "xiokv_emulator.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// @brief Bits of xiokv_rados_config.flags.
enum xiokv_rados_flags {
  /// Store and Delete get status 20h, Namespace is Write Protected.
  XIOKV_RADOS_READ_ONLY = 1 << 0,
};

/// @brief Where values are, and as whom. NULL stands for the default named.
struct xiokv_rados_config {
  uint32_t
      struct_size; ///< sizeof(struct xiokv_rados_config); another: refused.
  uint32_t flags;  ///< enum xiokv_rados_flags.
  /// Milliseconds after which a command that the cluster has not answered gets
  /// status 82h, Namespace Not Ready; 1 or more. Queues on the controller are
  /// to be given up later: see xiokv_attach_config.timeout_ns.
  uint32_t timeout_ms;
  uint32_t connect_timeout_ms; ///< To reach a monitor; 1 or more.
  const char *pool;            ///< Its name; there is no default.
  const char *name_space;      ///< RADOS namespace; the pool's unnamed one.
  const char *user;            ///< Such as client.admin, which is the default.
  const char *cluster;         ///< Name of the cluster; ceph.
  /// Path of ceph.conf; by default it is looked for where every client looks.
  const char *conf;
  const char *keyring; ///< Path; by default as the configuration says.
};

/// @brief Connect to the cluster, and open a store on a pool of it.
///
/// What CEPH_ARGS says goes above the configuration file, and what is said here
/// above both.
/// @param error Where the reason of a refusal goes, as one line; may be NULL.
/// @return The store, or NULL.
xiokv_emu_store *xiokv_rados_open(const struct xiokv_rados_config *config,
                                  char *error, size_t error_size);

/// @brief A store that is being opened.
typedef struct xiokv_rados_opening xiokv_rados_opening;

/// @brief Begin to open a store, as xiokv_rados_open() does, on a thread of its
/// own: for whoever cannot wait as long as the cluster may take.
/// @param error As of xiokv_rados_open().
/// @return What xiokv_rados_end() or xiokv_rados_give_up() ends, or NULL.
xiokv_rados_opening *xiokv_rados_begin(const struct xiokv_rados_config *config,
                                       char *error, size_t error_size);

/// @brief Wait for a store that is being opened.
/// @param milliseconds The longest wait; 0: look only.
/// @return 1 where the store is open or the attempt has failed, else 0.
int xiokv_rados_wait(xiokv_rados_opening *opening, uint32_t milliseconds);

/// @brief Take a store that was opened; wait until it is.
/// @param error As of xiokv_rados_open().
/// @return The store, or NULL.
xiokv_emu_store *xiokv_rados_end(xiokv_rados_opening *opening, char *error,
                                 size_t error_size);

/// @brief In place of xiokv_rados_end(): open no store, and return at once.
///
/// An attempt that is under way ends by its own connect_timeout_ms, and leaves
/// nothing; exit() waits for that.
void xiokv_rados_give_up(xiokv_rados_opening *opening);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
