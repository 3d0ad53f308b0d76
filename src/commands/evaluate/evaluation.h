// Reads the texts that `regard evaluate` and `regard score` compare.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "metrics/alignment.h"
#include "metrics/score_buckets.h"
#include "metrics/system_scores.h"

namespace regard {

// Reads gold alignments in Pharaoh format, plain or gzip, one sentence per line. Throws InputError
// with file:line.
std::vector<GoldAlignment> read_alignments(const std::string& path);

// Throws InputError with file:line if a link points beyond the white-space-separated words of its
// sentence pair. `source` and `target` must have at least as many lines as there are alignments.
void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target);

struct EvaluationTexts {
  std::vector<std::string> source;  // empty if not given
  // The translations in files. `evaluate` inserts those of a model before them.
  Systems systems;
  References references;
  std::vector<GoldAlignment> gold;  // of source and first reference; empty if not given
  std::vector<std::string> labels;  // empty if not given
};

// The files of an evaluation.
struct EvaluationFiles {
  std::string source;  // empty: none
  std::vector<std::string> references;
  std::vector<std::string> systems;
  std::string gold;    // empty: none
  std::string labels;  // empty: none
};

// Throws InputError, which names the files and counts, if line counts differ, a reference has
// only blank lines or a label is empty. Warns of byte order marks.
EvaluationTexts read_texts(const EvaluationFiles& files, SourceKind source);

// Returns the name of a system: "attention" for "out/attention.fr" and for "runs/attention/".
std::string system_name(const std::filesystem::path& path);
// Returns the name of a model or an ensemble: "a + b" for "runs/a" and "runs/b".
std::string system_name(const std::vector<std::string>& models);
// Returns the name of each system, or its path if another one has the same name.
std::vector<std::string> system_names(const std::vector<std::string>& paths);

// Counts the words of the training files. Throws InputError if a file has no words.
WordFrequencies count_words(const std::vector<std::string>& files, const BleuOptions& options);

}  // namespace regard
