// manifest.json of a run: what trained it, with what, on what, and why it stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/options.h"

namespace regard {

// Versions, command line, seed, and the data with hashes and line counts.
Json run_manifest(const Options& options, const std::string& command_line, std::size_t threads);
// True for the manifest.json that run_manifest() makes.
bool is_run_manifest(const Json& manifest);
// True for the manifest.json of a model folder or checkpoint (checkpoint/manifest.h).
bool is_model_manifest(const Json& manifest);
// An empty object where there is none; CheckpointError where it is damaged.
Json read_run_manifest(const std::filesystem::path& path);
// What is not as it was in an earlier manifest, a sentence each: the text in a data file, that of a
// tokenizer file, the versions of regard and LibTorch, the number of threads.
std::vector<std::string> changes(const Json& before, const Json& now);
// Keeps an earlier manifest, and those it keeps, as "earlier_sittings".
void add_earlier_sittings(Json& manifest, const Json& before);

}  // namespace regard
