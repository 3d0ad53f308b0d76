// Detects text in a language written without spaces between words, such as Chinese, Japanese or
// Thai. A metric that splits words at spaces would compare whole clauses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metric_factory.h"

namespace regard {

// A script without spaces; Japanese has kana among its ideographs.
enum class UnspacedScript { chinese, japanese, south_east_asian };

// Returns the script of most letters of these lines, if it is one without spaces and the lines are
// not segmented. Segmented text has at most six letters per word.
std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines);

// Returns "Chinese", "Japanese", or "Thai, Lao, Burmese or Khmer".
std::string_view language_name(UnspacedScript script);

// Returns a warning for each of these metrics that treats clauses of `lines` as words, with the
// options to use instead. `name` is that of the file.
std::vector<std::string> unspaced_text_warnings(const std::string& name,
                                                const std::vector<std::string>& lines,
                                                const std::vector<std::string>& metrics,
                                                const MetricOptions& options);

}  // namespace regard
