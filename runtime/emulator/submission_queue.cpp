// SPDX-License-Identifier: MIT
#include "submission_queue.h"

#include <utility>

#include "exec.h"

namespace xiokv::emulator {

namespace {

/// Most commands fetched before others get their turn.
constexpr uint32_t burst = 64;

/// Whether DW0 of the completion is a size.
bool returns_size(const Sqe &sqe) {
  const Opcode opcode = static_cast<Opcode>(sqe.opcode());
  return opcode == Opcode::retrieve || opcode == Opcode::exec;
}

} // namespace

SubmissionQueue::SubmissionQueue(uint16_t qid, Ring ring,
                                 uint32_t *tail_doorbell, CompletionQueue &cq,
                                 const Namespace &space,
                                 std::unique_ptr<Session> session, Trace &trace)
    : qid_(qid), ring_(ring), doorbell_(tail_doorbell), cq_(cq), space_(space),
      trace_(trace), faults_(space.config, qid),
      order_(space.config.seed, UINT64_C(1) << 32 | qid),
      session_(std::move(session)) {}

bool SubmissionQueue::serve() {
  if (dead_)
    return false;
  if (is_timed()) {
    let_time_pass();
    wake();
    if (is_stalled())
      return false;
  } else if (space_.config.has(XIOKV_EMU_NULL) && is_idle()) {
    return serve_null();
  }
  uint32_t fetched = 0;
  for (; fetched < burst && can_fetch(); ++fetched)
    fetch();
  while (!runnable_.empty())
    run();
  collect();
  land();
  return post_all() || fetched != 0;
}

bool SubmissionQueue::step() {
  enum { fetching, running, posting };
  ++now_;
  wake();
  if (dead_ || is_stalled())
    return false;
  collect();
  land();
  const std::lock_guard<std::mutex> lock(cq_.mutex);
  cq_.read_head();
  int possible[3];
  uint64_t count = 0;
  if (can_fetch())
    possible[count++] = fetching;
  if (!runnable_.empty())
    possible[count++] = running;
  if (cq_.is_half_posted() || can_post())
    possible[count++] = posting;
  if (count == 0)
    return false;
  const int chosen = possible[order_.below(count)];
  if (chosen == fetching)
    fetch();
  else if (chosen == running)
    run_alone();
  else
    post_stepwise();
  return true;
}

void SubmissionQueue::clear_faults() {
  faults_.clear();
  stalled_until_ = 0;
  late_.clear();
  for (auto &entry : delayed_)
    runnable_.push_back(entry.second);
  delayed_.clear();
}

bool SubmissionQueue::is_idle() const {
  return runnable_.empty() && submitted_ == 0 && leaving_.empty();
}

bool SubmissionQueue::is_timed() const {
  return !faults_.none() || !delayed_.empty() || !late_.empty() || is_stalled();
}

/// Worker threads let microseconds pass, rounded down without loss.
void SubmissionQueue::let_time_pass() {
  using std::chrono::microseconds;
  const auto passed =
      std::chrono::duration_cast<microseconds>(Clock::now() - last_);
  last_ += passed;
  now_ += static_cast<uint64_t>(passed.count());
}

void SubmissionQueue::wake() {
  while (!delayed_.empty() && delayed_.begin()->first <= now_) {
    runnable_.push_back(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
  }
  while (!late_.empty() && late_.begin()->first <= now_) {
    leaving_.push_back({late_.begin()->second, {}});
    late_.erase(late_.begin());
  }
}

bool SubmissionQueue::can_fetch() {
  if (dead_ || is_stalled())
    return false;
  if (head_ != tail_)
    return true;
  const uint32_t tail = acquire(doorbell_);
  if (tail == doorbell_seen_)
    return false;
  doorbell_seen_ = tail;
  ++counters_.doorbells;
  if (tail < ring_.depth)
    tail_ = tail;
  else
    ++counters_.invalid_doorbells;
  return head_ != tail_;
}

/// Nothing can be said about a command that cannot be read: not even its CID.
bool SubmissionQueue::fetch_entry(Sqe &sqe) {
  if (!space_.dma.read_sqe(ring_.iova + sqe_bytes * head_, sqe)) {
    dead_ = true;
    return false;
  }
  head_ = ring_.next(head_);
  ++counters_.commands;
  if (trace_.on())
    trace_.add(XIOKV_EMU_TRACE_SQE, qid_, sqe.bytes, sqe_bytes);
  return true;
}

void SubmissionQueue::fetch() {
  Task &task = tasks_.take();
  if (!fetch_entry(task.command.sqe))
    return tasks_.give_back(task);
  if (!faults_.none())
    task.verdict =
        faults_.judge(task.command.sqe, key_of(task.command.sqe, space_));
  const Verdict &verdict = task.verdict;
  if (verdict.stall)
    stalled_until_ = *verdict.stall != 0 ? now_ + *verdict.stall : UINT64_MAX;
  if (verdict.delay != 0)
    delayed_.emplace(now_ + verdict.delay, &task);
  else
    runnable_.push_back(&task);
}

void SubmissionQueue::run() {
  Task &task = *runnable_.front();
  runnable_.pop_front();
  Command &command = task.command;
  if (task.verdict.status)
    return end(task, {});
  if (space_.config.has(XIOKV_EMU_NULL))
    return end(task, null_outcome(command.sqe));
  const Status status = begin(command, space_);
  if (status != Status::success)
    return end(task, {status, 0});
  command.request.token = reinterpret_cast<uintptr_t>(&task);
  ++submitted_;
  session_->submit(command.request);
  collect();
}

void SubmissionQueue::collect() {
  for (Reply reply; session_->poll(reply);) {
    Task &task = *reinterpret_cast<Task *>(reply.token);
    --submitted_;
    const Outcome outcome = finish(task.command, reply, space_);
    // Its bytes may still be on their way.
    task.command.request.value = std::move(reply.value);
    end(task, outcome);
  }
}

/// A step is of one command: its data has landed when the step is over.
void SubmissionQueue::run_alone() {
  run();
  land();
}

/// A completion may be seen only after its command's data is in place; one wait
/// for that serves all commands that have ended.
void SubmissionQueue::land() {
  if (ended_.empty())
    return;
  const bool landed = space_.dma.flush();
  for (const Ended &ended : ended_) {
    const bool lost = !landed && ended.outcome.status == Status::success;
    leave(*ended.task,
          lost ? Outcome{Status::data_transfer_error, 0} : ended.outcome);
  }
  ended_.clear();
}

/// Makes the command's completion, and those that faults add or take away.
void SubmissionQueue::leave(Task &task, Outcome outcome) {
  const Verdict &verdict = task.verdict;
  const Sqe &sqe = task.command.sqe;
  counters_.bytes_in += task.command.bytes_in;
  counters_.bytes_out += task.command.bytes_out;
  Completion completion = {outcome.dw0, qid_, sqe.cid(),
                           status_field(outcome.status)};
  if (verdict.status)
    completion.status = *verdict.status;
  if (verdict.foreign_sqid)
    leaving_.push_back(
        {{completion.dw0, *verdict.foreign_sqid, sqe.cid(), 0}, {}});
  if (verdict.unknown_cid)
    leaving_.push_back({{0, qid_, *verdict.unknown_cid, 0}, {}});
  if (verdict.size && completion.status == 0 && returns_size(sqe))
    completion.dw0 = *verdict.size;
  if (!verdict.drop)
    leaving_.push_back({completion, verdict.duplicate_after});
  tasks_.give_back(task);
}

Outcome SubmissionQueue::null_outcome(const Sqe &sqe) {
  if (static_cast<Opcode>(sqe.opcode()) != Opcode::retrieve)
    return {};
  if (!space_.config.has(XIOKV_EMU_DISTINCT_DW0))
    return {Status::success, sqe.size()};
  null_size_ = null_size_ < space_.config.value_max ? null_size_ + 1 : 0;
  return {Status::success, null_size_};
}

uint16_t SubmissionQueue::status_field(Status status) const {
  const bool moved = is_key_value(status) && space_.config.has(XIOKV_EMU_SCT1);
  return static_cast<uint16_t>(static_cast<uint16_t>(status) |
                               (moved ? 0x100 : 0));
}

bool SubmissionQueue::can_post() {
  const bool more = !runnable_.empty() || submitted_ != 0 || can_fetch();
  if (leaving_.empty() || !faults_.may_leave(leaving_.size(), more))
    return false;
  if (cq_.has_room())
    return true;
  counters_.held_completions += held_ ? 0 : 1;
  held_ = true;
  return false;
}

SubmissionQueue::Leaving SubmissionQueue::take_leaving() {
  const auto at = leaving_.begin() +
                  static_cast<std::ptrdiff_t>(faults_.pick(leaving_.size()));
  const Leaving leaving = *at;
  leaving_.erase(at);
  held_ = false;
  ++counters_.completions;
  if (leaving.duplicate_after)
    late_.emplace(now_ + *leaving.duplicate_after, leaving.completion);
  return leaving;
}

void SubmissionQueue::post() { cq_.post(take_leaving().completion, head_); }

void SubmissionQueue::post_stepwise() {
  if (cq_.is_half_posted())
    cq_.post_rest();
  else if (space_.config.has(XIOKV_EMU_SPLIT_CQE))
    cq_.post_half(take_leaving().completion, head_);
  else
    post();
}

bool SubmissionQueue::post_all() {
  if (leaving_.empty())
    return false;
  const std::lock_guard<std::mutex> lock(cq_.mutex);
  cq_.read_head();
  bool posted = false;
  for (; can_post(); posted = true)
    post();
  return posted;
}

/// The way of benchmarks: fetch an entry, post an entry.
bool SubmissionQueue::serve_null() {
  const std::lock_guard<std::mutex> lock(cq_.mutex);
  cq_.read_head();
  uint32_t served = 0;
  for (Sqe sqe;
       served < burst && can_fetch() && cq_.has_room() && fetch_entry(sqe);
       ++served) {
    const Outcome outcome = null_outcome(sqe);
    cq_.post({outcome.dw0, qid_, sqe.cid(), 0}, head_);
  }
  counters_.completions += served;
  return served != 0;
}

} // namespace xiokv::emulator
