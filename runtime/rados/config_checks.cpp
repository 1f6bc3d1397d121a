// SPDX-License-Identifier: MIT
#include "config_checks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <netdb.h>
#include <unistd.h>

#include "refusal.h"

namespace xiokv::rados {

namespace {

constexpr const char *bind_word = "--bind";

/// Words that librados reads before it looks its options up, and the options
/// they are. Each needs a value.
const std::map<std::string, const char *> own_words = {
    {"-k", "keyring"},
    {"--keyring", "keyring"},
    {"-K", "keyfile"},
    {"--keyfile", "keyfile"},
    {"-m", "mon_host"},
    {"--mon_host", "mon_host"},
    {"-M", "monmap"},
    {"--monmap", "monmap"},
    {"-r", "client_mountpoint"},
    {"--client_mountpoint", "client_mountpoint"},
    {"--show_config_value", ""},
    {bind_word, ""},
};

struct Word {
  std::string option; ///< Dashes within are underscores, as librados reads it.
  std::string value;
  bool has_value;
};

Word taken_apart(const std::string &word) {
  const size_t at = word.find('=');
  Word found = {word.substr(0, at), "", at != std::string::npos};
  if (found.has_value)
    found.value = word.substr(at + 1);
  if (found.option.rfind("--", 0) == 0)
    std::replace(found.option.begin() + 2, found.option.end(), '-', '_');
  return found;
}

std::vector<std::string> words_of(const std::string &text, char between = ' ') {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, between);)
    if (!word.empty())
      words.push_back(word);
  return words;
}

/// @return Its option's name; empty for a word that is none.
std::string option_of(const std::string &word, librados::Rados &rados) {
  const auto own = own_words.find(word);
  if (own != own_words.end())
    return own->second;
  std::string value;
  const bool is_long = word.size() > 2 && word.rfind("--", 0) == 0;
  return is_long && rados.conf_get(word.substr(2).c_str(), value) == 0
             ? word.substr(2)
             : "";
}

[[noreturn]] void refuse_lack(const std::string &word) {
  throw Refusal("CEPH_ARGS ends with " + word +
                ", which needs a value; add it or leave the option out");
}

/// Of a flag the value may be left out.
bool is_flag(const std::string &option, librados::Rados &rados) {
  std::string value;
  rados.conf_get(option.c_str(), value);
  return value == "true" || value == "false";
}

void check_value(const std::string &option, const std::string &value,
                 librados::Rados &rados) {
  if (option == "keyring")
    check_file(first_keyring(value)); // it is read at once
  if (!option.empty() && rados.conf_set(option.c_str(), value.c_str()) < 0)
    throw Refusal("CEPH_ARGS says " + option + " is '" + value +
                  "', which this option cannot be; change it or leave it out");
}

/// Of a list as librados has them.
std::vector<std::string> parts_of(std::string list) {
  std::replace_if(
      list.begin(), list.end(),
      [](char sign) { return sign == ',' || sign == ';' || sign == '\t'; },
      ' ');
  return words_of(list);
}

std::string first_readable_of(const std::vector<std::string> &paths) {
  for (const std::string &path : paths)
    if (access(path.c_str(), R_OK) == 0)
      return path;
  return "";
}

/// @return What has to be looked up; empty for what is an address.
std::string name_of(const std::string &host) {
  for (const char *typed : {"[v1:", "[v2:", "v1:", "v2:"})
    if (host.rfind(typed, 0) == 0)
      return "";
  if (host[0] == '[')
    return host.substr(1, host.find(']') - 1);
  const size_t colon = host.find(':');
  const bool is_address = colon != host.rfind(':'); // of IPv6
  return is_address ? "" : host.substr(0, colon);
}

/// What a backslash stands before is no sign of a comment.
bool is_comment_before(const std::string &line, size_t end) {
  for (size_t at = 0; at < end; ++at)
    if ((line[at] == '#' || line[at] == ';') &&
        (at == 0 || line[at - 1] != '\\'))
      return true;
  return false;
}

} // namespace

void check_words(const char *text) {
  const std::vector<std::string> words = words_of(text ? text : "");
  for (size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const Word word = taken_apart(words[at]);
    if (own_words.count(word.option) == 0)
      continue;
    if (word.option == bind_word)
      throw Refusal("CEPH_ARGS has --bind, which is of daemons: leave it out");
    if (!word.has_value && ++at == words.size())
      refuse_lack(words[at - 1]);
  }
}

void check_values(const char *text, librados::Rados &rados) {
  const std::vector<std::string> words = words_of(text ? text : "");
  for (size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const Word word = taken_apart(words[at]);
    const bool is_own = own_words.count(word.option) != 0;
    const std::string option = option_of(word.option, rados);
    if (word.has_value) {
      check_value(option, word.value, rados);
    } else if (is_own || (!option.empty() && !is_flag(option, rados))) {
      if (++at == words.size())
        refuse_lack(words[at - 1]);
      check_value(option, words[at], rados);
    }
  }
}

void check_file(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    const auto strange = std::find_if(line.begin(), line.end(), [](char sign) {
      return static_cast<unsigned char>(sign) > 0x7f;
    });
    if (strange == line.end() ||
        is_comment_before(line, size_t(strange - line.begin())))
      continue;
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02Xh",
                  static_cast<unsigned char>(*strange));
    throw Refusal("line " + std::to_string(number) + " of " + path +
                  " has the byte " + byte +
                  "; librados reads ASCII alone, save in comments: change it");
  }
}

void check_network(librados::Rados &rados) {
  for (const char *option : {"ms_type", "ms_public_type"}) {
    std::string type;
    rados.conf_get(option, type);
    const std::array<const char *, 4> here = {"", "async", "async+posix",
                                              "random"};
    const bool is_rdma =
        type == "async+rdma" && access("/sys/class/infiniband", F_OK) == 0;
    if (!is_rdma && std::count(here.begin(), here.end(), type) == 0)
      throw Refusal(std::string(option) + " is '" + type +
                    "'; this machine has async+posix: leave the option out");
  }
}

std::string lost_monitor(librados::Rados &rados) {
  std::string hosts;
  rados.conf_get("mon_host", hosts);
  for (const std::string &host : parts_of(hosts)) {
    const std::string name = name_of(host);
    addrinfo *found = nullptr;
    const int result =
        name.empty() ? 0 : getaddrinfo(name.c_str(), nullptr, nullptr, &found);
    if (result != 0)
      return name + ": " + gai_strerror(result);
    if (found)
      freeaddrinfo(found);
  }
  return "";
}

std::string keyrings_of(const char *file, const std::string &user,
                        const std::string &cluster) {
  librados::Rados reader;
  std::string keyrings;
  if (reader.init2(user.c_str(), cluster.c_str(), /*flags=*/0) < 0)
    return keyrings;
  for (const char *option : {"log_to_stderr", "err_to_stderr"})
    reader.conf_set(option, "false");
  reader.conf_set("auth_supported", "none"); // else it reads a keyring, too
  if (reader.conf_read_file(file) >= 0)
    reader.conf_get("keyring", keyrings);
  return keyrings;
}

std::string first_readable(const std::string &paths) {
  return first_readable_of(parts_of(paths));
}

std::string first_keyring(const std::string &paths) {
  return first_readable_of(words_of(paths, ','));
}

} // namespace xiokv::rados
