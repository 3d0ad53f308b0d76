// Reads whole small files and replaces files atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace regard {

inline constexpr std::size_t unlimited_size = std::numeric_limits<std::size_t>::max();

// Returns the bytes of a file: read_file<InputError>(path, "vocabulary"). Throws `Exception`, a
// class of base/error.h, if the file is missing, a folder, not readable or larger than `max_size`
// bytes. `role` names the file's purpose in the message.
template <typename Exception>
std::string read_file(const std::filesystem::path& path, std::string_view role,
                      std::size_t max_size = unlimited_size);

// Replaces `path` atomically: writes a temporary file with the permissions of the old one, syncs
// it, renames it and syncs the folder. Throws EnvironmentError (disk full, no permission) and
// leaves the old file untouched. The temporary file has no name if the file system supports that,
// so a killed process leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Creates a temporary file for the replacement of `path`, with the permissions of `path` if that
// exists. Stores its name in `temporary`: PATH.part-PID, or PATH.part-PID-N if that name is taken.
// Returns the descriptor, or -1 with errno set.
int create_temporary(const std::filesystem::path& path, std::filesystem::path& temporary);

// Copies the permissions of the file at `path`, if it exists, to an open file.
void copy_permissions(const std::filesystem::path& path, int descriptor) noexcept;

// Writes all bytes to an open descriptor. Throws EnvironmentError, which names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// True for an empty name and for "-", which mean standard input or output.
bool is_standard_stream(std::string_view path) noexcept;

// True if `path` is a regular file or a link to one. False on any error.
bool is_file(const std::filesystem::path& path) noexcept;

// Creates a folder and its parents. Throws EnvironmentError.
void make_folder(const std::filesystem::path& path);

// Flushes a file, or the entries of a folder, to disk. Does nothing for a folder that this
// process may not read. Throws EnvironmentError.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace regard
