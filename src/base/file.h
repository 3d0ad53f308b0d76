// Whole small files, read and written so that nothing is ever half there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace regard {

// The bytes of a file: read_file<InputError>(path, "vocabulary"). `Problem` is one of the classes
// of base/error.h, thrown with the path and whether the file is missing, a folder or not readable;
// `what` names the file's role. More than `most` bytes are a Problem too, before memory is taken.
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();
template <typename Problem>
std::string read_file(const std::filesystem::path& path, std::string_view what,
                      std::size_t most = any_size);

// Replaces `path` in one step: written aside, with the permissions of what is there, synced,
// renamed over it, the folder synced. After a failure (EnvironmentError: disk full, no permission)
// the old file stands untouched. The file that is written aside has no name where the file system
// can do that, so a process that is killed leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Opens a new file beside `path` for writing, with the permissions of the file at `path` if there
// is one, and stores its name in `beside`: PATH.part-PID, or PATH.part-PID-N if another file has
// that name. Returns the descriptor, or -1 with errno set.
int open_beside(const std::filesystem::path& path, std::filesystem::path& beside);

// Gives an open file the permissions of the one at `path`, which it is to replace, if there is one.
void take_permissions(const std::filesystem::path& path, int descriptor) noexcept;

// All bytes to an open descriptor, in as many writes as it takes. EnvironmentError names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// An empty name and - stand for standard input or output, wherever a command takes a file.
bool is_standard_stream(std::string_view path) noexcept;

// Whether a regular file is there, or a link to one; what cannot be looked at is none.
bool is_file(const std::filesystem::path& path) noexcept;

// Makes a folder with its parents; EnvironmentError says why it could not.
void make_folder(const std::filesystem::path& path);

// Flushes a written file, or a folder's list of entries, to the disk.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace regard
