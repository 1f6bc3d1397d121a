// SPDX-License-Identifier: MIT
/// @file
/// @brief The calls of xiokv.h for modules, contexts and commands on keys.

#include "context.h"
#include "current.h"
#include "handles.h"
#include "sized.h"
#include "walk.h"

namespace xiokv::host {

namespace {

using Modules = Handles<Module, xiokv_module>;
using Contexts = Handles<Context, xiokv_ctx>;
using Batches = Handles<Batch, xiokv_handle>;
using KvStreams = Handles<Stream, xiokv_stream>;

std::shared_ptr<Stream> stream_or_none(const xiokv_stream *stream) {
  return stream == nullptr ? nullptr : KvStreams::find(stream);
}

int run_command(uint32_t opcode, xiokv_ctx *ctx, const xiokv_request *given,
                xiokv_result *results) {
  return guarded([&] {
    const auto context = Contexts::find(ctx);
    const xiokv_request request = sized_needed(given, "request");
    const auto stream = stream_or_none(request.stream);
    const Where where = stream == nullptr ? Where::here : Where::in_stream;
    const auto batch = context->submit(opcode, request, where, stream);
    batch->wait_out();
    return batch->take(results, 0, batch->count());
  });
}

/// Of a batch that a caller waits for.
int batch_code(Waited waited) {
  return waited == Waited::come
             ? int{XIOKV_E_OK}
             : keep_error(XIOKV_E_TIMEOUT,
                          "the batch has not ended yet; wait again");
}

} // namespace

} // namespace xiokv::host

using namespace xiokv::host;

namespace xiokv::host {

int attach_owning(xiokv_module *module, const xiokv_controller *controller,
                  const xiokv_attach_config *config,
                  std::shared_ptr<void> owned, xiokv_ctx **ctx) {
  need(ctx, "ctx");
  const Controller called(sized_needed(controller, "controller"));
  *ctx = Contexts::add(std::make_shared<Context>(Modules::find(module), called,
                                                 sized(config, "config"),
                                                 std::move(owned)));
  return XIOKV_E_OK;
}

} // namespace xiokv::host

int xiokv_load(const char *place, struct xiokv_module **module) {
  return guarded([&] {
    need(module, "module");
    *module = Modules::add(std::make_shared<Module>(find_module(place)));
    return XIOKV_E_OK;
  });
}

int xiokv_module_describe(struct xiokv_module *module, char *text,
                          size_t size) {
  return guarded([&] {
    if (size != 0)
      need(text, "text");
    const std::string told = Modules::find(module)->told();
    snprintf(text, size, "%s", told.c_str());
    return static_cast<int>(told.size());
  });
}

int xiokv_unload(struct xiokv_module *module) {
  return guarded([&] {
    Modules::take(module);
    return XIOKV_E_OK;
  });
}

int xiokv_attach(struct xiokv_module *module,
                 const struct xiokv_controller *controller,
                 const struct xiokv_attach_config *config,
                 struct xiokv_ctx **ctx) {
  return guarded(
      [&] { return attach_owning(module, controller, config, nullptr, ctx); });
}

int xiokv_limits_of(struct xiokv_ctx *ctx,
                    struct xiokv_controller_limits *limits) {
  return guarded([&] {
    need(limits, "limits");
    *limits = Contexts::find(ctx)->limits();
    return XIOKV_E_OK;
  });
}

int xiokv_count(struct xiokv_ctx *ctx, struct xiokv_queue_report *report) {
  return guarded([&] {
    need(report, "report");
    *report = Contexts::find(ctx)->report();
    return XIOKV_E_OK;
  });
}

int xiokv_quiesce(struct xiokv_ctx *ctx) {
  return guarded([&] {
    Contexts::find(ctx)->quiesce();
    return XIOKV_E_OK;
  });
}

int xiokv_reset(struct xiokv_ctx *ctx) {
  return guarded([&] {
    Contexts::find(ctx)->reset();
    return XIOKV_E_OK;
  });
}

int xiokv_confirm_deleted(struct xiokv_ctx *ctx) {
  return guarded([&] {
    Contexts::find(ctx)->confirm_deleted();
    return XIOKV_E_OK;
  });
}

int xiokv_detach(struct xiokv_ctx *ctx) {
  return guarded([&] {
    Contexts::find(ctx)->close();
    Contexts::take(ctx);
    current().pending.erase(ctx);
    return XIOKV_E_OK;
  });
}

int xiokv_store(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                struct xiokv_result *results) {
  return run_command(XIOKV_OPC_STORE, ctx, request, results);
}

int xiokv_retrieve(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                   struct xiokv_result *results) {
  return run_command(XIOKV_OPC_RETRIEVE, ctx, request, results);
}

int xiokv_exist(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                struct xiokv_result *results) {
  return run_command(XIOKV_OPC_EXIST, ctx, request, results);
}

int xiokv_delete(struct xiokv_ctx *ctx, const struct xiokv_request *request,
                 struct xiokv_result *results) {
  return run_command(XIOKV_OPC_DELETE, ctx, request, results);
}

int xiokv_list(struct xiokv_ctx *ctx, const struct xiokv_key *start,
               xiokv_each each, void *argument) {
  return guarded([&] {
    if (each == nullptr)
      refuse(XIOKV_E_ARGUMENT, "each is NULL; give a function");
    const auto context = Contexts::find(ctx);
    return walk_keys(*context, start == nullptr ? xiokv_key{} : *start, each,
                     argument);
  });
}

int xiokv_start(struct xiokv_ctx *ctx, uint32_t opcode,
                const struct xiokv_request *request,
                struct xiokv_handle **handle) {
  return guarded([&] {
    need(handle, "handle");
    const auto context = Contexts::find(ctx);
    const xiokv_request taken = sized_needed(request, "request");
    const auto stream = stream_or_none(taken.stream);
    const Where where =
        stream == nullptr ? Where::in_own_stream : Where::in_stream;
    *handle = Batches::add(context->submit(opcode, taken, where, stream));
    return XIOKV_E_OK;
  });
}

int xiokv_handle_wait(struct xiokv_handle *handle, int64_t timeout_ns,
                      struct xiokv_result *results, size_t count) {
  return guarded([&] {
    const auto batch = Batches::find(handle);
    if (results != nullptr && count != batch->count())
      refuse(XIOKV_E_ARGUMENT, "count is %zu; the batch has %u keys", count,
             batch->count());
    const int64_t begin = now();
    for (;;) {
      const int64_t left =
          timeout_ns < 0 ? forever
                         : std::max<int64_t>(0, timeout_ns - (now() - begin));
      const Waited waited = batch->wait(left);
      if (waited == Waited::interrupted)
        continue;
      const int code = batch_code(waited);
      return code != XIOKV_E_OK ? code
                                : batch->take(results, 0, batch->count());
    }
  });
}

int xiokv_handle_done(struct xiokv_handle *handle) {
  return guarded([&] { return Batches::find(handle)->ended() ? 1 : 0; });
}

int xiokv_handle_cancel(struct xiokv_handle *handle) {
  return guarded([&] {
    Batches::find(handle)->cancel();
    return XIOKV_E_OK;
  });
}

int xiokv_handle_free(struct xiokv_handle *handle) {
  return guarded([&] {
    Batches::take(handle);
    return XIOKV_E_OK;
  });
}

int xiokv_make_current(struct xiokv_ctx *ctx, size_t block_bytes) {
  return guarded([&] {
    if (ctx != nullptr) {
      const uint64_t most = Contexts::find(ctx)->limits().transfer_max;
      if (block_bytes == 0 || block_bytes % 4 != 0 || block_bytes > most)
        refuse(XIOKV_E_ARGUMENT,
               "block_bytes %zu: a multiple of 4 up to %llu is allowed",
               block_bytes, static_cast<unsigned long long>(most));
    }
    current().ctx = ctx;
    current().block_bytes = block_bytes;
    return XIOKV_E_OK;
  });
}

int xio_batched_kv_retrieve(const struct xiokv_key *block_keys, size_t n,
                            void *gpu_buffer, void *stream) {
  return guarded([&] {
    Current &mine = current();
    if (mine.ctx == nullptr)
      refuse(XIOKV_E_HANDLE, "this thread has no current context: call "
                             "xiokv_make_current first");
    const auto context = Contexts::find(mine.ctx);
    xiokv_request request = {};
    request.struct_size = sizeof request;
    request.keys = block_keys;
    request.count = n;
    request.buffer = gpu_buffer;
    request.stride = mine.block_bytes;
    request.buffer_size = n * mine.block_bytes;
    const auto in = stream_or_none(static_cast<xiokv_stream *>(stream));
    const Where where = in == nullptr ? Where::here : Where::in_stream;
    mine.pending[mine.ctx].add(
        context->submit(XIOKV_OPC_RETRIEVE, request, where, in));
    return XIOKV_E_OK;
  });
}

int xiokv_wait(struct xiokv_ctx *ctx, struct xiokv_result *results, size_t n) {
  return guarded([&] {
    Contexts::find(ctx);
    return current().pending[ctx].take(results, n);
  });
}
