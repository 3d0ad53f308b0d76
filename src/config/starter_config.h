// Writes a first configuration for a corpus, with the choices of config/starter_choices.h. Comments
// in the file explain each rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/model_options.h"
#include "config/starter_choices.h"

namespace regard {

struct StarterConfig {
  std::string name;
  CorpusStatistics train;
  std::string dev_src;  // empty if there is no validation set
  std::string dev_trg;
  std::string docs_folder = "docs";  // contains the pages that the file names
  // Without a choice, GRUs with attention for little text and a Transformer for more
  // (docs/own_language_pair.md).
  std::optional<LayerKind> architecture = {};
};

// Returns YAML with comments, which parse_options() and check_training_options() accept.
std::string starter_config_yaml(const StarterConfig& config);

// Returns a summary such as "24000 lines, 8.5 words each, 2210 distinct words, tokenised", with the
// tokens if they were measured.
std::string statistics_text(const SideStatistics& side, std::int64_t lines);

}  // namespace regard
