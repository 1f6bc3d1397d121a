// SPDX-License-Identifier: MIT
#include "project.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr const char *default_folder = "build/xiokv";
constexpr const char *spaces = " \t\r";

std::string trimmed(const std::string &line) {
  const size_t begin = line.find_first_not_of(spaces);
  if (begin == std::string::npos)
    return "";
  return line.substr(begin, line.find_last_not_of(spaces) - begin + 1);
}

/// A string of TOML without escapes, with which a line begins.
bool plain_string(const std::string &text, std::string &value) {
  const char quote = text.empty() ? '\0' : text[0];
  const size_t end = text.find(quote, 1);
  if ((quote != '"' && quote != '\'') || end == std::string::npos)
    return false;
  value = text.substr(1, end - 1);
  const std::string rest = trimmed(text.substr(end + 1));
  return (rest.empty() || rest[0] == '#') &&
         (quote == '\'' || value.find('\\') == std::string::npos);
}

/// What `dir` of [compile] says.
std::string written_folder(const std::string &path) {
  std::ifstream file(path);
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (!line.empty() && line[0] == '[')
      within = line.compare(0, 9, "[compile]") == 0;
    const size_t equals = line.find('=');
    if (!within || equals == std::string::npos ||
        trimmed(line.substr(0, equals)) != "dir")
      continue;
    std::string value;
    if (!plain_string(trimmed(line.substr(equals + 1)), value))
      refuse(XIOKV_E_MODULE,
             "%s: [compile] dir is no string in quotes; name the module in "
             "$XIOKV_MODULE",
             path.c_str());
    return value;
  }
  return default_folder;
}

bool exists(const std::string &path, struct stat &found) {
  return stat(path.c_str(), &found) == 0;
}

/// Search upward, within one file system and not past the root of a checkout.
std::string nearest_project() {
  char *const working = getcwd(nullptr, 0);
  if (working == nullptr)
    return "";
  std::string folder = working;
  free(working);
  struct stat first, found;
  if (!exists(folder, first))
    return "";
  for (;; folder = folder.substr(0, folder.rfind('/'))) {
    const std::string here = folder.empty() ? "/" : folder;
    if (!exists(here, found) || found.st_dev != first.st_dev)
      return "";
    if (exists(folder + "/xiokv.toml", found))
      return folder;
    if (folder.empty() || exists(folder + "/.git", found))
      return "";
  }
}

} // namespace

std::string compile_folder() {
  const std::string folder = nearest_project();
  if (folder.empty())
    return "";
  const std::string written = written_folder(folder + "/xiokv.toml");
  return written[0] == '/' ? written : folder + "/" + written;
}

} // namespace xiokv::host
