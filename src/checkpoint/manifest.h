// The manifest of a checkpoint folder; folder.h describes its format.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "checkpoint/file_checksum.h"

namespace regard {

inline constexpr const char* manifest_name = "manifest.json";

struct Manifest {
  std::string regard_version;  // the version of regard that wrote it
  std::map<std::string, FileChecksum> files;
  Json info = Json::object();  // see FolderWriter::commit()
};

std::string format_manifest(const Manifest& manifest);

// True if `name` names a file directly in a folder: no separators, not "." or "..".
bool is_plain_name(std::string_view name);
// Throws CheckpointError: `path` is a symbolic link, which could lead out of an untrusted model.
[[noreturn]] void reject_link(const std::filesystem::path& path);

// Reads folder/manifest.json. Throws CheckpointError if it is missing, damaged, a link or in a
// newer format. All file names in the result are plain (is_plain_name()).
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace regard
