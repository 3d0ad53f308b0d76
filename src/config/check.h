// Checks of a whole configuration: options that contradict each other. All errors are reported at
// once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "config/options.h"

namespace regard {

// Checks everything that translation needs too: the model, the tokenizer and the search. Throws
// ConfigError with all errors, one per line, each with its keys, their values and the source
// location of the first key.
void check_options(const Options& options, const SourceLocations& locations = {});

// As check_options(), and also checks what training needs: corpora, a validation pair if an option
// depends on it, the learning rate and a stopping criterion.
void check_training_options(const Options& options, const SourceLocations& locations = {});

// Checks only the search options, after changes by the command line.
void check_testing_options(const TestingOptions& options);

// Collects the errors of a configuration.
class ConfigErrors {
 public:
  explicit ConfigErrors(const SourceLocations& locations) : locations_(locations) {}

  // Adds a message. It must begin with a key; the source location of that key is put before it.
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto message = fmt::format(format, std::forward<Args>(args)...);
    const auto location = locations_.of(message.substr(0, message.find_first_of(": ")));
    if (!text_.empty()) text_ += '\n';
    text_ += location.empty() ? message : location + ": " + message;
  }
  bool any() const { return !text_.empty(); }
  void throw_if_any() const {
    if (any()) throw ConfigError("{}", text_);
  }

 private:
  const SourceLocations& locations_;
  std::string text_;
};

// Adds an error for each key that differs between `given` and `defaults` and is not used.
// reason(key) returns why it is not used, such as "dot does not use it", or "" if it is used.
void reject_unused(const Options& defaults, const Options& given,
                   const std::function<std::string(const std::string&)>& reason,
                   ConfigErrors& errors);

// Adds an error if there are fewer positions than tokens in a sentence of max_length with </s>.
void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     ConfigErrors& errors);

// Checks that every option is used by the chosen kinds of encoder and decoder, and their sizes.
void check_kinds(const Options& options, ConfigErrors& errors);

}  // namespace regard
