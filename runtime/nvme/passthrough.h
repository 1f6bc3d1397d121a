// SPDX-License-Identifier: MIT
/// @file
/// @brief A controller whose commands the Linux NVMe driver carries out: queue
/// pairs in this process's memory in front of NVME_IOCTL_IO64_CMD.
///
/// A thread follows the doorbells and hands entries to others, each of which
/// waits for one command at a time; completions come as commands end.
/// Addresses in entries are those of this process. All functions may be called
/// from any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @brief Threads at most: commands in flight at the device.
#define XIOKV_PASS_THREADS_MAX 1024u

/// @brief Queue pairs at most.
#define XIOKV_PASS_QUEUES_MAX 1024u

/// @brief As ioctl(2): what is tested in its place.
typedef int (*xiokv_pass_ioctl)(int fd, unsigned long request, void *argument);

/// @brief What a controller is made from.
struct xiokv_pass_config {
  uint32_t struct_size;   ///< sizeof(struct xiokv_pass_config).
  int32_t fd;             ///< The namespace's character device; stays open.
  uint32_t nsid;          ///< Its NSID there. Entries may also name 1.
  uint32_t threads;       ///< 1 to XIOKV_PASS_THREADS_MAX.
  uint32_t queues;        ///< Queue pairs, 1 to XIOKV_PASS_QUEUES_MAX.
  uint32_t timeout_ms;    ///< Of each command; 0: the driver's own.
  xiokv_pass_ioctl ioctl; ///< NULL: ioctl(2).
};

/// @brief Totals since the controller was made.
struct xiokv_pass_counters {
  uint64_t commands;    ///< Entries fetched.
  uint64_t completions; ///< Completions posted.
  uint64_t failures;    ///< Calls that the system refused.
  int32_t last_errno;   ///< Of the last of them, or 0.
  uint32_t reserved;    ///< 0.
};

/// @brief A queue pair to create, in zeroed memory.
struct xiokv_pass_queue {
  uint64_t sq; ///< Address of the submission ring.
  uint64_t cq; ///< Address of the completion ring.
  uint32_t qid;
  uint32_t sq_depth;
  uint32_t cq_depth;
  uint32_t reserved; ///< 0.
};

struct xiokv_pass;

/// @brief Make a controller; its threads run from then on.
/// @param error Gets what is wrong, if anything.
/// @return NULL where something is.
struct xiokv_pass *xiokv_pass_create(const struct xiokv_pass_config *config,
                                     char *error, size_t error_bytes);

/// @brief Delete all queue pairs, wait for the commands that the driver has,
/// and end the threads; twice is once. The doorbells stay.
void xiokv_pass_stop(struct xiokv_pass *pass);

/// @brief Stop, then free everything.
void xiokv_pass_destroy(struct xiokv_pass *pass);

/// @brief Address of the doorbells: SQ tail and CQ head of queue pair 0, then
/// of 1, a line of 64 bytes each.
uint64_t xiokv_pass_doorbells(const struct xiokv_pass *pass);

/// @brief Bytes of all doorbells.
uint64_t xiokv_pass_doorbells_size(const struct xiokv_pass *pass);

/// @brief Create a queue pair; its doorbells become 0.
/// @return 0, or -1 where the number is taken or none of 1 to `queues`, a depth
/// is not 2 to 65536, or the controller was stopped.
int xiokv_pass_create_queue(struct xiokv_pass *pass,
                            const struct xiokv_pass_queue *queue);

/// @brief Delete a queue pair: fetch no more, and wait for the commands that
/// the driver has.
/// @return 0, or -1 where there is no such queue pair.
int xiokv_pass_delete_queue(struct xiokv_pass *pass, uint32_t qid);

/// @brief Carry out an admin command; the device may move no other data than
/// the caller says.
/// @param sqe Its entry; PRP1 is the address of the data.
/// @param data_len Bytes of data.
/// @param cqe Gets DW0 and the status.
/// @return 0, or the errno with which the system refused the call.
int xiokv_pass_admin(struct xiokv_pass *pass, const uint8_t sqe[64],
                     uint32_t data_len, uint8_t cqe[16]);

void xiokv_pass_counters(struct xiokv_pass *pass,
                         struct xiokv_pass_counters *counters);

#ifdef __cplusplus
}
#endif
