// SPDX-License-Identifier: MIT
#include "bench.h"

#include <algorithm>
#include <numeric>

namespace {
constexpr size_t page = XIOKV_PAGE_BYTES;

size_t pages_of(size_t bytes) { return (bytes + page - 1) / page; }
} // namespace

Pages::Pages(size_t count, char fill)
    : block_(new char[(count + 1) * page]), data_(block_.get()) {
  data_ += (page - reinterpret_cast<uint64_t>(data_) % page) % page;
  memset(data_, fill, count * page);
}

Buffer::Buffer(std::mt19937_64 &random, size_t bytes, uint32_t start,
               bool scattered)
    : bytes_(bytes), start_(start), scattered_(scattered),
      arena_(2 * pages_of(bytes + start) + 2, poison) {
  std::vector<uint64_t> places(2 * pages_of(bytes + start) + 2);
  std::iota(places.begin(), places.end(), 0);
  if (scattered)
    std::shuffle(places.begin(), places.end(), random);
  for (size_t i = 0; i < pages_of(bytes + start); ++i)
    table_.push_back(arena_.address() + places[i] * page);
}

char *Buffer::at(uint64_t offset) const {
  const uint64_t place = start_ + offset;
  return reinterpret_cast<char *>(table_.at(place / page) + place % page);
}

void Buffer::describe(xiokv_batch &batch) const {
  batch.page_offset = start_;
  batch.page_table = scattered_ ? reinterpret_cast<uint64_t>(table_.data()) : 0;
  batch.iova = scattered_ ? 0 : arena_.address() + start_;
}

void Buffer::write(uint64_t offset, const Bytes &bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    *at(offset + i) = bytes[i];
}

Bytes Buffer::read(uint64_t offset, size_t bytes) const {
  Bytes result(bytes);
  for (size_t i = 0; i < bytes; ++i)
    result[i] = *at(offset + i);
  return result;
}

Rings::Rings(const Shape &shape)
    : sq(pages_of(shape.sq_depth * 64), Buffer::poison),
      cq(pages_of(shape.cq_depth * 16), 0),
      pool(static_cast<size_t>(shape.window) * shape.prp_pages, Buffer::poison),
      tables(new uint64_t[XIOKV_TABLE_BYTES(shape.window) / 8 + 1]) {
  uint16_t *free_ring = reinterpret_cast<uint16_t *>(tables.get());
  std::iota(free_ring, free_ring + shape.window, static_cast<uint16_t>(0));
}

Bench::Bench(const xiokv_emu_config &config) : dstrd_(config.dstrd) {
  char error[200] = "";
  emu_ = xiokv_emu_create(&config, error, sizeof error);
  if (!emu_)
    throw Broken(std::string("the controller was refused: ") + error);
}

/// Creates a queue: opcode 05h for the completion ring, 01h for the submission
/// ring; both physically contiguous.
void Bench::admin(uint8_t opcode, uint64_t prp1, uint32_t cdw10,
                  uint32_t cdw11) {
  uint8_t sqe[64] = {opcode};
  uint8_t cqe[16];
  memcpy(sqe + 24, &prp1, 8);
  memcpy(sqe + 40, &cdw10, 4);
  memcpy(sqe + 44, &cdw11, 4);
  if (xiokv_emu_admin(emu_, sqe, cqe) != 0 || (cqe[14] >> 1 | cqe[15]) != 0)
    throw Broken("the controller refused a queue");
}

xiokv_queue Bench::create(uint32_t qid, const Shape &shape,
                          uint32_t max_value) {
  rings_.push_back(std::make_unique<Rings>(shape));
  Rings &rings = *rings_.back();
  admin(0x05, rings.cq.address(), (shape.cq_depth - 1) << 16 | qid, 1);
  admin(0x01, rings.sq.address(), (shape.sq_depth - 1) << 16 | qid,
        qid << 16 | 1);
  const uint64_t bells =
      reinterpret_cast<uint64_t>(xiokv_emu_registers(emu_)) + 0x1000;
  xiokv_queue queue = {};
  queue.sq = rings.sq.address();
  queue.cq = rings.cq.address();
  queue.sq_doorbell = bells + 2ull * qid * (4u << dstrd_);
  queue.cq_doorbell = bells + (2ull * qid + 1) * (4u << dstrd_);
  queue.tables = reinterpret_cast<uint64_t>(rings.tables.get());
  queue.prp_pool = queue.prp_iova = rings.pool.address();
  queue.prp_pages = shape.prp_pages;
  queue.sq_depth = shape.sq_depth;
  queue.cq_depth = shape.cq_depth;
  queue.window = shape.window;
  queue.qid = qid;
  queue.nsid = 1;
  queue.max_transfer = queue.max_value = max_value;
  queue.cq_phase = 1;
  return queue;
}
