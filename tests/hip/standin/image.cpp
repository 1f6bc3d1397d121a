// SPDX-License-Identifier: MIT
#include "image.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call.h"

namespace standin {
namespace {

constexpr uint64_t bytes_most = 1 << 28;
constexpr unsigned machine_amdgpu = 224;

/// Copy bytes that may not be there: asked of the system, which does not crash.
void copy(void *to, const uint8_t *from, size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{const_cast<uint8_t *>(from), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  require(copied == static_cast<ssize_t>(bytes), hipErrorInvalidImage);
}

/// Copy a table of records and return the end of what `end_of` says of each.
template <class Record, class EndOf>
uint64_t end_of_all(const uint8_t *image, uint64_t offset, unsigned count,
                    EndOf end_of) {
  require(offset < bytes_most, hipErrorInvalidImage);
  std::vector<Record> records(count);
  if (count > 0)
    copy(records.data(), image + offset, count * sizeof(Record));
  uint64_t end = offset + count * sizeof(Record);
  for (const Record &record : records)
    end = std::max(end, end_of(record));
  return end;
}

uint64_t length(const uint8_t *image) {
  Elf64_Ehdr header;
  copy(&header, image, sizeof header);
  require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
              header.e_ident[EI_CLASS] == ELFCLASS64 &&
              header.e_machine == machine_amdgpu,
          hipErrorInvalidImage);
  const uint64_t segments = end_of_all<Elf64_Phdr>(
      image, header.e_phoff, header.e_phnum,
      [](const Elf64_Phdr &part) { return part.p_offset + part.p_filesz; });
  const uint64_t sections = end_of_all<Elf64_Shdr>(
      image, header.e_shoff, header.e_shnum, [](const Elf64_Shdr &part) {
        const bool stored = part.sh_type != SHT_NOBITS;
        return stored ? part.sh_offset + part.sh_size : 0;
      });
  return std::max(segments, sections);
}

} // namespace

std::vector<uint8_t> copy_image(const void *address) {
  const auto *image = static_cast<const uint8_t *>(address);
  const uint64_t bytes = length(image);
  require(bytes <= bytes_most, hipErrorInvalidImage);
  std::vector<uint8_t> copied(bytes);
  copy(copied.data(), image, bytes);
  return copied;
}

} // namespace standin
