// SPDX-License-Identifier: MIT
/// @file
/// @brief Key-value namespaces from C: the library libxiokv.
///
/// Unless stated, a call returns XIOKV_E_OK or a negative code, of which
/// xiokv_last_error() tells more, and may be made from any thread at any time.
/// A handle, such as a struct xiokv_stream *, is opaque and never used again:
/// a call with one that was closed returns XIOKV_E_HANDLE. In a child of fork
/// the handles of its parent, save libraries and modules, give XIOKV_E_FORKED.
/// Functions of the caller that the library calls must not throw. Structures
/// that begin with struct_size are filled in from zero, with their own size
/// there; a member that is 0 stands for the default that is named. Times are
/// nanoseconds, sizes bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "xiokv/host_streams.h"
#include "xiokv/kv_abi.h"
#include "xiokv/kv_types.h"
#include "xiokv/nvme_kv.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// @name Modules: the compiled kernels of a project.
/// @{

struct xiokv_module;

/// @brief Find the host module, check it and load it.
///
/// It has to be whole (SHA-256), for this machine's processor, of this
/// library's ABI, and of the spec that its description says.
/// @param place Its folder, its file or its module.json. With NULL the first
/// of these that is there: $XIOKV_MODULE, what was installed beside this
/// library, the compile folder of the nearest xiokv.toml, the user's cache. A
/// program that runs with more rights than those who write where it runs names
/// the place.
/// @param module Gets a handle, for xiokv_unload.
/// @return XIOKV_E_MISSING where there is none, XIOKV_E_MODULE where it cannot
/// be used.
int xiokv_load(const char *place, struct xiokv_module **module);

/// @brief Write into `text` a line that says which module it is: its file, who
/// made it, and where it was found.
/// @param text May be NULL where `size` is 0; cut off where it does not fit.
/// @return Bytes of the whole line, without its NUL, or a negative code.
int xiokv_module_describe(struct xiokv_module *module, char *text, size_t size);

/// @brief Give a module up; what is attached keeps it.
int xiokv_unload(struct xiokv_module *module);

/// @}
/// @name Controllers: where values are.
/// @{

/// @brief What a controller and one of its namespaces allow.
struct xiokv_controller_limits {
  uint32_t struct_size;  ///< sizeof(struct xiokv_controller_limits).
  uint32_t key_max;      ///< Longest key, 1..16.
  uint64_t value_max;    ///< Largest value.
  uint64_t transfer_max; ///< Largest transfer of a command (MDTS); 0: any.
  uint32_t entries_max;  ///< Entries of a queue (MQES + 1), 2..65536.
  uint32_t queues_max;   ///< I/O queue pairs.
  uint32_t page_bytes;   ///< PRP page size (CC.MPS); 4096 is supported.
  uint32_t reserved;     ///< 0.
};

/// @brief Rings for a queue pair to be created, in zeroed, page-aligned memory
/// of this process.
struct xiokv_rings {
  uint64_t sq;       ///< Address of the submission ring, 64 bytes an entry.
  uint64_t cq;       ///< Address of the completion ring, 16 bytes an entry.
  uint32_t sq_depth; ///< Entries.
  uint32_t cq_depth; ///< Entries.
};

/// @brief A queue pair that a controller has taken up.
struct xiokv_created {
  uint32_t *sq_doorbell; ///< SQ tail doorbell, stored to with 32 bits.
  uint32_t *cq_doorbell; ///< CQ head doorbell.
  uint32_t qid;          ///< Its number, which completions name as SQID.
  uint32_t reserved;     ///< 0.
};

/// @brief A controller, as the caller or this library provides it.
///
/// Addresses in its rings are those of this process. Functions return 0 or a
/// negative code with a reason in `why`, a text of at most `why_size` bytes
/// with its NUL; they may be called from any thread.
struct xiokv_controller {
  uint32_t struct_size; ///< sizeof(struct xiokv_controller).
  uint32_t reserved;    ///< 0.
  void *context;        ///< First argument of each function.
  /// Tell what is allowed; refuse a namespace that is not key-value.
  int (*limits)(void *context, uint32_t nsid,
                struct xiokv_controller_limits *limits, char *why,
                size_t why_size);
  /// Take up a queue pair on numbers that are free.
  int (*create_queue)(void *context, const struct xiokv_rings *rings,
                      struct xiokv_created *created, char *why,
                      size_t why_size);
  /// Delete a queue pair: on return 0 the controller touches none of its
  /// memory, nor that of any value of its commands.
  int (*delete_queue)(void *context, uint32_t qid, char *why, size_t why_size);
};

/// @}
/// @name Devices: key-value namespaces, by the Linux NVMe driver's passthrough.
/// @{

struct xiokv_device;

/// @brief As ioctl(2), in whose place it is called in tests.
typedef int (*xiokv_ioctl)(int fd, unsigned long request, void *argument);

/// @brief How a device is used.
struct xiokv_device_config {
  uint32_t struct_size;        ///< sizeof(struct xiokv_device_config).
  uint32_t threads;            ///< Commands in flight, 1..1024; 32.
  uint32_t queues;             ///< Most queue pairs, 1..1024; 16.
  uint32_t command_timeout_ms; ///< The driver aborts a command after so many
                               ///< milliseconds; what the system has (30 s).
  xiokv_ioctl ioctl;           ///< For tests; ioctl(2).
  const char *mounts;          ///< For tests: a file that names what is in use;
                               ///< /proc/self/mounts and /proc/swaps.
};

/// @brief What went through a device since it was opened.
struct xiokv_device_counters {
  uint64_t commands;    ///< Entries fetched.
  uint64_t completions; ///< Completions posted.
  uint64_t failures;    ///< Calls that the system refused, whose commands end
                        ///< in SCT 0, SC 06h.
  int32_t last_errno;   ///< Of the last of them, or 0.
  uint32_t reserved;    ///< 0.
};

/// @brief Open a key-value namespace.
/// @param path Its character device, such as /dev/ng0n1.
/// @param config NULL: all defaults.
/// @param device Gets a handle, for xiokv_device_close.
/// @return XIOKV_E_MISSING where there is no such file, XIOKV_E_DEVICE where it
/// holds blocks, is mounted, is no namespace or may not be opened.
int xiokv_device_open(const char *path,
                      const struct xiokv_device_config *config,
                      struct xiokv_device **device);

/// @brief Its controller, whose one namespace is NSID 1, or its own number. It
/// is to be used while the device is open.
int xiokv_device_controller(struct xiokv_device *device,
                            struct xiokv_controller *controller);

/// @brief NSID of the namespace on its device, or a negative code.
int64_t xiokv_device_nsid(struct xiokv_device *device);

/// @brief Carry out an admin command.
/// @param sqe Its entry, 64 bytes; PRP1 is the address of the data.
/// @param data_size Bytes of data.
/// @param cqe Gets DW0 and the status, 16 bytes.
/// @return XIOKV_E_DEVICE where the system does not pass it on, or the device
/// was stopped.
int xiokv_device_admin(struct xiokv_device *device, const uint8_t *sqe,
                       uint32_t data_size, uint8_t *cqe);

/// @brief Read the totals.
int xiokv_device_count(struct xiokv_device *device,
                       struct xiokv_device_counters *counters);

/// @brief Take all queue pairs away, once the driver has done their commands.
/// What is attached to them has to xiokv_confirm_deleted.
int xiokv_device_reset(struct xiokv_device *device);

/// @brief The same, and end the threads and close the file; twice is once.
/// Doorbells stay until xiokv_device_close, for those who still write them.
int xiokv_device_stop(struct xiokv_device *device);

/// @brief Close a device.
/// @return XIOKV_E_BUSY, and it stays open, while it has queue pairs.
int xiokv_device_close(struct xiokv_device *device);

/// @}
/// @name Contexts: queues on a controller, and the module that drives them.
/// @{

struct xiokv_ctx;

/// @brief How a context is attached.
struct xiokv_attach_config {
  uint32_t struct_size; ///< sizeof(struct xiokv_attach_config).
  uint32_t nsid;        ///< The namespace; 1.
  uint32_t queues;      ///< Queue pairs, over which a batch is spread; 1.
  uint32_t depth;       ///< Entries of each ring; 1024, or as many as go.
  uint32_t window;   ///< Most commands in flight a queue; 1023, or depth - 1.
  uint32_t reserved; ///< 0.
  uint64_t max_transfer; ///< Largest buffer of one command; what the limits and
                         ///< 256 MiB of PRP lists a queue allow.
  /// Time without any completion after which a queue is given up; 5 s. It is to
  /// be more than the time after which the controller ends a command itself,
  /// such as xiokv_rados_config.timeout_ms of the store below it.
  uint64_t timeout_ns;
};

/// @brief Create queues on a controller.
/// @param controller Copied; what it refers to stays until xiokv_detach.
/// @param config NULL: all defaults.
/// @param ctx Gets a handle, for xiokv_detach.
/// @return XIOKV_E_ARGUMENT where the limits do not allow it,
/// XIOKV_E_CONTROLLER where the controller refuses.
int xiokv_attach(struct xiokv_module *module,
                 const struct xiokv_controller *controller,
                 const struct xiokv_attach_config *config,
                 struct xiokv_ctx **ctx);

/// @brief Open a device and attach to it; xiokv_detach closes both.
/// @param path As for xiokv_device_open.
int xiokv_attach_device(struct xiokv_module *module, const char *path,
                        const struct xiokv_device_config *device_config,
                        const struct xiokv_attach_config *config,
                        struct xiokv_ctx **ctx);

/// @brief What controller and namespace allow, with the transfer that the
/// context takes.
int xiokv_limits_of(struct xiokv_ctx *ctx,
                    struct xiokv_controller_limits *limits);

/// @brief Counters of all queues of a context, summed up.
int xiokv_count(struct xiokv_ctx *ctx, struct xiokv_queue_report *report);

/// @brief Wait until no batch runs.
int xiokv_quiesce(struct xiokv_ctx *ctx);

/// @brief Wait for all batches and replace the queues by new ones. Buffers of
/// keys that timed out are the caller's again when it returns XIOKV_E_OK.
int xiokv_reset(struct xiokv_ctx *ctx);

/// @brief Say that the controller was reset and has none of the queues any
/// more; then xiokv_reset or xiokv_detach.
int xiokv_confirm_deleted(struct xiokv_ctx *ctx);

/// @brief Wait for all batches, delete the queues and free the context.
///
/// Handles of its batches stay good for their results.
/// @return XIOKV_E_CONTROLLER where the controller does not delete a queue:
/// then the context stays, since its memory may still be written, and a later
/// call tries again.
int xiokv_detach(struct xiokv_ctx *ctx);

/// @}
/// @name Commands on keys.
///
/// The batches of a context run one after the other, whatever their threads
/// and streams. Arguments are checked before anything is submitted. Each key
/// has a result of its own, and one key's error does not stop the others. After
/// XIOKV_OUTCOME_TIMEOUT the key's buffer may still be read or written, until
/// xiokv_reset or xiokv_detach returned XIOKV_E_OK.
/// @{

/// @brief One command for many keys. What it points to is read before the call
/// returns, save the values.
struct xiokv_request {
  uint32_t struct_size; ///< sizeof(struct xiokv_request).
  uint32_t options;     ///< enum xiokv_store_option or xiokv_retrieve_option.
  const struct xiokv_key *keys; ///< Keys of 1..16 bytes; bytes past a length do
                                ///< not count. Of equal ones a Store keeps one
                                ///< value.
  size_t count;                 ///< Keys; 0 does nothing and succeeds.
  void *buffer;       ///< Values of Store and Retrieve; a Store only reads it.
                      ///< It begins at a multiple of 4.
  size_t buffer_size; ///< Its bytes.
  size_t stride;      ///< Value i begins at i * stride, a multiple of 4;
                      ///< buffer_size / count, where that leaves nothing.
  const uint64_t *offsets; ///< Or it begins at offsets[i], multiples of 4, and
                           ///< slots of a Retrieve do not overlap; NULL.
  const uint32_t *sizes;   ///< Size of value i, or of the slot that it fills;
                           ///< NULL: all have `size`.
  size_t size; ///< Size of all values; the stride. Values of 0 bytes
               ///< have sizes.
  struct xiokv_stream *stream; ///< Where to run it; in the calling thread, or
                               ///< for xiokv_start in one of the context.
  uint64_t timeout_ns;         ///< As of xiokv_attach_config; as attached.
  struct xiokv_reserved semantic; ///< Bits for the places of the profile's
                                  ///< fields, in place in their dwords; 0.
};

/// @brief Store values. Options: enum xiokv_store_option.
/// @param results Gets one a key; or NULL.
/// @return How many keys have another outcome than XIOKV_OUTCOME_OK, or a
/// negative code, with which nothing was submitted, or nothing was run.
int xiokv_store(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                struct xiokv_result *results);

/// @brief Retrieve values into slots. A value that is larger than its slot
/// fills it, and is XIOKV_OUTCOME_TRUNCATED with its whole size; bytes of a
/// slot past the value stay as they were. Options: enum xiokv_retrieve_option.
int xiokv_retrieve(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                   struct xiokv_result *results);

/// @brief Ask which keys are there; no buffer, no options.
int xiokv_exist(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                struct xiokv_result *results);

/// @brief Delete keys; whether one that is not there is XIOKV_OUTCOME_OK or
/// XIOKV_OUTCOME_MISSING is the device's. No buffer, no options.
int xiokv_delete(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                 struct xiokv_result *results);

/// @brief Takes a key of a List.
/// @return 0; any other number ends the List.
typedef int (*xiokv_each)(void *argument, const struct xiokv_key *key);

/// @brief Call `each` with every key, in the order of the device, each once.
/// It may make calls on the context.
/// @param start The key to begin at; NULL: the first.
/// @return 0, what `each` ended it with, or a negative code.
int xiokv_list(struct xiokv_ctx *ctx, const struct xiokv_key *start,
               xiokv_each each, void *argument);

struct xiokv_handle;

/// @brief Start a command, and return at once.
/// @param opcode XIOKV_OPC_STORE, _RETRIEVE, _EXIST or _DELETE.
/// @param handle Gets a handle, for xiokv_handle_free.
int xiokv_start(struct xiokv_ctx *ctx, uint32_t opcode,
                const struct xiokv_request *request,
                struct xiokv_handle **handle);

/// @brief Wait for the end of a command.
/// @param timeout_ns Nanoseconds at most; negative: no limit.
/// @param results Gets one a key, where it ended; or NULL.
/// @param count Room in `results`: that of the keys.
/// @return As xiokv_store; XIOKV_E_TIMEOUT while it runs, XIOKV_E_STREAM where
/// it was not run.
int xiokv_handle_wait(struct xiokv_handle *handle, int64_t timeout_ns,
                      struct xiokv_result *results, size_t count);

/// @brief Whether it has ended: 1 or 0, or a negative code.
int xiokv_handle_done(struct xiokv_handle *handle);

/// @brief Submit no more keys, which become XIOKV_OUTCOME_CANCELLED; those in
/// flight complete.
int xiokv_handle_cancel(struct xiokv_handle *handle);

/// @brief Give a handle up; the command goes on.
int xiokv_handle_free(struct xiokv_handle *handle);

/// @}
/// @name Batched retrieve, by the calling thread's current context.
/// @{

/// @brief Let xio_batched_kv_retrieve of this thread use a context.
/// @param ctx NULL: none.
/// @param block_bytes Bytes of a block, a multiple of 4.
int xiokv_make_current(struct xiokv_ctx *ctx, size_t block_bytes);

/// @brief Retrieve n blocks: that of key i to gpu_buffer + i * block_bytes.
/// @param gpu_buffer For the host target, memory of the host.
/// @param stream A struct xiokv_stream *, in which it runs when the call has
/// returned; NULL: it has ended when the call returns.
/// @return XIOKV_E_OK; the results are for xiokv_wait.
int xio_batched_kv_retrieve(const struct xiokv_key *block_keys, size_t n,
                            void *gpu_buffer, void *stream);

/// @brief Take the results of the next n keys that this thread gave to
/// xio_batched_kv_retrieve with a context, in their order; wait for them.
/// @param results Gets n; NULL: they are dropped.
/// @return As xiokv_store; XIOKV_E_ARGUMENT, and nothing is taken, where fewer
/// than n are to come; XIOKV_E_STREAM where some were not run, which are
/// XIOKV_OUTCOME_CANCELLED then.
int xiokv_wait(struct xiokv_ctx *ctx, struct xiokv_result *results, size_t n);

/// @}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
