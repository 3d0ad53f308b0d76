// Counts with their nouns: "1 line", "2 lines", "12 entries".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace regard {

// Returns the noun in the number that fits the count: "line" for 1, else "lines". The last word is
// inflected: -s, -es behind a hiss ("batch"), -ies for a consonant's y ("entry"), -es for -is
// ("hypothesis").
std::string noun_for(bool is_one, std::string_view noun);

// Returns the count and the noun: counted(3, "training pair") is "3 training pairs".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return std::to_string(count) + " " + noun_for(count == 1, noun);
}

}  // namespace regard
