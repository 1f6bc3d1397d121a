/* SPDX-License-Identifier: MIT
 *
 * A small stand-in for the upstream header of this name, written for the tests.
 */
#ifndef SPDK_NVME_KV_H
#define SPDK_NVME_KV_H

#include "spdk/stdinc.h"
#include "spdk/nvme.h"

/* Lengths of a key, in bytes. */
#define SPDK_NVME_KV_KEY_MIN_LEN 1
#define SPDK_NVME_KV_KEY_MAX_LEN (SPDK_NVME_KV_KEY_MIN_LEN << 4)

/* Prototypes may name types of headers that are not there. */
const struct spdk_nvme_kv_ns_data *spdk_nvme_kv_ns_get_data(const struct spdk_nvme_ns *ns);

int spdk_nvme_kv_delete(struct spdk_nvme_ns *ns, struct spdk_nvme_qpair *qpair,
			const void *key, uint8_t key_length,
			spdk_nvme_cmd_cb done, void *context);

#endif /* SPDK_NVME_KV_H */
