// Whole small files, read and written so that nothing is ever half there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace regard {

// The bytes of a regular file. Throws an Error of `code` that says whether the file is missing, a
// directory, or not readable; `what` names its role ("configuration", "source file").
std::string read_file(const std::filesystem::path& path, std::string_view what, ExitCode code);

// Replaces `path` in one step: written aside, synced, renamed over it, the folder synced. After a
// failure (EnvironmentError: disk full, no permission) the old file stands untouched.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Makes a folder with its parents; EnvironmentError says why it could not.
void make_folder(const std::filesystem::path& path);

// Flushes a written file, or a folder's list of entries, to the disk.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace regard
