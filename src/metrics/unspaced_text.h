// Text of a language that is written without spaces between words, such as Chinese, Japanese or
// Thai. A metric that separates words at spaces then compares whole clauses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/table.h"

namespace regard {

// How a text without spaces is written; Japanese has kana among its ideographs.
enum class UnspacedScript { chinese, japanese, south_east_asian };

// Returns the script in which most letters of these lines are, if it has no spaces between words
// and the lines have none either: what a segmenter has split has six letters a word at most.
std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines);

// "Chinese", "Japanese", "Thai, Lao, Burmese or Khmer".
std::string_view language_of(UnspacedScript script);

// Returns a warning for each of these metrics that takes clauses of `lines` for words, with the
// options to use instead. `name` is the file's.
std::vector<std::string> unspaced_text_warnings(const std::string& name,
                                                const std::vector<std::string>& lines,
                                                const std::vector<std::string>& metrics,
                                                const MetricOptions& options);

}  // namespace regard
