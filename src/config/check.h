// Checks of a whole configuration: options that contradict each other. All errors are reported at
// once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "config/options.h"

namespace regard {

// Checks the options that translation and training need: the model, the tokenizer and the search.
// Throws ConfigError with all errors, one per line, each with its keys, their values and the source
// location of the first key.
void check_options(const Options& options, const SourceLocations& locations = {});

// As check_options(), and also checks the options that only training needs: corpora, a validation
// pair if another option depends on it, the learning rate and a stopping criterion.
void check_training_options(const Options& options, const SourceLocations& locations = {});

// Returns training.model_dir or, if it is empty, runs/NAME. Throws ConfigError if that is not a
// folder below runs/.
std::string run_folder(const Options& options, const SourceLocations& locations = {});

// Throws ConfigError if data.tokenizer.extend_by is set. For uses without an initial model.
void check_no_extension(const TokenizerOptions& options, const SourceLocations& locations);

// Checks only the search options, after the command line changed them. Throws as check_options()
// does, without source locations.
void check_search_options(const SearchOptions& options);

// An option with which a model cannot be built. The message is `key` + text, as in ConfigErrors.
class OptionError : public ConfigError {
 public:
  template <typename... Args>
  OptionError(const std::string& key, fmt::format_string<Args...> format, Args&&... args)
      : ConfigError("{}", key + fmt::format(format, std::forward<Args>(args)...)), key_(key) {}

  const std::string& key() const { return key_; }
  std::string text() const { return std::string(what()).substr(key_.size()); }

 private:
  std::string key_;
};

// Collects the errors of a configuration. `locations` must outlive it.
class ConfigErrors {
 public:
  explicit ConfigErrors(const SourceLocations& locations) : locations_(locations) {}

  // Adds the message `key` + text, with the source location of the key before it. The text begins
  // with a space or a colon.
  template <typename... Args>
  void add(const std::string& key, fmt::format_string<Args...> format, Args&&... args) {
    const auto location = locations_.of(key);
    if (!text_.empty()) text_ += '\n';
    if (!location.empty()) text_ += location + ": ";
    text_ += key + fmt::format(format, std::forward<Args>(args)...);
  }
  void add(const OptionError& error) { add(error.key(), "{}", error.text()); }
  bool any() const { return !text_.empty(); }
  void throw_if_any() const {
    if (any()) throw ConfigError("{}", text_);
  }

 private:
  const SourceLocations& locations_;
  std::string text_;
};

// Adds an error for each key with another value than its default that nothing reads
// (config/parts.h).
void check_unread(const Options& options, ConfigErrors& errors);

// Adds an error if `positions`, the value of `key`, is less than max_length + 1, the number of
// tokens in the longest sentence with </s>.
void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     ConfigErrors& errors);

// Adds an error if the vocabularies contradict each other, or a user symbol cannot be one.
void check_tokenizer(const TokenizerOptions& options, ConfigErrors& errors);
// Adds an error for each option that a source of numbers or features contradicts.
void check_source(const Options& options, ConfigErrors& errors);
// Adds the errors of the corpora, their tags and their noise.
void check_training_data(const Options& options, ConfigErrors& errors);
// Adds an error, which begins with `key` and `reason`, if checkpoints are chosen by scores of
// translations.
void check_metric(const TrainingOptions& options, const std::string& key, const std::string& reason,
                  ConfigErrors& errors);

// Adds an error for each size that the chosen kinds of encoder and decoder do not allow.
void check_kinds(const Options& options, ConfigErrors& errors);

}  // namespace regard
