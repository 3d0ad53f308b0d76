// Warnings about the texts of an evaluation: files that were probably passed by mistake, and text
// without spaces between words, of which a metric would compare whole clauses as if they were
// words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/metric_factory.h"
#include "text/unspaced_script.h"

namespace regard {

struct NamedText {
  std::string name;  // of the file
  std::vector<std::string> lines;
};

// Returns one warning for each sign that a file was passed by mistake: tokenised or split
// hypotheses, the source instead of another file, swapped hypotheses and references. `source` may
// be empty; otherwise all texts have the same number of lines.
//
// Swapped files cannot be detected by scores (BLEU's precision and recall only change places) nor
// by good translations. But no person writes tokenised text, sub-words or <unk>, so that references
// with them are probably the output of a system, unless all files of a corpus have them.
std::vector<std::string> input_warnings(const NamedText& hypotheses, const NamedText& reference,
                                        const NamedText& source);

// Returns a warning, to be continued, if fewer than a tenth of the lines have the four words that
// BLEU counts together. Returns nullopt for text without spaces between words, and if the tokenizer
// does not count words.
std::optional<std::string> short_lines_warning(const NamedText& text, BleuTokenizer tokenizer);

// Returns a warning for each of these metrics that treats clauses of `lines` as words, with the
// options to use instead. `name` is that of the file.
std::vector<std::string> unspaced_text_warnings(const std::string& name,
                                                const std::vector<std::string>& lines,
                                                const std::vector<std::string>& metrics,
                                                const MetricOptions& options);

}  // namespace regard
