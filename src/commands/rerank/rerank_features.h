// The features of `regard rerank`: numbers of each entry of an n-best list.
//
//   score, NAME        of the list itself: its score, or a number of its third field
//   length             words of the translation, separated by white space
//   model              log P(translation | source) of a model; model_2, … of further ones
//   reverse            log P(source | translation) of a model of the opposite direction
//   lm                 log P(translation) of a language model
//   model_per_token …  these, divided by the number of tokens, </s> included
//
// An impossible translation (log P = −∞) has the value −1000, so that all sums are finite.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/scorer.h"
#include "text/n_best.h"

namespace regard {

// The source and its n-best list, with the names of their files.
struct RerankedList {
  std::string source_path;
  std::string path;
  std::vector<std::string> source;
  std::vector<NBestEntry> entries;                // entry i is line i + 1
  std::vector<std::vector<std::size_t>> grouped;  // entries of each sentence, in their order

  // Returns "FILE:LINE" of an entry.
  std::string place(std::size_t entry) const;
};

// Reads both files. Throws the errors of read_n_best(), and InputError if a source line has no
// entry.
RerankedList read_list(const RerankArguments& arguments);

// A model, or a column of the table that it computed.
struct FeatureModel {
  std::string path;
  std::string sha256;  // of its weights
  ModelTags tags = {};

  // True if both compute the same numbers.
  bool equals(const FeatureModel& other) const {
    return sha256 == other.sha256 && tags == other.tags;
  }
};

// The columns that models computed or that a table has. Other features are read from the list.
//
// A table (--features) is text. The first lines begin with #: the hash of the list and its source,
// and for each model its feature, path and hash, and its tags if it has any. The next line names
// the columns, `sentence` first. Each further line has the numbers of an entry, separated by tabs.
// Further columns that a user adds are features too.
class FeatureTable {
 public:
  // Reads the table of --features if the file exists. Throws InputError with file:line if it is
  // damaged or belongs to another list, ConfigError if a model of the command line has another hash
  // than the one that computed its column.
  FeatureTable(const RerankArguments& arguments, const RerankedList& list);

  // Computes the columns of the models that the command line names and the table lacks, and writes
  // the table. With `wanted`, only the models of these features. Throws the errors of
  // load_models() and Translator::score().
  void compute(const std::optional<std::vector<std::string>>& wanted);

  // Returns the features of the models that the command line names, without _per_token.
  std::vector<std::string> given_features() const;
  // True if the command line has the model of this feature, such as model_2_per_token.
  bool has_model(const std::string& feature) const;
  // Returns the model of a feature; nullopt if it is no feature of a model, or unknown.
  std::optional<FeatureModel> model_of(const std::string& feature) const;
  // Names of the columns, in the order of the table.
  std::vector<std::string> names() const;
  // Returns the values of a feature, one for each entry; nullopt if neither the table nor the list
  // has it. Throws InputError with file:line if only some entries of the list have it.
  std::optional<std::vector<double>> values(const std::string& feature) const;
  // Returns the names of all features that values() knows, for messages.
  std::vector<std::string> known_features() const;

 private:
  // A model of the command line.
  struct GivenModel {
    std::string feature;
    std::string option;
    FeatureModel model;
  };
  struct Column {
    std::string name;
    std::vector<double> values;
  };

  void add_given(const std::vector<std::string>& paths, const std::string& feature,
                 const std::string& option, const ModelTags& tags);
  void read();
  void check_models() const;
  SentencePairs pairs_for(const GivenModel& given, const LoadedModel& model) const;
  void compute(const GivenModel& given);
  void write(OutputFile& file) const;
  const Column* find(const std::string& name) const;
  void set(const std::string& name, std::vector<double> values);

  const RerankArguments& arguments_;
  const RerankedList& list_;
  std::string list_hash_;
  std::vector<GivenModel> given_;
  std::map<std::string, FeatureModel> models_;  // of the columns
  std::vector<Column> columns_;
  std::pair<std::string, std::string> languages_;  // of the first model
};

// True if the name is that of a model's feature: model, reverse or lm, with a number from 2 or
// without, and with _per_token or without.
bool is_model_feature(const std::string& name);

// Returns the number if the text is nothing else and the number is finite.
std::optional<double> finite_number(std::string_view text);

}  // namespace regard
