// SPDX-License-Identifier: MIT
#include "json.h"

#include <cstring>

namespace xiokv::host {

namespace {

constexpr int deepest = 32;

/// A place in a text; each function returns whether it found what it is for.
class JsonReader {
public:
  explicit JsonReader(const std::string &text) : text_(text) {}

  bool value(Json &into, int depth = 0) {
    skip_space();
    if (at_ == text_.size() || depth > deepest)
      return false;
    switch (text_[at_]) {
    case '{':
      return object(into, depth);
    case '[':
      return array(into, depth);
    case '"':
      into.kind = Json::Kind::text;
      return quoted(into.text);
    default:
      return bare(into);
    }
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

private:
  void skip_space() {
    while (at_ < text_.size() && strchr(" \t\r\n", text_[at_]) != nullptr)
      ++at_;
  }

  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }

  bool object(Json &into, int depth) {
    into.kind = Json::Kind::object;
    take('{');
    if (take('}'))
      return true;
    do {
      std::string name;
      skip_space();
      if (!quoted(name) || !take(':') || !value(into.members[name], depth + 1))
        return false;
    } while (take(','));
    return take('}');
  }

  bool array(Json &into, int depth) {
    into.kind = Json::Kind::array;
    take('[');
    if (take(']'))
      return true;
    do {
      into.items.emplace_back();
      if (!value(into.items.back(), depth + 1))
        return false;
    } while (take(','));
    return take(']');
  }

  bool quoted(std::string &into) {
    if (at_ == text_.size() || text_[at_] != '"')
      return false;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] != '\\')
        into += text_[at_];
      else if (!escape(into))
        return false;
    return take('"');
  }

  /// From a backslash to the last character of its escape. Characters by
  /// number, which no text of interest has, become question marks.
  bool escape(std::string &into) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    constexpr size_t digits = 4;
    if (++at_ >= text_.size())
      return false;
    if (text_[at_] == 'u') {
      at_ += digits;
      into += '?';
      return at_ < text_.size();
    }
    const char *const found = strchr(from, text_[at_]);
    if (found == nullptr || *found == 0)
      return false;
    into += to[found - from];
    return true;
  }

  bool bare(Json &into) {
    const size_t begin = at_;
    while (at_ < text_.size() && strchr(",]} \t\r\n", text_[at_]) == nullptr)
      ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty())
      return false;
    if (word.find_first_not_of("0123456789") == std::string::npos &&
        word.size() < 19) {
      into.kind = Json::Kind::number;
      for (const char digit : word)
        into.number = 10 * into.number + static_cast<uint64_t>(digit - '0');
      return true;
    }
    return word == "true" || word == "false" || word == "null" ||
           word.find_first_not_of("+-.0123456789eE") == std::string::npos;
  }

  const std::string &text_;
  size_t at_ = 0;
};

} // namespace

const Json *Json::member(const char *name, Kind wanted) const {
  const auto found = members.find(name);
  return found != members.end() && found->second.kind == wanted ? &found->second
                                                                : nullptr;
}

bool Json::parse(const std::string &text, Json &value) {
  JsonReader reader(text);
  return reader.value(value) && reader.at_end();
}

} // namespace xiokv::host
