// SPDX-License-Identifier: MIT
#include "rados_store.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>

#include "object_name.h"

namespace xiokv::rados {

namespace {

using emulator::Operation;
using emulator::Reply;
using emulator::Request;
using librados::bufferlist;

/// The whole value, without a copy.
bufferlist payload_of(const Memory &value, uint32_t size) {
  bufferlist list;
  if (size != 0)
    list.append(value, 0, size);
  return list;
}

/// From so many in flight on, replies come often enough to be looked for: a
/// thread of librados that tells of each would cost more.
constexpr size_t few = 8;

/// Most that are looked at each time.
constexpr size_t most_silent = 64;

constexpr std::chrono::microseconds between_looks{10};

/// Called by a thread of librados.
void land(librados::completion_t, void *argument) {
  Flight &flight = *static_cast<Flight *>(argument);
  const std::shared_ptr<Inbox> inbox = flight.inbox;
  inbox->put(flight);
}

class RadosSession : public emulator::Session {
public:
  RadosSession(RadosStore &store, emulator::Wake wake)
      : store_(store), inbox_(std::make_shared<Inbox>(std::move(wake))) {
    objects_.dup(store.cluster().objects());
    // Where there is no room, the cluster is to say so; else it would let
    // writes wait for some.
    objects_.set_pool_full_try();
  }
  ~RadosSession() override;

  void submit(Request &request) override;
  bool poll(Reply &reply) override;

private:
  bool writes(Operation operation) const {
    return operation == Operation::store || operation == Operation::erase;
  }

  Flight &new_flight(const Request &request);
  int send(Flight &flight, const Request &request);
  int store(Flight &flight, const Request &request);
  int retrieve(Flight &flight, const Request &request);
  int read_value(Flight &flight);
  int read(Flight &flight, const std::string &name,
           librados::ObjectReadOperation &operation);
  int write(Flight &flight, const std::string &name,
            librados::ObjectWriteOperation &operation);
  void complete_by(Flight &flight);
  void take_ended(Clock::time_point now);
  void give_up_overdue(Clock::time_point now);
  bool end(Flight &flight, Reply &reply);
  bool is_cut_short(const Flight &flight) const;
  bool end_short(Flight &flight, Reply &reply);
  void drop(Flight &flight);
  Answer answer(Flight &flight, Reply &reply);
  void forget(Flight &flight);

  RadosStore &store_;
  librados::IoCtx objects_;
  std::shared_ptr<Inbox> inbox_;
  std::list<std::shared_ptr<Flight>> flights_; ///< Those due first, first.
  std::vector<Flight *> silent_;               ///< Those of them that are.
  Clock::time_point next_look_;                ///< At the silent ones.
  std::vector<Flight *> ended_;                ///< To be told of, last first.
  std::deque<Reply> refused_;
  bool larger_ = false; ///< The last value read was larger than wanted.
};

/// What is cancelled comes back soon; a listing is left to its thread.
RadosSession::~RadosSession() {
  for (Flight *flight : ended_)
    forget(*flight);
  size_t cancelled = 0;
  for (const auto &flight : flights_) {
    flight->given_up = true;
    if (!flight->completion)
      continue;
    objects_.aio_cancel(flight->completion);
    cancelled += flight->silent ? 0 : 1;
  }
  for (Flight *flight : silent_) {
    flight->completion->wait_for_complete();
    forget(*flight);
  }
  while (cancelled != 0) {
    inbox_->wait();
    for (Flight *flight : inbox_->take()) {
      cancelled -= flight->completion ? 1 : 0;
      forget(*flight);
    }
  }
  inbox_->close();
  store_.add_flights(-static_cast<int32_t>(flights_.size()));
}

void RadosSession::submit(Request &request) {
  Reply refusal;
  refusal.token = request.token;
  refusal.answer = Answer::read_only;
  if (store_.place().read_only && writes(request.operation))
    return refused_.push_back(refusal);
  Flight &flight = new_flight(request);
  const int result = send(flight, request);
  if (result == 0)
    return;
  refusal.answer = store_.cluster().answer_to(result);
  refused_.push_back(refusal);
  drop(flight);
}

Flight &RadosSession::new_flight(const Request &request) {
  flights_.push_back(std::make_shared<Flight>());
  store_.add_flights(1);
  Flight &flight = *flights_.back();
  flight.place = std::prev(flights_.end());
  flight.inbox = inbox_;
  flight.token = request.token;
  flight.operation = request.operation;
  flight.due = Clock::now() + store_.place().timeout;
  return flight;
}

/// @return 0, or a negative code where nothing is under way.
int RadosSession::send(Flight &flight, const Request &request) {
  librados::ObjectReadOperation reading;
  librados::ObjectWriteOperation writing;
  switch (request.operation) {
  case Operation::store:
    return store(flight, request);
  case Operation::retrieve:
    return retrieve(flight, request);
  case Operation::erase:
    writing.remove();
    return write(flight, object_name(request.key), writing);
  case Operation::exist:
    reading.assert_exists();
    return read(flight, object_name(request.key), reading);
  case Operation::list:
    flight.sink = request.sink;
    flight.listing.start = request.key;
    flight.listing.longest = request.longest;
    flight.listing.room = request.wanted;
    flight.listing.hurry = flight.due - store_.place().timeout / 2;
    return store_.lister().add(*flight.place) ? 0 : -EAGAIN;
  }
  return -EOPNOTSUPP;
}

/// The condition and the value are one operation: either both or neither.
int RadosSession::store(Flight &flight, const Request &request) {
  if (store_.is_adrift())
    return -ETIMEDOUT;
  flight.stored = std::static_pointer_cast<const Memory>(request.value.owner);
  const bufferlist value = payload_of(*flight.stored, request.value.size);
  const std::string name = object_name(request.key);
  const emulator::Condition condition = request.condition;
  if (!condition.must_exist && !condition.must_not_exist &&
      request.may_compress) {
    complete_by(flight);
    return objects_.aio_write_full(name, flight.completion, value);
  }
  librados::ObjectWriteOperation operation;
  if (condition.must_exist)
    operation.assert_exists();
  if (condition.must_not_exist)
    operation.create(/*exclusive=*/true);
  if (!request.may_compress)
    operation.set_alloc_hint2(request.value.size, request.value.size,
                              librados::ALLOC_HINT_FLAG_INCOMPRESSIBLE);
  operation.write_full(value);
  return write(flight, name, operation);
}

int RadosSession::retrieve(Flight &flight, const Request &request) {
  flight.key = request.key;
  flight.wanted = request.wanted;
  flight.asks_size =
      larger_ || request.wanted == 0 || request.wanted >= INT_MAX;
  return read_value(flight);
}

/// One byte more than is wanted tells whether the value ends there. Where its
/// size is asked for, that is in the same operation, so that both are of one
/// value. A read of no bytes would be one of all.
int RadosSession::read_value(Flight &flight) {
  const std::string name = object_name(flight.key);
  if (!flight.asks_size) {
    complete_by(flight);
    return objects_.aio_read(name, flight.completion, &flight.value,
                             size_t{flight.wanted} + 1, 0);
  }
  librados::ObjectReadOperation operation;
  operation.stat(&flight.size, nullptr, nullptr);
  if (flight.wanted != 0)
    operation.read(0, std::min<uint32_t>(flight.wanted, INT_MAX), &flight.value,
                   nullptr);
  return read(flight, name, operation);
}

int RadosSession::read(Flight &flight, const std::string &name,
                       librados::ObjectReadOperation &operation) {
  complete_by(flight);
  return objects_.aio_operate(name, flight.completion, &operation, nullptr);
}

int RadosSession::write(Flight &flight, const std::string &name,
                        librados::ObjectWriteOperation &operation) {
  complete_by(flight);
  return objects_.aio_operate(name, flight.completion, &operation);
}

void RadosSession::complete_by(Flight &flight) {
  flight.silent = flights_.size() >= few && silent_.size() < most_silent;
  if (!flight.silent) {
    flight.completion = librados::Rados::aio_create_completion(&flight, land);
    return;
  }
  flight.completion = librados::Rados::aio_create_completion();
  silent_.push_back(&flight);
}

bool RadosSession::poll(Reply &reply) {
  if (!refused_.empty()) {
    reply = refused_.front();
    refused_.pop_front();
    return true;
  }
  if (flights_.empty())
    return false;
  const Clock::time_point now = Clock::now();
  if (ended_.empty())
    take_ended(now);
  while (!ended_.empty()) {
    Flight &flight = *ended_.back();
    ended_.pop_back();
    if (end(flight, reply))
      return true;
  }
  give_up_overdue(now);
  return false;
}

void RadosSession::take_ended(Clock::time_point now) {
  ended_ = inbox_->take();
  if (!silent_.empty() && now >= next_look_) {
    next_look_ = now + between_looks;
    size_t left = 0;
    for (Flight *flight : silent_) {
      if (flight->completion->is_complete())
        ended_.push_back(flight);
      else
        silent_[left++] = flight;
    }
    silent_.resize(left);
  }
  std::reverse(ended_.begin(), ended_.end());
}

/// A listing is in a call that cannot be cancelled: its reply is given at once,
/// and it ends later.
void RadosSession::give_up_overdue(Clock::time_point now) {
  for (const auto &flight : flights_) {
    if (flight->due > now)
      return;
    if (flight->given_up)
      continue;
    flight->given_up = true;
    if (flight->completion) {
      objects_.aio_cancel(flight->completion);
      continue;
    }
    Reply reply;
    reply.token = flight->token;
    reply.answer = Answer::unreachable;
    refused_.push_back(reply);
  }
}

/// @return Whether there is a reply to give.
bool RadosSession::end(Flight &flight, Reply &reply) {
  reply = {};
  reply.token = flight.token;
  if (is_cut_short(flight))
    return end_short(flight, reply);
  const bool given = flight.given_up && !flight.completion;
  if (!given)
    reply.answer = answer(flight, reply);
  forget(flight);
  return !given;
}

bool RadosSession::is_cut_short(const Flight &flight) const {
  return flight.operation == Operation::retrieve && !flight.asks_size &&
         flight.value.length() > flight.wanted;
}

/// The value is larger than what is wanted of it, and by how much is unknown:
/// it is asked for again, unless its time is over.
bool RadosSession::end_short(Flight &flight, Reply &reply) {
  larger_ = true;
  flight.asks_size = true;
  flight.value.clear();
  flight.completion->release();
  flight.completion = nullptr;
  const int result = flight.given_up ? -ETIMEDOUT : read_value(flight);
  if (result == 0)
    return false;
  reply.answer = store_.cluster().answer_to(result);
  drop(flight);
  return true;
}

/// One that was the last to be sent, and was not.
void RadosSession::drop(Flight &flight) {
  if (!silent_.empty() && silent_.back() == &flight)
    silent_.pop_back();
  forget(flight);
}

Answer RadosSession::answer(Flight &flight, Reply &reply) {
  const int result = flight.completion ? flight.completion->get_return_value()
                                       : flight.listing.result;
  if (result < 0)
    return store_.cluster().answer_to(result);
  const Clock::time_point began = flight.due - store_.place().timeout;
  if (flight.completion)
    store_.took(std::chrono::duration_cast<std::chrono::microseconds>(
        Clock::now() - began));
  if (flight.operation == Operation::list) {
    for (const Key &key : flight.listing.keys)
      if (!flight.sink(key))
        break;
  } else if (flight.operation == Operation::retrieve) {
    if (!flight.asks_size)
      flight.size = flight.value.length();
    const uint64_t needed = std::min<uint64_t>(flight.size, flight.wanted);
    larger_ = flight.size > flight.wanted;
    if (flight.size > UINT32_MAX || flight.value.length() < needed)
      return Answer::failed;
    auto value = std::make_shared<bufferlist>(std::move(flight.value));
    const auto *bytes = reinterpret_cast<const uint8_t *>(value->c_str());
    reply.size = static_cast<uint32_t>(flight.size);
    reply.value = {bytes, value->length(), std::move(value)};
  }
  return Answer::done;
}

void RadosSession::forget(Flight &flight) {
  if (flight.completion) {
    if (flight.stored)
      store_.end_store(std::move(flight.stored),
                       flight.completion->get_return_value() < 0);
    flight.completion->release();
  }
  flights_.erase(flight.place);
  store_.add_flights(-1);
}

} // namespace

std::unique_ptr<emulator::Session> RadosStore::open(emulator::Wake wake) {
  return std::make_unique<RadosSession>(*this, std::move(wake));
}

emulator::Room RadosStore::allocate(uint32_t size) const {
  try {
    std::shared_ptr<const Memory> memory = memories_->take(size);
    auto *bytes =
        reinterpret_cast<uint8_t *>(const_cast<char *>(memory->c_str()));
    return {bytes, {bytes, size, std::move(memory)}};
  } catch (const std::bad_alloc &) {
    return {};
  }
}

emulator::Blob RadosStore::borrow(const uint8_t *bytes, uint32_t size) {
  std::shared_ptr<const Memory> memory = lending_.lend(bytes, size);
  if (!memory)
    return {};
  return {reinterpret_cast<const uint8_t *>(memory->c_str()), size,
          std::move(memory)};
}

void RadosStore::end_store(std::shared_ptr<const Memory> value, bool failed) {
  lending_.part(value);
  if (failed)
    adrift_.add(std::move(value));
}

} // namespace xiokv::rados
