// SPDX-License-Identifier: MIT
#include "search.h"

#include <dlfcn.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "description.h"
#include "fault.h"
#include "json.h"
#include "project.h"

namespace xiokv::host {

namespace {

std::string environment(const char *name) {
  const char *const value = getenv(name);
  return value == nullptr ? "" : value;
}

/// Where `xiokv-gen install` puts a module: below the folder of this library.
std::string installed_place() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(xiokv_version), &self) == 0)
    return "";
  const std::string file = self.dli_fname;
  return file.substr(0, file.rfind('/') + 1) + "host";
}

std::string cache_folder() {
  const std::string base = environment("XDG_CACHE_HOME");
  if (!base.empty())
    return base + "/xiokv";
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/xiokv";
}

/// Whether a description is of a host module by this library's version.
bool is_ours(const std::string &path) {
  try {
    Json document;
    if (!Json::parse(read_file(path), document))
      return false;
    const Json *const target = document.member("target", Json::Kind::text);
    const Json *const made = document.member("generator", Json::Kind::text);
    return target != nullptr && target->text == "host" && made != nullptr &&
           made->text == XIOKV_GENERATOR &&
           document.member("commands", Json::Kind::object) != nullptr;
  } catch (const Fault &) {
    return false;
  }
}

/// The newest of the modules in the user's cache, or nothing.
std::string cached_place(const std::string &cache) {
  std::string newest;
  timespec made = {};
  glob_t found = {};
  if (!cache.empty() &&
      glob((cache + "/*/xiokv_host.so").c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string file = found.gl_pathv[i];
      const std::string folder = file.substr(0, file.rfind('/'));
      struct stat status;
      if (stat(file.c_str(), &status) != 0 || !is_ours(folder + "/module.json"))
        continue;
      const timespec &time = status.st_mtim;
      if (newest.empty() || time.tv_sec > made.tv_sec ||
          (time.tv_sec == made.tv_sec && time.tv_nsec > made.tv_nsec))
        newest = folder, made = time;
    }
  globfree(&found);
  return newest;
}

[[noreturn]] void refuse_none(const std::string &project,
                              const std::string &beside,
                              const std::string &cache) {
  const std::string nearest =
      project.empty() ? "none" : "nothing at " + project;
  refuse(XIOKV_E_MISSING,
         "no host module: name one, or run xiokv-gen build --target host in a "
         "project\nlooked at $XIOKV_MODULE: not set\nlooked beside this "
         "library: nothing at %s\nlooked at the nearest xiokv.toml: %s\nlooked "
         "at the user's cache: nothing by xiokv %s in %s",
         beside.c_str(), nearest.c_str(), XIOKV_GENERATOR, cache.c_str());
}

} // namespace

Found find_module(const char *named) {
  if (named != nullptr)
    return {named, "the caller"};
  const std::string asked = environment("XIOKV_MODULE");
  if (!asked.empty())
    return {asked, "$XIOKV_MODULE"};
  const std::string beside = installed_place();
  if (!beside.empty() && is_module(beside))
    return {beside, "this library's folder"};
  const std::string compiled = compile_folder();
  const std::string project = compiled.empty() ? "" : compiled + "/host";
  if (!project.empty() && is_module(project))
    return {project, "the nearest xiokv.toml"};
  const std::string cache = cache_folder(), kept = cached_place(cache);
  if (!kept.empty())
    return {kept, "the user's cache"};
  refuse_none(project, beside, cache);
}

} // namespace xiokv::host
