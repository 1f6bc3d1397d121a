// SPDX-License-Identifier: MIT
#include "cluster.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>

#include "config_checks.h"
#include "quiet.h"

namespace xiokv::rados {

namespace {

using std::chrono::milliseconds;

std::string text_or(const char *given, const char *otherwise) {
  return given && *given ? given : otherwise;
}

/// Options of librados are whole seconds, and 0 is for ever.
std::string whole_seconds(milliseconds time) {
  return std::to_string((time.count() + 999) / 1000);
}

/// Of options that take fractions; a thread looks so often, so not for less.
std::string decimal_seconds(milliseconds time) {
  const auto bounded =
      std::clamp(time, milliseconds(50), milliseconds(5000)).count();
  return std::to_string(static_cast<double>(bounded) / 1000);
}

std::string reason(int result) { return std::strerror(-result); }

/// Where librados looks for its configuration where none is named.
std::string default_files(const std::string &cluster) {
  const std::string name = cluster + ".conf";
  return text_or(std::getenv("CEPH_CONF"),
                 ("/etc/ceph/" + name + "," + text_or(std::getenv("HOME"), "") +
                  "/.ceph/" + name + "," + name)
                     .c_str());
}

bool is_folder(const std::string &path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

[[noreturn]] void refuse(const std::string &what, int result) {
  throw Refusal(what + ": " + reason(result));
}

/// Looked at before any other member.
const xiokv_rados_config &of_known_size(const xiokv_rados_config &given) {
  if (given.struct_size != sizeof given)
    throw Refusal("struct_size is " + std::to_string(given.struct_size) +
                  "; this library was compiled for " +
                  std::to_string(sizeof given));
  return given;
}

} // namespace

Place::Place(const xiokv_rados_config &given)
    : pool(text_or(of_known_size(given).pool, "")),
      name_space(text_or(given.name_space, "")),
      user(text_or(given.user, "client.admin")),
      cluster(text_or(given.cluster, "ceph")), conf(text_or(given.conf, "")),
      keyring(text_or(given.keyring, "")), timeout(given.timeout_ms),
      connect_timeout(given.connect_timeout_ms),
      read_only((given.flags & XIOKV_RADOS_READ_ONLY) != 0) {
  if (pool.empty())
    throw Refusal("no pool is named");
  if (name_space == librados::all_nspaces)
    throw Refusal("the namespace stands for all of them; name one");
  if ((given.flags & ~uint32_t{XIOKV_RADOS_READ_ONLY}) != 0)
    throw Refusal("flags has bits that mean nothing here");
  if (given.timeout_ms == 0 || given.connect_timeout_ms == 0)
    throw Refusal("a timeout is 0 ms; allowed is 1 or more");
}

Cluster::Cluster(const Place &place) {
  check_words(std::getenv("CEPH_ARGS"));
  int result =
      rados_.init2(place.user.c_str(), place.cluster.c_str(), /*flags=*/0);
  if (result < 0)
    refuse("cannot be a client named " + place.user, result);
  const Quiet quiet;
  configure(place);
  result = rados_.connect();
  if (result < 0)
    throw Refusal(complaint(result, place));
  result = rados_.ioctx_create(place.pool.c_str(), objects_);
  if (result == -ENOENT)
    throw Refusal("the cluster has no pool " + place.pool +
                  "; make it (ceph osd pool create " + place.pool +
                  ") or name another");
  if (result < 0)
    refuse("cannot open the pool " + place.pool, result);
  objects_.set_namespace(place.name_space);
  // Now: the monitors have told the options that they have of clients.
  const uint64_t write = number("osd_max_write_size", UINT32_MAX) << 20;
  const uint64_t object = number("osd_max_object_size", UINT32_MAX);
  value_max_ =
      static_cast<uint32_t>(std::min<uint64_t>({write, object, UINT32_MAX}));
}

/// A configuration file of the default places may be missing: CEPH_ARGS can say
/// all. One that is named may not.
void Cluster::read_configuration(const Place &place) {
  const char *file = place.conf.empty() ? nullptr : place.conf.c_str();
  if (is_folder(place.conf))
    throw Refusal("the configuration " + place.conf +
                  " is a folder; name a file");
  check_file(file ? place.conf : first_readable(default_files(place.cluster)));
  if (place.keyring.empty())
    check_file(first_keyring(keyrings_of(file, place.user, place.cluster)));
  int result = rados_.conf_read_file(file);
  if (result < 0 && file)
    refuse("cannot read the configuration " + place.conf, result);
  check_values(std::getenv("CEPH_ARGS"), rados_);
  result = rados_.conf_parse_env(nullptr);
  if (result < 0)
    refuse("cannot make use of CEPH_ARGS", result);
  check_network(rados_);
  const std::string lost = lost_monitor(rados_);
  if (!lost.empty())
    throw Refusal(no_monitor(place) + ": " + lost);
}

void Cluster::configure(const Place &place) {
  // First: librados writes what it thinks of the configuration, too.
  set("log_to_stderr", "false");
  set("err_to_stderr", "false");
  if (!place.keyring.empty()) {
    check_file(first_keyring(place.keyring)); // it is read at once
    set("keyring", place.keyring); // and that of the configuration is not
  }
  read_configuration(place);
  limit_calls(milliseconds::zero());
  set("rados_mon_op_timeout", whole_seconds(place.timeout));
  set("client_mount_timeout", whole_seconds(place.connect_timeout));
  // An OSD that crashed and is back at once is met by its new map. It is asked
  // for only where an operation has waited for this long: so before it is given
  // up, not after the default of 10 s.
  set("objecter_timeout", decimal_seconds(place.timeout / 4));
  set("objecter_tick_interval", decimal_seconds(place.timeout / 8));
  // Else a call waits while so many operations are under way; the depths of the
  // queues bound them already.
  set("objecter_inflight_ops", "0");
  set("objecter_inflight_op_bytes", "0");
}

void Cluster::limit_calls(milliseconds longest) {
  rados_.conf_set("rados_osd_op_timeout", whole_seconds(longest).c_str());
}

/// What stands in the way of a connection: the code alone names no file.
std::string Cluster::complaint(int result, const Place &place) {
  const std::string why = ": " + reason(result);
  switch (-result) {
  case EACCES:
  case EPERM:
  case EIO:
    return "the cluster does not take " + place.user + by_which_key(why);
  case ENOENT:
  case EINVAL:
    return no_monitor(place) + why;
  }
  return "cannot reach the cluster as " + place.user + " within " +
         whole_seconds(place.connect_timeout) + " s" + why;
}

std::string Cluster::no_monitor(const Place &place) {
  return "no monitor is found by mon_host '" + get("mon_host") + "' of " +
         (place.conf.empty() ? "the " + place.cluster +
                                   ".conf that was found, if any "
                                   "($CEPH_CONF, /etc/ceph, ~/.ceph, .)"
                             : place.conf);
}

/// The one that librados takes: without `key` and `keyfile`, the first of the
/// keyrings that can be read.
std::string Cluster::by_which_key(const std::string &why) {
  const std::string methods = get("auth_client_required");
  if (methods.find("cephx") == std::string::npos)
    return " by auth_client_required = " + methods + why;
  if (!get("key").empty())
    return " by the key of its configuration" + why;
  if (!get("keyfile").empty())
    return " by the key in " + get("keyfile") + why;
  const std::string keyrings = get("keyring");
  const std::string keyring = first_keyring(keyrings);
  return keyring.empty()
             ? ": there is no keyring that can be read at " + keyrings
             : " by the key in keyring " + keyring + why;
}

std::string Cluster::get(const char *option) {
  std::string value;
  rados_.conf_get(option, value);
  return value;
}

/// 0 stands for what it is not limited by.
uint64_t Cluster::number(const char *option, uint64_t otherwise) {
  const std::string text = get(option);
  const uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  return value == 0 ? otherwise : value;
}

void Cluster::set(const char *option, const std::string &value) {
  const int result = rados_.conf_set(option, value.c_str());
  if (result < 0)
    refuse("cannot set " + std::string(option) + " to " + value, result);
}

Answer Cluster::answer_to(int result) {
  if (result >= 0)
    return Answer::done;
  switch (-result) {
  case ENOENT:
    return pool_is_gone() ? Answer::gone : Answer::missing;
  case EEXIST:
    return Answer::exists;
  case ENOSPC:
  case EDQUOT:
    return Answer::full;
  case EFBIG:
  case EMSGSIZE:
    return Answer::too_large;
  case EPERM:
  case EACCES:
    return Answer::denied;
  case EROFS:
    return Answer::read_only;
  case ETIMEDOUT:
  case ECANCELED:
  case EAGAIN:
  case EBUSY:
  case ENOTCONN:
  case ECONNRESET:
    return Answer::unreachable;
  case ESHUTDOWN: // EBLOCKLISTED
    return Answer::cut_off;
  }
  return Answer::failed;
}

/// A pool that was deleted answers as a missing object does. The map that says
/// so is at hand, and this asks it alone: to look a pool's name up would wait
/// for a monitor.
bool Cluster::pool_is_gone() {
  uint32_t position = 0;
  return objects_.get_object_hash_position2("0", &position) == -ENOENT;
}

} // namespace xiokv::rados
