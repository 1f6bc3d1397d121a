// SPDX-License-Identifier: MIT
#include "disassembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "error.h"

namespace amdgpu {

namespace {

/// A file that goes with its object.
class TemporaryFile {
public:
  TemporaryFile(const void *bytes, size_t size)
      : path_((std::filesystem::temp_directory_path() / "amdgpu-XXXXXX")) {
    const int file = mkstemp(path_.data());
    const bool good =
        file >= 0 && write(file, bytes, size) == static_cast<ssize_t>(size);
    if (file >= 0)
      close(file);
    if (!good)
      throw Refusal("cannot write the code object to " + path_);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// Whether a folder of the search path has a program.
bool is_installed(const std::string &name) {
  const char *path = getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0)
      return true;
  return false;
}

std::string disassembler() {
  if (const char *named = getenv("XIOKV_LLVM_OBJDUMP"))
    return named;
  for (const char *name : {"llvm-objdump-19", "llvm-objdump-20",
                           "llvm-objdump-21", "llvm-objdump"})
    if (is_installed(name))
      return name;
  throw Refusal("llvm-objdump 19 or newer is not installed: "
                "apt-get install llvm-19, or name one in XIOKV_LLVM_OBJDUMP");
}

/// All that a shell command says.
std::string output_of(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  if (pipe == nullptr)
    throw Refusal("cannot run " + command);
  std::string said;
  char part[65536];
  for (size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;)
    said.append(part, got);
  if (pclose(pipe) != 0)
    throw Refusal("failed: " + command);
  return said;
}

/// "<tab>text // ADDRESS: WORD WORD <label>"; all else is not an instruction.
bool parse(const std::string &from, Line &line) {
  const size_t comment = from.find("// ");
  if (from.empty() || from[0] != '\t' || comment == std::string::npos)
    return false;
  const size_t last = from.find_last_not_of(" \t", comment - 1);
  const size_t colon = from.find(':', comment);
  const size_t label = std::min(from.find('<', colon), from.size());
  line.text = from.substr(1, last);
  line.address = strtoull(from.c_str() + comment + 3, nullptr, 16);
  // Words of eight digits, each after a space.
  line.bytes = static_cast<uint32_t>((label - colon) / 9 * 4);
  return true;
}

} // namespace

std::vector<Line> disassemble(const void *elf, size_t size) {
  const TemporaryFile file(elf, size);
  const std::string said =
      output_of(disassembler() + " -d " + file.path() + " 2>/dev/null");
  std::vector<Line> lines;
  Line line;
  for (size_t at = 0, end; at < said.size(); at = end + 1) {
    end = std::min(said.find('\n', at), said.size());
    if (parse(said.substr(at, end - at), line))
      lines.push_back(line);
  }
  return lines;
}

} // namespace amdgpu
