// Reads the files that `regard evaluate` and `regard score` compare, and checks that they match.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "commands/evaluation.h"
#include "metrics/alignment.h"
#include "metrics/score_buckets.h"

namespace regard {

// Reads gold alignments in Pharaoh format, plain or gzip, one sentence per line. Throws InputError
// with file:line.
std::vector<GoldAlignment> read_alignments(const std::string& path);

// Throws InputError with file:line if a link points beyond the white-space-separated words of its
// sentence pair. Needs one pair of lines per alignment.
void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target);

struct EvaluationTexts {
  std::vector<std::string> source;  // empty if not given
  Systems systems;                  // the translations in files; a model's are added in front
  References references;
  std::vector<GoldAlignment> gold;
};

// Throws InputError if line counts differ or a file has nothing to score, with the files and
// counts. Warns of byte order marks.
EvaluationTexts read_texts(const EvaluateArguments& arguments);

// Returns the systems' files: --hypotheses, then --compare.
std::vector<std::string> system_files(const EvaluateArguments& arguments);
// Returns the name of a system: "attention" for "out/attention.fr" and for "runs/attention/".
std::string system_name(const std::filesystem::path& path);

// Counts the words of the training files.
WordFrequencies count_words(const std::vector<std::string>& files, const BleuOptions& options);

}  // namespace regard
