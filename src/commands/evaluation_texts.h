// The texts that an evaluation compares, read and found to belong together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/evaluate_arguments.h"
#include "commands/evaluation.h"
#include "metrics/by_frequency.h"

namespace regard {

struct EvaluationTexts {
  std::vector<std::string> source;  // without lines where none is given
  Systems systems;                  // a model's translations are still to come, in front
  References references;
  std::vector<GoldAlignment> gold;
};

// Throws InputError if line counts differ or a file has nothing to score, with the files and
// counts. Warns of byte order marks.
EvaluationTexts read_texts(const EvaluateArguments& arguments);

// The files of the systems, in order; those of --hypotheses come before those of --compare.
std::vector<std::string> system_files(const EvaluateArguments& arguments);
// "out/attention.fr" is called "attention", "runs/attention/" too.
std::string name_of(const std::filesystem::path& path);

// How often the training text has each word.
WordFrequencies count_words(const std::vector<std::string>& files, const BleuOptions& options);

}  // namespace regard
