// Finds text in scripts without spaces between words, such as Chinese.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// A script without spaces between words. Japanese has kana among its ideographs.
enum class UnspacedScript { chinese, japanese, south_east_asian };

// Returns the script of the lines if most of their letters belong to such scripts and the lines are
// not segmented into words. Segmented text has at most six letters per word.
std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines);

// Returns "Chinese", "Japanese", or "Thai, Lao, Burmese or Khmer".
std::string_view language_name(UnspacedScript script);

}  // namespace regard
