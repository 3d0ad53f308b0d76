// A configuration of JoeyNMT (version 2; Kreutzer, Bastings, Riezler 2019) as one of regard's.
//
// Keys that mean the same are carried over, JoeyNMT's own defaults too where regard's differ, and
// SentencePiece models. Where a key has no counterpart, or one that does not quite mean the same, a
// note says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Converted {
  std::string yaml;  // with the notes as comments above
  std::vector<std::string>
      notes;  // "joey.yaml:12: training.fp16: True: regard computes in 32 bits"
};

// ConfigError, which names `name` and the line, for what is no YAML or no configuration of
// JoeyNMT's.
Converted convert_joeynmt(std::string_view text, const std::string& name);

}  // namespace regard
