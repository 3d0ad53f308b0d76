// The manifest of a checkpoint folder, as folder.h shows it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "checkpoint/stamped_file.h"

namespace regard {

inline constexpr const char* manifest_name = "manifest.json";

struct Manifest {
  std::string regard;  // the version that wrote it
  std::map<std::string, FileStamp> files;
  Json info = Json::object();
};

std::string format_manifest(const Manifest& manifest);

// Of a file right in the folder.
bool is_plain_name(std::string_view name);
// A model may come from a stranger: its files are in its own folder, or a CheckpointError.
[[noreturn]] void refuse_link(const std::filesystem::path& path);

// Reads folder/manifest.json. Throws CheckpointError if it is missing, damaged, a link or of a
// format newer than this program. The names of files are plain: none leads out of the folder.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace regard
