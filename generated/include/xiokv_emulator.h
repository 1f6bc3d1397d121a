// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief An NVMe controller for key-value namespaces, in software.
///
/// A host reaches it as it reaches a device: rings in memory, doorbells in
/// BAR 0, admin commands. One namespace, NSID 1. Unless a DMA hook is set, an
/// IOVA is an address of this process.
///
/// Either worker threads serve the queues (xiokv_emu_start), or the caller does
/// so by small steps (xiokv_emu_step), which the seed makes repeatable. Every
/// function may be called from any thread at any time, save create and destroy.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// @brief A controller.
typedef struct xiokv_emu xiokv_emu;

/// @brief Where values are that outlive a controller, such as a Ceph pool; a
/// library of its own opens one.
typedef struct xiokv_emu_store xiokv_emu_store;

/// @brief Bits of xiokv_emu_config.flags.
enum xiokv_emu_flags {
  XIOKV_EMU_STRICT = 1 << 0,      ///< Non-zero reserved bits: status 02h.
  XIOKV_EMU_HASHED_LIST = 1 << 1, ///< List goes by a hash; else by key bytes.
  XIOKV_EMU_WRAP_LIST = 1 << 2,   ///< List goes on from the first key.
  XIOKV_EMU_DELETE_MISSING_FAILS = 1 << 3, ///< Feature 20h is 1 at first.
  XIOKV_EMU_SCT1 = 1 << 4,                 ///< 81h..89h come with SCT 1, not 0.
  XIOKV_EMU_STORE_RETURNS_SIZE = 1 << 5,   ///< Store's DW0 is the value size.
  /// Complete every command at once with success: no look-up, no data. DW0 of
  /// a Retrieve is the size of the host's buffer.
  XIOKV_EMU_NULL = 1 << 6,
  /// With XIOKV_EMU_NULL: DW0 of a Retrieve counts up, at most value_max.
  XIOKV_EMU_DISTINCT_DW0 = 1 << 7,
  /// In steps: DW0..DW2 of a completion in one step, DW3 in a later one.
  XIOKV_EMU_SPLIT_CQE = 1 << 8,
  /// Each worker thread has a core of its own, on which it polls without rest.
  XIOKV_EMU_PINNED = 1 << 9,
  XIOKV_EMU_EXEC = 1 << 10, ///< Opcode 83h is the vendor command Exec.
  /// With XIOKV_EMU_EXEC: its CDW10 is the length of the input, not of all that
  /// the host sends.
  XIOKV_EMU_EXEC_INPUT_LENGTH = 1 << 11,
};

/// @brief Most worker threads.
#define XIOKV_EMU_THREADS_MAX 64

/// @brief What a controller is made with; 0 stands for the default named.
struct xiokv_emu_config {
  uint32_t struct_size; ///< sizeof(struct xiokv_emu_config); another: refused.
  uint32_t queues;      ///< Most I/O queue pairs, 1..65534; 64.
  uint32_t mqes;        ///< Most entries of a queue less 1, 1..65535; 65535.
  uint32_t mdts;        ///< Largest transfer: 4096 << mdts bytes; no limit.
  uint32_t dstrd;       ///< Doorbells are 4 << dstrd bytes apart, 0..15; 0.
  uint32_t key_max;     ///< Longest key in bytes, 1..255 (over 16 never); 16.
  uint32_t value_max;   ///< Largest value; 32 MiB. A store may lower it.
  uint32_t max_keys;    ///< Most keys; no limit.
  uint64_t capacity;    ///< Most bytes of values (only counted); 1 TiB.
  uint32_t active_format; ///< Index 0..15 of the format in force; 0. Formats
                          ///< below it have other limits.
  uint32_t flags;         ///< enum xiokv_emu_flags.
  uint32_t threads;       ///< Worker threads, 1..64; 1.
  uint32_t reserved;      ///< 0.
  uint64_t seed;          ///< Of faults and of the order of steps.
  /// With XIOKV_EMU_PINNED: the core of each worker thread, by the system's
  /// number.
  uint16_t cpus[XIOKV_EMU_THREADS_MAX];
};

/// @brief Kinds of faults. Unless stated, a kind strikes single commands.
enum xiokv_emu_fault_kind {
  /// Of a whole queue: up to `amount` completions gather while more commands
  /// are there, and one of them, at random, leaves.
  XIOKV_EMU_REORDER = 1,
  /// Of a whole queue: groups of up to `amount` completions leave last first.
  XIOKV_EMU_REVERSE = 2,
  /// The command waits `amount` units before it moves data and completes.
  XIOKV_EMU_DELAY = 3,
  /// The command is carried out; its completion never comes.
  XIOKV_EMU_DROP = 4,
  /// The completion comes again, `amount` units after it was posted.
  XIOKV_EMU_DUPLICATE = 5,
  /// The command is not carried out; it completes with `status`.
  XIOKV_EMU_STATUS = 6,
  /// One more completion comes, with CID `amount`, or FFFFh for 0.
  XIOKV_EMU_UNKNOWN_CID = 7,
  /// One more completion comes before the command's own, with its CID and with
  /// SQID `amount`, or the next queue's for 0.
  XIOKV_EMU_FOREIGN_SQID = 8,
  /// A successful Retrieve's or Exec's DW0 is `amount`, or value_max + 1 for 0.
  XIOKV_EMU_BAD_SIZE = 9,
  /// The queue stops as the command is fetched: for `amount` units, or for 0
  /// until faults are cleared.
  XIOKV_EMU_STALL = 10,
};

/// @brief A fault to inject, and the commands that it strikes.
///
/// A unit of time is a microsecond where worker threads serve, else a call of
/// xiokv_emu_step for the queue. Each queue counts and draws for itself, so
/// that what it does depends on its own commands alone.
struct xiokv_emu_fault {
  uint32_t struct_size; ///< sizeof(struct xiokv_emu_fault); another: refused.
  uint32_t kind;        ///< enum xiokv_emu_fault_kind.
  uint32_t qid;         ///< The queue, present or to come; 0: every one.
  uint32_t probability; ///< Parts in a million; 0: always.
  uint64_t nth;       ///< Only a queue's nth matching command, from 1; 0: all.
  uint64_t count;     ///< Most strikes a queue; 0: no limit.
  uint64_t amount;    ///< Window, units, size, CID or SQID, by kind.
  uint16_t status;    ///< CQE status, bits 15:1: SC + (SCT << 8) + ...
  uint8_t opcode;     ///< Only this opcode; 0: all.
  uint8_t key_length; ///< Only the key below; 0: all.
  uint8_t key[16];
  uint32_t reserved; ///< 0.
};

/// @brief What a trace record holds.
enum xiokv_emu_trace_kind {
  XIOKV_EMU_TRACE_SQE = 0, ///< 64 bytes, as they were fetched.
  XIOKV_EMU_TRACE_CQE = 1, ///< 16 bytes, as they were posted.
};

/// @brief One record of a trace.
struct xiokv_emu_trace {
  uint64_t nanoseconds; ///< Since the trace was started.
  uint32_t kind;        ///< enum xiokv_emu_trace_kind.
  uint32_t qid;         ///< Submission queue; 0 for admin commands.
  uint8_t bytes[64];
};

/// @brief Totals since the controller was made.
struct xiokv_emu_counters {
  uint64_t commands;          ///< I/O commands fetched.
  uint64_t completions;       ///< I/O completions posted.
  uint64_t bytes_in;          ///< Value bytes read from the host.
  uint64_t bytes_out;         ///< Bytes of values and List pages written.
  uint64_t doorbells;         ///< SQ tail doorbell changes seen.
  uint64_t invalid_doorbells; ///< Doorbell values that no host may write.
  uint64_t held_completions;  ///< Completions that found their CQ full.
  uint64_t keys;              ///< Keys now.
  uint64_t bytes_stored;      ///< Bytes of values now.
  uint64_t trace_lost;        ///< Records that did not fit the trace.
};

/// @brief Bits of xiokv_emu_dma.flags.
enum xiokv_emu_dma_flags {
  XIOKV_EMU_DMA_RINGS = 1 << 0, ///< SQ and CQ too are reached by the hook.
};

/// @brief How the controller reaches the host's memory: a hook for memory that
/// this process cannot touch.
///
/// Each function returns 0, or anything else to fail the command with status
/// 04h. Worker threads call them at the same time.
struct xiokv_emu_dma {
  void *context; ///< First argument of each.
  int (*read)(void *context, uint64_t iova, void *buffer, uint64_t bytes);
  int (*write)(void *context, uint64_t iova, const void *buffer,
               uint64_t bytes);
  /// Called after the data of one or more commands and before any of their
  /// completions is written: every write of the calling thread has reached its
  /// place when it returns. It fails all of them. May be NULL.
  int (*flush)(void *context);
  uint32_t flags; ///< enum xiokv_emu_dma_flags.
  uint32_t reserved;
};

/// @brief Make a controller; it is enabled and has no I/O queues.
/// @param error Where the reason of a refusal goes, as one line; may be NULL.
/// @return The controller, or NULL.
xiokv_emu *xiokv_emu_create(const struct xiokv_emu_config *config, char *error,
                            size_t error_size);

/// @brief Make a controller whose values are in a store.
/// @param store To be closed after the controller; several controllers may
/// share one. Members `capacity` and `max_keys` of the configuration are only
/// reported: its own limits count.
/// @return As for xiokv_emu_create.
xiokv_emu *xiokv_emu_create_on(const struct xiokv_emu_config *config,
                               xiokv_emu_store *store, char *error,
                               size_t error_size);

/// @brief Let a store take large values from memory of this process where they
/// lie, until xiokv_emu_store_take_back; other values it copies.
///
/// It maps the pages a second time, and sends messages from there. As ever, a
/// value may change once its command has completed or its queue is deleted:
/// what a message holds for longer, the store copies then. Where there is no
/// room for that, the command completes once the message is gone.
/// @param memory Pages that are shared and can be read: of one mmap with
/// MAP_SHARED. Of several, each is lent by itself.
/// @param bytes How many; of fewer than 64 KiB it takes none.
/// @return 0, or -1 where it takes none: private pages, too few bytes, no room.
int xiokv_emu_store_lend(xiokv_emu_store *store, void *memory, uint64_t bytes);

/// @brief Take memory back before it is unmapped; no command of it is under
/// way. What was not lent is nothing.
/// @param memory As it was given to xiokv_emu_store_lend.
void xiokv_emu_store_take_back(xiokv_emu_store *store, void *memory);

/// @brief Close a store that no controller uses any more; NULL is none.
void xiokv_emu_store_close(xiokv_emu_store *store);

/// @brief Stop the worker threads and end the controller; values in its own
/// memory end with it.
void xiokv_emu_destroy(xiokv_emu *emu);

/// @brief BAR 0: CAP at 0, VS 8, CC 14h, CSTS 1Ch, doorbells from 1000h.
void *xiokv_emu_registers(xiokv_emu *emu);

/// @brief Bytes of BAR 0.
uint64_t xiokv_emu_registers_size(xiokv_emu *emu);

/// @brief Carry out an admin command.
/// @param cqe The completion: SQHD 0, phase bit 0.
/// @return 0, or -1 where the controller is disabled by CC.EN: no completion.
int xiokv_emu_admin(xiokv_emu *emu, const uint8_t sqe[64], uint8_t cqe[16]);

/// @brief Start the worker threads; a second call does nothing.
/// @return 0, or -1 where the system gives no thread, or not that core.
int xiokv_emu_start(xiokv_emu *emu);

/// @brief Stop and join the worker threads; queues keep their state.
void xiokv_emu_stop(xiokv_emu *emu);

/// @brief Do at most one small thing on a submission queue: fetch an SQE, carry
/// out a command, or post a CQE. Which of those possible is drawn by the seed;
/// commands are carried out and completions posted in order unless a fault says
/// otherwise.
/// @return 1, or 0 where there was nothing to do (a delay may be passing),
/// where there is no such queue, or where worker threads serve it.
uint32_t xiokv_emu_step(xiokv_emu *emu, uint32_t qid);

/// @brief Controller reset: all I/O queues are gone, a killed controller serves
/// again, values and faults stay. On return nothing of the host's memory is
/// touched.
void xiokv_emu_reset(xiokv_emu *emu);

/// @brief Serve a queue no more, as a dead controller; 0: all queues, and those
/// to come until a reset. Admin commands are still answered.
void xiokv_emu_kill(xiokv_emu *emu, uint32_t qid);

/// @brief Add a fault.
/// @return 0, or -1 where a member is not allowed.
int xiokv_emu_fault(xiokv_emu *emu, const struct xiokv_emu_fault *fault);

/// @brief Remove every fault; delayed commands and stalled queues go on.
void xiokv_emu_clear_faults(xiokv_emu *emu);

/// @brief Begin a trace, dropping an earlier one.
/// @param capacity Most records that wait to be read; 0 ends tracing.
void xiokv_emu_trace_start(xiokv_emu *emu, uint64_t capacity);

/// @brief Take the oldest records out of the trace.
/// @return Records written to `out`, at most `count`.
uint64_t xiokv_emu_trace_read(xiokv_emu *emu, struct xiokv_emu_trace *out,
                              uint64_t count);

/// @brief Read the totals.
void xiokv_emu_counters(xiokv_emu *emu, struct xiokv_emu_counters *out);

/// @brief Set the DMA hook; NULL: addresses of this process.
/// @return 0, or -1 while I/O queues exist or where a function is missing.
int xiokv_emu_set_dma(xiokv_emu *emu, const struct xiokv_emu_dma *dma);

struct xiokv_controller;

/// @brief The controller as xiokv_attach takes one. It is to be used while the
/// controller is there; after a reset what is attached has to
/// xiokv_confirm_deleted.
/// @return XIOKV_E_OK, or XIOKV_E_ARGUMENT for NULL.
int xiokv_emu_controller(xiokv_emu *emu, struct xiokv_controller *controller);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
