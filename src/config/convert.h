// Converts configurations of other trainers: JoeyNMT 2 (Kreutzer, Bastings, Riezler 2019),
// OpenNMT-py (Klein et al. 2017), Marian (Junczys-Dowmunt et al. 2018), and the command of fairseq
// (Ott et al. 2019).
//
// Copies keys with the same meaning and the paths of SentencePiece models. Writes the other
// trainer's defaults for missing keys if they differ from regard's. Adds a note for each key
// without an exact equivalent, and notes that begin with "to be fixed:" if regard would reject the
// result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Converted {
  std::string yaml;                // begins with the notes as comments
  std::vector<std::string> notes;  // "joey.yaml:12: training.fp16: True: regard has …"
};

// Recognises the trainer by its keys. Throws ConfigError with `name` and the line if the text is
// not YAML, nor a command of fairseq, or not a configuration of one of these trainers.
Converted convert_configuration(std::string_view text, const std::string& name);

}  // namespace regard
