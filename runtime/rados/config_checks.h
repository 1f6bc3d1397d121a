// SPDX-License-Identifier: MIT
/// @file
/// @brief Refuses what librados would end the whole process for, or pass over.
#pragma once

#include <string>

#include <rados/librados.hpp>

namespace xiokv::rados {

/// @brief Refuse words of CEPH_ARGS that librados ends the process for; it
/// reads them when a client is made.
/// @param text NULL for none.
void check_words(const char *text);

/// @brief Refuse values that options in CEPH_ARGS cannot have, which librados
/// leaves out.
/// @param text NULL for none.
/// @param rados Knows the options; it takes the values that are right.
void check_values(const char *text, librados::Rados &rados);

/// @brief Refuse a configuration or a keyring with a byte above 7Fh outside a
/// comment; a file that cannot be read is none.
void check_file(const std::string &path);

/// @brief The list of keyrings of which a client reads the first when it reads
/// a configuration.
/// @param file NULL for the one that is found.
/// @return Empty where it cannot be read.
std::string keyrings_of(const char *file, const std::string &user,
                        const std::string &cluster);

/// @brief Refuse a network stack that is not here.
void check_network(librados::Rados &rados);

/// @brief Look up monitors that go by names: librados writes of one without an
/// address to standard output.
/// @return The first such name, and why; empty if there is none.
std::string lost_monitor(librados::Rados &rados);

/// @brief The first of several paths that can be read; empty if none can.
/// @param paths With commas, spaces or semicolons between them.
std::string first_readable(const std::string &paths);

/// @brief The same of keyrings, which librados parts by commas alone.
std::string first_keyring(const std::string &paths);

} // namespace xiokv::rados
