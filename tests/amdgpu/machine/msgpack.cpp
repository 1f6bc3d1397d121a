// SPDX-License-Identifier: MIT
#include "msgpack.h"

#include "error.h"

namespace amdgpu {

namespace {

class Reader {
public:
  Reader(const uint8_t *bytes, size_t size) : at_(bytes), end_(bytes + size) {}

  Value value() {
    const uint64_t tag = big_endian(1);
    if (tag < 0x80 || tag >= 0xe0)
      return number(static_cast<uint64_t>(static_cast<int8_t>(tag)));
    if (tag < 0x90)
      return map(tag & 15);
    if (tag < 0xa0)
      return list(tag & 15);
    if (tag < 0xc0)
      return text(tag & 31);
    return tagged(tag);
  }

private:
  Value tagged(uint64_t tag) {
    switch (tag) {
    case 0xc0:
    case 0xc2:
      return number(0);
    case 0xc3:
      return number(1);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return number(big_endian(size_t(1) << (tag - 0xcc)));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return number(sign_extended(size_t(1) << (tag - 0xd0)));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return text(big_endian(size_t(1) << (tag - 0xd9)));
    case 0xdc:
    case 0xdd:
      return list(big_endian(size_t(2) << (tag - 0xdc)));
    case 0xde:
    case 0xdf:
      return map(big_endian(size_t(2) << (tag - 0xde)));
    default:
      throw Refusal("the metadata has a kind of value that is not read");
    }
  }

  Value number(uint64_t what) {
    Value value;
    value.number = what;
    return value;
  }

  Value text(uint64_t size) {
    Value value;
    const uint8_t *from = take(size);
    value.text.assign(from, from + size);
    return value;
  }

  Value list(uint64_t count) {
    Value result;
    while (count--)
      result.list.push_back(value());
    return result;
  }

  Value map(uint64_t count) {
    Value result;
    while (count--) {
      std::string name = value().text;
      result.members[std::move(name)] = value();
    }
    return result;
  }

  uint64_t big_endian(size_t size) {
    const uint8_t *from = take(size);
    uint64_t word = 0;
    for (size_t i = 0; i < size; ++i)
      word = word << 8 | from[i];
    return word;
  }

  uint64_t sign_extended(size_t size) {
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    const int64_t word = static_cast<int64_t>(big_endian(size) << unused);
    return static_cast<uint64_t>(word >> unused);
  }

  const uint8_t *take(uint64_t size) {
    if (static_cast<uint64_t>(end_ - at_) < size)
      throw Refusal("the metadata ends too early");
    at_ += size;
    return at_ - size;
  }

  const uint8_t *at_;
  const uint8_t *end_;
};

} // namespace

const Value &Value::at(const std::string &name) const {
  const auto found = members.find(name);
  if (found == members.end())
    throw Refusal("the metadata has no " + name);
  return found->second;
}

uint64_t Value::number_or(const std::string &name, uint64_t otherwise) const {
  const auto found = members.find(name);
  return found == members.end() ? otherwise : found->second.number;
}

Value read_msgpack(const uint8_t *bytes, size_t size) {
  return Reader(bytes, size).value();
}

} // namespace amdgpu
