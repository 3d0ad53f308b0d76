// The manifest of a checkpoint folder, as folder.h shows it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

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

// Reads folder/manifest.json. Throws CheckpointError if it is missing, damaged or of a format
// newer than this program.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace regard
