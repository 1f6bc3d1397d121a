// SPDX-License-Identifier: MIT
#include "syntax.h"

#include <ctype.h>
#include <stdlib.h>

#include <set>

namespace amdgpu {

namespace {

const std::set<std::string> words = {
    "glc",          "slc",   "dlc",        "sc0",
    "sc1",          "nt",    "gds",        "lds",
    "offen",        "idxen", "clamp",      "tfe",
    "unorm",        "done",  "row_mirror", "row_half_mirror",
    "row_newbcast",
};

/// Words between commas and spaces, brackets and parentheses kept whole.
std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text + " ") {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (depth > 0 || (c != ' ' && c != ',')) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(part);
      part.clear();
    }
  }
  return parts;
}

/// Length of a modifier's name before its colon; 0 for other words.
size_t name_length(const std::string &word) {
  size_t i = 0;
  while (i < word.size() && (isalnum(word[i]) || word[i] == '_'))
    ++i;
  return i < word.size() && word[i] == ':' ? i : 0;
}

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

long Text::number(const std::string &modifier, long otherwise) const {
  const auto found = modifiers.find(modifier);
  return found == modifiers.end() ? otherwise
                                  : strtol(found->second.c_str(), nullptr, 0);
}

Text parse_text(const std::string &text) {
  Text result;
  for (const std::string &word : split(text)) {
    const size_t length = name_length(word);
    if (result.name.empty())
      result.name = word;
    else if (length > 0)
      result.modifiers[word.substr(0, length)] = word.substr(length + 1);
    else if (words.count(word))
      result.modifiers[word] = "";
    else
      result.operands.push_back(word);
  }
  return result;
}

std::string plain_name(std::string name) {
  for (bool again = true; again;) {
    again = false;
    for (const char *end : {"_e32", "_e64", "_dpp", "_dpp8", "_sdwa"})
      if (ends_with(name, end)) {
        name.resize(name.size() - std::string(end).size());
        again = true;
      }
  }
  if (name.compare(0, 7, "v_dual_") == 0)
    name.erase(2, 5);
  return name;
}

} // namespace amdgpu
