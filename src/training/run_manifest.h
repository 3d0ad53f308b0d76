// manifest.json of a run: command line, versions, data and the reason why it stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/options.h"
#include "data/text_files.h"

namespace regard {

// Returns a manifest with versions, command line, seed, threads, precision, and the data with
// hashes and line counts. `digests` has those of data.train and data.dev. `on_cpu` is true if the
// run trains on the CPU.
Json run_manifest(const Options& options, const TextDigests& digests,
                  const std::string& command_line, std::size_t threads, bool on_cpu = true);
// Returns true if this is the manifest of a run, as returned by run_manifest().
bool is_run_manifest(const Json& manifest);
// Returns true if this is the manifest of a model folder or checkpoint (checkpoint/manifest.h).
bool is_model_manifest(const Json& manifest);
// Reads a manifest. Returns an empty object if there is no file. Throws CheckpointError if it is
// damaged.
Json read_run_manifest(const std::filesystem::path& path);
// Returns a sentence for each difference from an earlier manifest: text of data files and tokenizer
// files, versions of regard and LibTorch, number of threads, precision, library of the matrix
// products.
std::vector<std::string> manifest_differences(const Json& before, const Json& now);
// Adds the manifests of all earlier sessions to `manifest`, under the key "earlier_sessions".
// `before` is the manifest of the last session, with those before it.
void add_earlier_sessions(Json& manifest, const Json& before);

}  // namespace regard
