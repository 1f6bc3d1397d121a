// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "error.h"

namespace amdgpu {

namespace {

// What <elf.h> need not know yet: ELF for the amdgpu processor.
constexpr uint16_t machine_amdgpu = 224;
constexpr uint8_t os_abi_hsa = 64;
constexpr uint32_t note_metadata = 32;
constexpr uint32_t relocation_relative64 = 13;

/// Values of the flags' lowest byte.
const std::map<uint32_t, const char *> targets = {
    {0x3f, "gfx90a"},  {0x4c, "gfx942"},  {0x41, "gfx1100"}, {0x46, "gfx1101"},
    {0x47, "gfx1102"}, {0x44, "gfx1103"}, {0x43, "gfx1150"}, {0x4a, "gfx1151"},
    {0x48, "gfx1200"}, {0x4e, "gfx1201"},
};

std::string feature(uint32_t flags, unsigned shift, const char *name) {
  switch (flags >> shift & 3) {
  case 2:
    return std::string(":") + name + "-";
  case 3:
    return std::string(":") + name + "+";
  default:
    return "";
  }
}

std::string target_of(uint32_t flags) {
  const auto found = targets.find(flags & 0xff);
  if (found == targets.end())
    throw Refusal("the code object is for a processor that is not known here");
  return found->second + feature(flags, 10, "sramecc") +
         feature(flags, 8, "xnack");
}

uint64_t aligned4(uint64_t size) { return (size + 3) / 4 * 4; }

} // namespace

ElfFile::ElfFile(const void *bytes, size_t size)
    : file_(static_cast<const uint8_t *>(bytes)), file_size_(size),
      image_(nullptr, Unmap{0}) {
  const auto &header = read<Elf64_Ehdr>(0);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != machine_amdgpu ||
      header.e_ident[EI_OSABI] != os_abi_hsa)
    throw Refusal("this is not an AMD code object");
  target_ = target_of(header.e_flags);
  load_segments();
  read_sections();
}

/// A structure of the file, which must lie within it.
template <class T> const T &ElfFile::read(uint64_t offset) const {
  if (offset > file_size_ || sizeof(T) > file_size_ - offset)
    throw Refusal("the code object is cut off");
  return *reinterpret_cast<const T *>(file_ + offset);
}

void ElfFile::Unmap::operator()(uint8_t *image) const { munmap(image, size); }

void ElfFile::load_segments() {
  const auto &header = read<Elf64_Ehdr>(0);
  std::vector<Elf64_Phdr> segments;
  for (uint16_t i = 0; i < header.e_phnum; ++i)
    segments.push_back(
        read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD)
      size_ = std::max(size_, segment.p_vaddr + segment.p_memsz);
  void *image = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image == MAP_FAILED)
    throw Refusal("there is no memory for the code object");
  image_ = {static_cast<uint8_t *>(image), Unmap{size_}};
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_offset > file_size_ ||
        segment.p_filesz > file_size_ - segment.p_offset)
      throw Refusal("the code object is cut off");
    if (segment.p_type == PT_LOAD)
      memcpy(base() + segment.p_vaddr, file_ + segment.p_offset,
             segment.p_filesz);
    if (segment.p_type == PT_NOTE)
      read_notes(segment.p_offset, segment.p_filesz);
  }
}

void ElfFile::read_notes(uint64_t offset, uint64_t size) {
  for (const uint64_t end = offset + size; offset < end;) {
    const auto &note = read<Elf64_Nhdr>(offset);
    const uint64_t content = offset + sizeof note + aligned4(note.n_namesz);
    offset = content + aligned4(note.n_descsz);
    if (offset > end)
      throw Refusal("the code object's notes are cut off");
    if (note.n_type == note_metadata)
      metadata_ = read_msgpack(file_ + content, note.n_descsz);
  }
}

void ElfFile::read_sections() {
  const auto &header = read<Elf64_Ehdr>(0);
  const auto section = [&](uint32_t index) -> const Elf64_Shdr & {
    return read<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr &at = section(i);
    if (at.sh_type == SHT_DYNSYM || at.sh_type == SHT_SYMTAB)
      read_symbols(at.sh_offset, at.sh_size, section(at.sh_link).sh_offset);
    if (at.sh_type == SHT_RELA)
      relocate(at.sh_offset, at.sh_size);
  }
}

void ElfFile::read_symbols(uint64_t table, uint64_t size, uint64_t names) {
  for (uint64_t at = table; at < table + size; at += sizeof(Elf64_Sym)) {
    const auto &symbol = read<Elf64_Sym>(at);
    const uint64_t name = names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
      continue;
    read<char>(name);
    const auto *text = reinterpret_cast<const char *>(file_ + name);
    symbols_[std::string(text, strnlen(text, file_size_ - name))] = {
        symbol.st_value, symbol.st_size};
  }
}

void ElfFile::relocate(uint64_t table, uint64_t size) {
  for (uint64_t at = table; at < table + size; at += sizeof(Elf64_Rela)) {
    const auto &rela = read<Elf64_Rela>(at);
    if (ELF64_R_TYPE(rela.r_info) != relocation_relative64 ||
        rela.r_offset > size_ - 8)
      throw Refusal("the code object has a relocation that is not known here");
    const uint64_t address = reinterpret_cast<uint64_t>(base()) +
                             static_cast<uint64_t>(rela.r_addend);
    memcpy(base() + rela.r_offset, &address, sizeof address);
  }
}

} // namespace amdgpu
