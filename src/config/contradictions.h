// What is wrong with a configuration that was read well, gathered so that all of it is told at
// once.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "config/options.h"
#include "config/origins.h"

namespace regard {

class Contradictions {
 public:
  explicit Contradictions(const Origins& origins) : origins_(origins) {}

  // A message begins with the key to blame; where that was set goes before it.
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto message = fmt::format(format, std::forward<Args>(args)...);
    const auto place = origins_.of(message.substr(0, message.find_first_of(": ")));
    if (!text_.empty()) text_ += '\n';
    text_ += place.empty() ? message : place + ": " + message;
  }
  bool any() const { return !text_.empty(); }
  void throw_if_any() const {
    if (any()) throw ConfigError("{}", text_);
  }

 private:
  const Origins& origins_;
  std::string text_;
};

// What a source of numbers asks of the rest, and what each kind of output does.
void check_numbers(const Options& options, Contradictions& problems);
void check_output_options(const Options& options, Contradictions& problems);
// What options of the search ask of each other.
void check_search_options(const TestingOptions& options, Contradictions& problems);

}  // namespace regard
