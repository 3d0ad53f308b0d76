#include "base/counted.h"

#include <algorithm>

namespace regard {
namespace {

bool ends_in_hiss(std::string_view noun) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"s", "x", "z", "ch", "sh"},
                             [&](auto end) { return noun.ends_with(end); });
}

bool ends_in_consonant_y(std::string_view noun) {
  constexpr std::string_view vowels = "aeiou";
  return noun.size() > 1 && noun.ends_with('y') &&
         vowels.find(noun[noun.size() - 2]) == std::string_view::npos;
}

}  // namespace

std::string noun_for(bool is_one, std::string_view noun) {
  if (is_one) return std::string(noun);
  if (noun.ends_with("is")) return std::string(noun.substr(0, noun.size() - 2)) + "es";
  if (ends_in_consonant_y(noun)) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  return std::string(noun) + (ends_in_hiss(noun) ? "es" : "s");
}

}  // namespace regard
