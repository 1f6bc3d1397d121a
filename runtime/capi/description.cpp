// SPDX-License-Identifier: MIT
#include "description.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "fault.h"
#include "json.h"
#include "sha256.h"

namespace xiokv::host {

namespace {

constexpr const char *schema = "xiokv-module/1";
constexpr const char *anew =
    "run xiokv-gen build --target host to make it anew";

bool is_folder(const std::string &path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string name_of(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// Takes a description apart; every fault names the member and the file.
class DescriptionReader {
public:
  DescriptionReader(const std::string &path, const Json &document)
      : path_(path), document_(document) {}

  Description read() const {
    if (text(document_, "schema") != schema)
      refuse(XIOKV_E_MODULE, "%s: schema %s; this library reads %s",
             path_.c_str(), text(document_, "schema").c_str(), schema);
    const std::string target = text(document_, "target");
    if (target != "host")
      refuse(XIOKV_E_MODULE,
             "%s was built for target %s; this library runs modules for host: "
             "name another, or run xiokv-gen build --target host",
             path_.c_str(), target.c_str());
    Description found;
    read_file_of(found);
    found.generator = text(document_, "generator");
    found.compiler = text(document_, "compiler");
    found.spec = text(document_, "spec");
    read_commands(found);
    read_fields(found);
    return found;
  }

private:
  const Json &member(const Json &holder, const char *name,
                     Json::Kind kind) const {
    const Json *const found = holder.member(name, kind);
    if (found == nullptr)
      refuse(XIOKV_E_MODULE, "%s is incomplete or damaged: no %s in it; %s",
             path_.c_str(), name, anew);
    return *found;
  }

  const std::string &text(const Json &holder, const char *name) const {
    return member(holder, name, Json::Kind::text).text;
  }

  uint32_t number(const Json &holder, const char *name) const {
    return static_cast<uint32_t>(
        member(holder, name, Json::Kind::number).number);
  }

  void read_file_of(Description &found) const {
    const Json &images = member(document_, "images", Json::Kind::array);
    if (images.items.size() != 1)
      refuse(XIOKV_E_MODULE,
             "%s names %zu files, and a host module has one; %s", path_.c_str(),
             images.items.size(), anew);
    const std::string &name = text(images.items[0], "file");
    if (name.empty() || name.find('/') != std::string::npos)
      refuse(XIOKV_E_MODULE, "%s: '%s' is no file beside the description",
             path_.c_str(), name.c_str());
    found.arch = text(images.items[0], "arch");
    found.file = folder_of(path_) + "/" + name;
    found.sha256 =
        text(member(document_, "files", Json::Kind::object), name.c_str());
  }

  void read_commands(Description &found) const {
    const Json &commands = member(document_, "commands", Json::Kind::object);
    for (const auto &[name, command] : commands.members)
      found.commands[number(command, "opcode")].kernel =
          text(command, "kernel");
  }

  void read_fields(Description &found) const {
    const Json &commands = member(document_, "commands", Json::Kind::object);
    const Json &profile = member(document_, "profile", Json::Kind::object);
    for (const Json &field : member(profile, "fields", Json::Kind::array).items)
      for (const Json &name :
           member(field, "commands", Json::Kind::array).items) {
        const Json &command =
            member(commands, name.text.c_str(), Json::Kind::object);
        add_field(field, found.commands[number(command, "opcode")].fields);
      }
  }

  void add_field(const Json &field, xiokv_reserved &fields) const {
    const Json &bits = member(field, "bits", Json::Kind::object);
    const uint32_t msb = number(bits, "msb"), lsb = number(bits, "lsb");
    const uint32_t dword = number(field, "dword");
    const bool fits = lsb <= msb && msb < 32;
    uint32_t *const place = dword == 11 && lsb >= 16 ? &fields.cdw11
                            : dword == 12            ? &fields.cdw12
                            : dword == 13            ? &fields.cdw13
                                                     : nullptr;
    if (!fits || place == nullptr)
      refuse(XIOKV_E_MODULE, "%s is damaged: a field at CDW%u[%u:%u]; %s",
             path_.c_str(), dword, msb, lsb, anew);
    *place |= ~0u >> (31 - msb + lsb) << lsb;
  }

  const std::string &path_;
  const Json &document_;
};

std::string description_at(const std::string &place) {
  struct stat found;
  if (stat(place.c_str(), &found) != 0)
    refuse(XIOKV_E_MISSING, "no module at %s: %s", place.c_str(),
           strerror(errno));
  const std::string path =
      (is_folder(place) ? place : folder_of(place)) + "/module.json";
  if (stat(path.c_str(), &found) != 0)
    refuse(XIOKV_E_MODULE,
           "%s is no module: that is a folder with a module.json, or a file "
           "that this names; xiokv-gen build --target host makes one",
           place.c_str());
  return path;
}

/// A truncated library must not reach the loader: it would end the process.
void check_whole(const Description &description) {
  const std::string found = sha256(read_file(description.file));
  if (found != description.sha256)
    refuse(XIOKV_E_MODULE,
           "%s is truncated or was changed: its SHA-256 is %.12s..., its "
           "description says %.12s...; %s",
           description.file.c_str(), found.c_str(), description.sha256.c_str(),
           anew);
}

void check_processor(const Description &description) {
  utsname machine;
  uname(&machine);
  if (description.arch != machine.machine)
    refuse(XIOKV_E_MODULE, "%s was built for %s, and this machine is %s; %s",
           description.file.c_str(), description.arch.c_str(), machine.machine,
           anew);
}

} // namespace

std::string Description::built() const {
  return "host module for " + arch + ", spec " + spec.substr(0, 12) +
         ", by xiokv " + generator + " with " + compiler;
}

bool is_module(const std::string &folder) {
  DIR *const opened = opendir(folder.c_str());
  if (opened == nullptr)
    return false;
  bool found = false;
  while (const dirent *entry = readdir(opened))
    found = found || entry->d_name[0] != '.';
  closedir(opened);
  return found;
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    refuse(XIOKV_E_MODULE, "%s cannot be read: %s", path.c_str(),
           strerror(errno));
  return text.str();
}

Description read_description(const std::string &place) {
  const std::string path = description_at(place);
  Json document;
  if (!Json::parse(read_file(path), document))
    refuse(XIOKV_E_MODULE, "%s is truncated or damaged: no JSON; %s",
           path.c_str(), anew);
  const Description found = DescriptionReader(path, document).read();
  const std::string name = name_of(place);
  if (!is_folder(place) && name != "module.json" && name != name_of(found.file))
    refuse(XIOKV_E_MODULE, "%s is no module: %s names %s", place.c_str(),
           path.c_str(), found.file.c_str());
  check_whole(found);
  check_processor(found);
  return found;
}

} // namespace xiokv::host
