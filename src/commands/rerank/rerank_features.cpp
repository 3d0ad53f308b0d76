#include "commands/rerank/rerank_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_folder.h"
#include "commands/scorer.h"
#include "data/byte_stream.h"
#include "data/line_reader.h"
#include "text/unicode.h"
#include "translation/ensemble_folders.h"

namespace regard {
namespace {

constexpr std::string_view per_token = "_per_token";
constexpr double impossible = -1000;  // for log 0

double finite(double value) {
  return std::isinf(value) ? std::copysign(impossible, value) : value;
}

// Returns the feature without _per_token.
std::string base_name(std::string_view feature) {
  if (feature.ends_with(per_token)) feature.remove_suffix(per_token.size());
  return std::string(feature);
}

std::string hash_of(const RerankedList& list) {
  Sha256 hash;
  for (const auto& line : list.source) hash.update(line + "\n");
  for (const auto& entry : list.entries) {
    hash.update(fmt::format("{}\t{}\n", entry.sentence, entry.text));
  }
  return hash.hex_digest();
}

FeatureModel identify(const std::string& path) {
  return retry_if_removed([&] {
    const auto manifest = read_manifest(resolve_model(path));
    const auto weights = manifest.files.find("model.safetensors");
    return FeatureModel{path, weights == manifest.files.end() ? "" : weights->second.sha256};
  });
}

}  // namespace

std::optional<double> finite_number(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool is_model_feature(const std::string& name) {
  const auto base = base_name(name);
  for (const std::string_view kind : {"model", "reverse", "lm"}) {
    if (base == kind) return true;
    if (!base.starts_with(std::string(kind) + "_")) continue;
    const auto number = finite_number(std::string_view(base).substr(kind.size() + 1));
    if (number && *number >= 2) return true;
  }
  return false;
}

std::string RerankedList::place(std::size_t entry) const {
  return fmt::format("{}:{}", input_name(path), entry + 1);
}

RerankedList read_list(const RerankArguments& arguments) {
  RerankedList list;
  list.source_path = arguments.source;
  list.path = path_or_dash(arguments.input);
  ModelArguments first;
  first.models = arguments.models;
  const auto kind = source_kind(first, arguments.source);
  if (kind == SourceKind::features && !arguments.reverse.empty()) {
    throw ConfigError("--reverse: it scores the source as text, but {} has features; leave it out",
                      arguments.source);
  }
  list.source = read_lines(arguments.source, kind);
  list.entries = read_n_best(list.path, list.source_path, list.source.size());
  if (list.entries.empty()) {
    throw InputError("{}: empty, expected an n-best list of `regard translate --n-best`",
                     input_name(list.path));
  }
  list.grouped.resize(list.source.size());
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    list.grouped[list.entries[i].sentence].push_back(i);
  }
  for (std::size_t s = 0; s < list.grouped.size(); ++s) {
    if (!list.grouped[s].empty()) continue;
    throw InputError(
        "{}:{}: found no translation of this line in {} (sentence {}, counted from 0); give the "
        "source of the list",
        input_name(list.source_path), s + 1, input_name(list.path), s);
  }
  return list;
}

FeatureTable::FeatureTable(const RerankArguments& arguments, const RerankedList& list)
    : arguments_(arguments), list_(list), list_hash_(hash_of(list)) {
  add_given(arguments.models, "model", "-m", arguments.device.tags);
  add_given(arguments.reverse, "reverse", "--reverse", arguments.reverse_tags);
  add_given(arguments.language_models, "lm", "--lm", {});
  if (arguments.features.empty()) return;
  if (is_file(arguments.features)) {
    read();
    check_models();
  } else if (given_.empty()) {
    throw InputError(
        "--features {}: no such file, and no model (-m, --reverse, --lm) with which to make it",
        arguments.features);
  }
}

void FeatureTable::add_given(const std::vector<std::string>& paths, const std::string& feature,
                             const std::string& option, const ModelTags& tags) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto name = i == 0 ? feature : fmt::format("{}_{}", feature, i + 1);
    auto model = identify(paths[i]);
    model.tags = tags;
    given_.push_back({name, option, std::move(model)});
  }
}

void FeatureTable::read() {
  const auto& path = arguments_.features;
  LineReader reader(path);
  std::string line;
  const auto fail = [&](const std::string& message) {
    throw InputError("{}:{}: {}", path, std::max<std::int64_t>(1, reader.line_number()), message);
  };
  bool has_hash = false;
  bool more = reader.next(line);
  for (; more && line.starts_with('#'); more = reader.next(line)) {
    const auto cells = split(line, '\t');
    if (cells[0] == "#list" && cells.size() == 2) {
      has_hash = true;
      if (cells[1] == list_hash_) continue;
      fail(
          fmt::format("found the features of another list or source; name another file with "
                      "--features, or delete this one to compute them for {} and {}",
                      input_name(list_.path), input_name(list_.source_path)));
    }
    if (cells.size() == 3 || cells.size() == 5) {
      FeatureModel model{std::string(cells[1]), std::string(cells[2])};
      if (cells.size() == 5) {
        model.tags = {std::string(cells[3]), std::string(cells[4])};
      }
      models_[std::string(cells[0].substr(1))] = std::move(model);
    }
  }
  if (!has_hash) fail("found no line #list, expected a table that `regard rerank` has written");
  const auto head = split(line, '\t');
  if (!more || head[0] != "sentence") {
    fail(fmt::format("found '{}', expected the names of the columns, `sentence` first",
                     excerpt(line)));
  }
  for (std::size_t c = 1; c < head.size(); ++c) {
    const std::string name(head[c]);
    if (name.empty() || name.find_first_of(" |=") != name.npos) {
      fail(fmt::format("column {}: found the name '{}', expected a word without blanks, | and =",
                       c + 1, excerpt(name)));
    }
    if (find(name) != nullptr) fail(fmt::format("found the column {} twice", name));
    if (name == "score" || name == "length") {
      fail(fmt::format(
          "found a column {}, which is the name of a feature of every list; give it another name",
          name));
    }
    columns_.push_back({name, {}});
  }
  std::size_t entry = 0;
  for (; reader.next(line); ++entry) {
    const auto cells = split(line, '\t');
    if (entry == list_.entries.size()) {
      fail(fmt::format("found another row, expected one for each of {}", counted(entry, "entry")));
    }
    if (cells.size() != head.size()) {
      fail(fmt::format("found {}, expected {}", counted(cells.size(), "cell"), head.size()));
    }
    if (cells[0] != std::to_string(list_.entries[entry].sentence)) {
      fail(fmt::format("found sentence {}, expected {}, that of {}", excerpt(cells[0]),
                       list_.entries[entry].sentence, list_.place(entry)));
    }
    for (std::size_t c = 1; c < cells.size(); ++c) {
      const auto value = finite_number(cells[c]);
      if (!value) {
        fail(fmt::format("column {}: found '{}', expected a number", columns_[c - 1].name,
                         excerpt(cells[c])));
      }
      columns_[c - 1].values.push_back(*value);
    }
  }
  if (entry < list_.entries.size()) {
    fail(fmt::format("found {}, expected one for each of {}", counted(entry, "row"),
                     counted(list_.entries.size(), "entry")));
  }
}

void FeatureTable::check_models() const {
  for (const auto& given : given_) {
    const auto computed = models_.find(given.feature);
    if (find(given.feature) == nullptr || computed == models_.end()) continue;
    if (computed->second.equals(given.model)) continue;
    const bool other_tags = computed->second.sha256 == given.model.sha256;
    throw ConfigError(
        "{} {}: {} has the feature {} of {}; give {}, or another file with --features",
        given.option, given.model.path, arguments_.features, given.feature,
        other_tags ? "this model with other tags" : "another model, " + computed->second.path,
        other_tags ? "them" : "that one");
  }
}

const FeatureTable::Column* FeatureTable::find(const std::string& name) const {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  return found == columns_.end() ? nullptr : &*found;
}

void FeatureTable::set(const std::string& name, std::vector<double> values) {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found != columns_.end()) {
    found->values = std::move(values);
  } else {
    columns_.push_back({name, std::move(values)});
  }
}

void FeatureTable::compute(const std::optional<std::vector<std::string>>& wanted) {
  std::vector<const GivenModel*> missing;
  for (const auto& given : given_) {
    const auto is_wanted = [&](const std::string& name) {
      return base_name(name) == given.feature;
    };
    if (wanted && std::ranges::none_of(*wanted, is_wanted)) continue;
    if (find(given.feature) == nullptr || find(given.feature + std::string(per_token)) == nullptr) {
      missing.push_back(&given);
    }
  }
  if (missing.empty()) return;
  std::optional<OutputFile> file;
  if (!arguments_.features.empty()) file.emplace(arguments_.features);
  for (const auto* given : missing) compute(*given);
  if (!file) return;
  write(*file);
  file->commit();
}

SentencePairs FeatureTable::pairs_for(const GivenModel& given, const LoadedModel& model) const {
  const bool is_reverse = given.option == "--reverse";
  SentencePairs pairs;
  auto& translations = is_reverse ? pairs.source : pairs.target;
  for (const auto& entry : list_.entries) translations.push_back(entry.text);
  const auto truncate_translations = is_reverse ? truncate_source_lines : truncate_target_lines;
  translations = truncate_translations(model, std::move(translations), list_.path);
  if (given.option == "--lm") {
    pairs.source = pairs.target;  // which the model does not read
    return pairs;
  }
  const auto truncate_source = is_reverse ? truncate_target_lines : truncate_source_lines;
  const auto source = truncate_source(model, list_.source, list_.source_path);
  auto& repeated = is_reverse ? pairs.target : pairs.source;
  for (const auto& entry : list_.entries) repeated.push_back(source[entry.sentence]);
  return pairs;
}

void FeatureTable::compute(const GivenModel& given) {
  ModelArguments model_arguments = arguments_.device;
  model_arguments.models = {given.model.path};
  model_arguments.tags = given.model.tags;
  if (given.option == "--reverse") model_arguments.tag_options = reverse_tag_options;
  const auto expected = given.option == "--lm" ? ModelKind::language_model : ModelKind::translation;
  const auto kind = retry_if_removed(
      [&] { return read_model_options(FolderReader(resolve_model(given.model.path))).model.kind; });
  if (kind != expected) {
    throw ConfigError("{} {}: found a model of kind {}, expected {}", given.option,
                      given.model.path, enum_name(kind), enum_name(expected));
  }
  Scorer scorer(model_arguments);
  const auto& model = scorer.model();
  if (given.feature == "model") languages_ = languages(model.contents.options);
  if (given.option == "--reverse") warn_if_not_reverse(languages_, model);

  scorer.score(pairs_for(given, model), /*want_weights=*/false, arguments_.batch_size);

  std::vector<double> sums;
  std::vector<double> means;
  for (std::size_t i = 0; i < list_.entries.size(); ++i) {
    const auto log_p = scorer.log_probability(i);
    const auto& hypotheses = scorer.translations()[i].hypotheses;
    const auto tokens = hypotheses.empty() ? 1 : hypotheses[0].tokens.size() + 1;
    sums.push_back(finite(log_p));
    means.push_back(finite(log_p / static_cast<double>(tokens)));
  }
  set(given.feature, std::move(sums));
  set(given.feature + std::string(per_token), std::move(means));
  models_[given.feature] = given.model;
}

void FeatureTable::write(OutputFile& file) const {
  file.write(fmt::format("#list\t{}\n", list_hash_));
  for (const auto& [feature, model] : models_) {
    file.write(fmt::format(
        "#{}\t{}\t{}{}\n", feature, model.path, model.sha256,
        model.tags == ModelTags{} ? "" : "\t" + model.tags.source + "\t" + model.tags.target));
  }
  std::string head = "sentence";
  for (const auto& column : columns_) head += "\t" + column.name;
  file.write(head + "\n");
  for (std::size_t i = 0; i < list_.entries.size(); ++i) {
    auto row = std::to_string(list_.entries[i].sentence);
    for (const auto& column : columns_) row += fmt::format("\t{}", column.values[i]);
    file.write(row + "\n");
  }
}

std::vector<std::string> FeatureTable::given_features() const {
  std::vector<std::string> features;
  for (const auto& given : given_) features.push_back(given.feature);
  return features;
}

bool FeatureTable::has_model(const std::string& feature) const {
  return std::ranges::find(given_, base_name(feature), &GivenModel::feature) != given_.end();
}

std::optional<FeatureModel> FeatureTable::model_of(const std::string& feature) const {
  if (find(feature) == nullptr) return std::nullopt;
  const auto found = models_.find(base_name(feature));
  return found == models_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> FeatureTable::names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.name);
  return names;
}

std::optional<std::vector<double>> FeatureTable::values(const std::string& feature) const {
  if (const auto* column = find(feature)) return column->values;
  std::vector<double> values;
  for (std::size_t i = 0; i < list_.entries.size(); ++i) {
    const auto& entry = list_.entries[i];
    std::optional<double> value;
    if (feature == "length") {
      value = static_cast<double>(word_count(entry.text));
    } else if (feature == "score") {
      value = parse_number<double>(entry.score);
    } else {
      value = feature_value(entry, feature);
    }
    if (!value) {
      const bool has_numbers = has_feature(entry, feature);
      if (i == 0 && feature != "score" && !has_numbers) return std::nullopt;
      throw InputError("{}: found {} {}, expected one number of each entry", list_.place(i),
                       has_numbers ? "several numbers of" : "no",
                       feature == "score" ? feature : "feature " + feature);
    }
    values.push_back(finite(*value));
  }
  return values;
}

std::vector<std::string> FeatureTable::known_features() const {
  auto known = names();
  for (const std::string own : {"score", "length"}) {
    if (find(own) == nullptr) known.push_back(own);
  }
  for (auto& name : feature_names(list_.entries.front())) {
    if (feature_value(list_.entries.front(), name)) known.push_back(std::move(name));
  }
  return known;
}

}  // namespace regard
