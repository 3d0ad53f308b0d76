// regard rerank: chooses from n-best lists by weighted features, and tunes the weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "cli/arguments.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "commands/rerank/rerank_features.h"
#include "data/byte_stream.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "kernels/device.h"
#include "metrics/error_rate_training.h"
#include "metrics/metric_factory.h"
#include "text/n_best.h"
#include "text/unicode.h"

namespace regard {
namespace {

struct FeatureWeight {
  std::string name;
  double weight = 0;
  std::optional<FeatureModel> model;  // with which it was tuned
};

// The weights of the command line or of a file. `origin` names them in messages.
struct Weights {
  std::string origin;
  std::vector<FeatureWeight> features;
};

Weights parse_weights(const std::vector<std::string>& given) {
  Weights weights{"--weight", {}};
  for (const auto& text : given) {
    const auto equals = text.rfind('=');
    const auto name = text.substr(0, equals);
    const auto value = equals == text.npos
                           ? std::nullopt
                           : finite_number(std::string_view(text).substr(equals + 1));
    if (!value || name.empty()) {
      throw ConfigError("--weight: found '{}', expected NAME=NUMBER, such as length=0.2", text);
    }
    if (std::ranges::find(weights.features, name, &FeatureWeight::name) != weights.features.end()) {
      throw ConfigError("--weight: found {} twice", name);
    }
    weights.features.push_back({name, *value, std::nullopt});
  }
  return weights;
}

Weights read_weights(const std::string& path) {
  std::string fault;
  const auto json = parse_json(read_file<InputError>(path, "weights"), &fault);
  const auto reject = [&](const std::string& message) {
    throw InputError("{}: {}; write the file with `regard rerank --tune`", path, message);
  };
  if (json.is_discarded()) reject(fmt::format("no JSON: {}", fault));
  if (!json.is_object() || !json.contains("features") || !json["features"].is_array()) {
    reject("found no list `features`");
  }
  Weights weights{path, {}};
  for (const auto& entry : json["features"]) {
    const auto place = fmt::format("features[{}]", weights.features.size());
    const auto text = [&](const char* key) {
      return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
    };
    if (!entry.is_object() || text("name").empty()) reject(place + " has no `name`");
    if (!entry.contains("weight") || !entry["weight"].is_number()) {
      reject(fmt::format("{} ({}) has no number `weight`", place, text("name")));
    }
    if (std::ranges::count(weights.features, text("name"), &FeatureWeight::name) > 0) {
      reject(fmt::format("{} ({}) repeats a feature", place, text("name")));
    }
    FeatureWeight feature{text("name"), entry["weight"].get<double>(), std::nullopt};
    if (entry.contains("model")) {
      feature.model =
          FeatureModel{text("model"), text("sha256"), {text("src_tag"), text("trg_tag")}};
    }
    weights.features.push_back(std::move(feature));
  }
  if (weights.features.empty()) reject("`features` is empty");
  return weights;
}

// Returns "-m", "--reverse" or "--lm".
std::string option_of(const std::string& feature) {
  if (feature.starts_with("model")) return "-m";
  return feature.starts_with("lm") ? "--lm" : "--reverse";
}

[[noreturn]] void reject_missing(const Weights& weights, const FeatureWeight& feature,
                                 const FeatureTable& table) {
  const bool in_file = !weights.origin.starts_with("--");
  if (is_model_feature(feature.name)) {
    throw ConfigError(
        "{}: the feature {} needs a model; give {} with {}, or a table with --features",
        weights.origin, feature.name, feature.model ? feature.model->path : "its folder",
        option_of(feature.name));
  }
  const auto known = table.known_features();
  const auto message = fmt::format(
      "{}: found the feature {}, which the list does not have; expected one of {}{}",
      weights.origin, feature.name, fmt::join(known, ", "), did_you_mean(feature.name, known));
  if (in_file) throw InputError("{}", message);
  throw ConfigError("{}", message);
}

void warn_of_other_model(const Weights& weights, const FeatureWeight& feature,
                         const FeatureTable& table) {
  const auto model = table.model_of(feature.name);
  if (!feature.model || !model || feature.model->equals(*model)) return;
  const bool other_tags = feature.model->sha256 == model->sha256;
  log::warning("{}: the weight of {} was tuned with {} {}; tune again", weights.origin,
               feature.name, other_tags ? "other tags of" : "another model than", model->path);
}

// Returns the values of each entry, [entries, features].
std::vector<double> entry_values(const FeatureTable& table, const Weights& weights,
                                 std::size_t entries) {
  const auto F = weights.features.size();
  std::vector<double> all(entries * F);
  for (std::size_t f = 0; f < F; ++f) {
    const auto values = table.values(weights.features[f].name);
    if (!values) reject_missing(weights, weights.features[f], table);
    for (std::size_t i = 0; i < entries; ++i) all[i * F + f] = (*values)[i];
  }
  return all;
}

// Throws ConfigError for a model of the command line that no weight needs.
void check_models_are_used(const Weights& weights, const FeatureTable& table) {
  for (const auto& feature : table.given_features()) {
    const auto is_of_model = [&](const FeatureWeight& weight) {
      return weight.name == feature || weight.name == feature + "_per_token";
    };
    if (std::ranges::any_of(weights.features, is_of_model)) continue;
    throw ConfigError(
        "{}: the weights have no feature {}, so this model has no effect; leave it out",
        option_of(feature), feature);
  }
}

// Writes the reranked list of a sentence with the features that were summed. `order` has the
// entries, best first.
void write_list(OutputFile& output, const RerankedList& list, const Weights& weights,
                const FeatureTable& table, const std::vector<double>& values,
                const std::vector<double>& totals, std::span<const std::size_t> order) {
  const auto F = weights.features.size();
  for (const auto i : order) {
    auto entry = list.entries[i];
    for (std::size_t f = 0; f < F; ++f) {
      const auto& name = weights.features[f].name;
      const bool is_computed = is_model_feature(name) && table.has_model(name);
      const bool is_kept = name == "score" || (has_feature(entry, name) && !is_computed);
      if (!is_kept) set_feature(entry, name, values[i * F + f]);
    }
    entry.score = fmt::format("{:.6f}", totals[i]);
    output.write(format_n_best(entry) + "\n");
  }
}

ExitCode apply_weights(const RerankArguments& arguments, const RerankedList& list,
                       FeatureTable& table) {
  auto weights =
      arguments.weights.empty() ? parse_weights(arguments.weight) : read_weights(arguments.weights);
  check_models_are_used(weights, table);
  std::erase_if(weights.features, [](const auto& feature) { return feature.weight == 0; });
  if (weights.features.empty()) {
    throw ConfigError("{}: found only weights of 0, expected another one", weights.origin);
  }
  for (const auto& feature : weights.features) {  // before models are loaded
    if (is_model_feature(feature.name) && table.has_model(feature.name)) continue;
    if (!table.values(feature.name)) reject_missing(weights, feature, table);
  }
  OutputFile output(arguments.output);
  std::vector<std::string> names;
  for (const auto& feature : weights.features) names.push_back(feature.name);
  table.compute(names);
  const auto F = weights.features.size();
  const auto values = entry_values(table, weights, list.entries.size());
  for (const auto& feature : weights.features) warn_of_other_model(weights, feature, table);
  std::vector<double> factors;
  for (const auto& feature : weights.features) factors.push_back(feature.weight);
  std::vector<double> totals;
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    totals.push_back(weighted_sum(factors, std::span(values).subspan(i * F, F)));
    if (!std::isfinite(totals.back())) {
      throw InputError("{}: the weighted sum of {} is too large for a number; lower the weights",
                       weights.origin, list.entries[i].text);
    }
  }
  for (auto order : list.grouped) {
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return totals[i]; });
    if (arguments.n_best == 0) {
      output.write(list.entries[order[0]].text + "\n");
      continue;
    }
    order.resize(std::min(order.size(), static_cast<std::size_t>(arguments.n_best)));
    write_list(output, list, weights, table, values, totals, order);
  }
  output.commit();
  return ExitCode::ok;
}

// Returns the features to be tuned, with the weights to start from.
Weights initial_weights(const RerankArguments& arguments, const FeatureTable& table) {
  Weights weights{"--list-features", {}};
  const auto add = [&](const std::string& name) {
    const auto known = std::ranges::find(weights.features, name, &FeatureWeight::name);
    if (known == weights.features.end()) weights.features.push_back({name, 0, std::nullopt});
  };
  for (const auto& name : arguments.list_features) {
    if (name != "none") add(name);
  }
  for (const auto& name : table.names()) {
    if (arguments.per_token || !is_model_feature(name) || !name.ends_with("_per_token")) add(name);
  }
  if (!arguments.no_length) add("length");
  if (weights.features.empty()) {
    throw ConfigError(
        "--no-length: found nothing else to tune; name a model or a feature of the list");
  }
  const auto given = parse_weights(arguments.weight);
  if (given.features.empty()) weights.features[0].weight = 1;
  for (const auto& feature : given.features) {
    const auto place = std::ranges::find(weights.features, feature.name, &FeatureWeight::name);
    if (place == weights.features.end()) {
      std::vector<std::string> names;
      for (const auto& known : weights.features) names.push_back(known.name);
      throw ConfigError("--weight: found the feature {}, which is not tuned; expected one of {}",
                        feature.name, fmt::join(names, ", "));
    }
    place->weight = feature.weight;
  }
  return weights;
}

References read_references(const RerankArguments& arguments, const RerankedList& list) {
  References references;
  for (const auto& path : arguments.references) {
    const auto lines = read_lines(path);
    check_line_counts(path, lines.size(), list.source_path, list.source.size());
    if (std::ranges::all_of(lines, is_blank)) {
      throw InputError("{}: empty, so there is nothing to tune for", path);
    }
    references.push_back(lines);
  }
  return references;
}

// Returns the features and the counts of all entries, sentence by sentence.
CandidateTable candidate_table(const RerankedList& list, const References& references,
                               const FeatureTable& features, const Weights& weights,
                               const CorpusMetric& metric) {
  CandidateTable table;
  table.features = weights.features.size();
  table.metric = &metric;
  const auto values = entry_values(features, weights, list.entries.size());
  std::vector<std::string> texts;
  References repeated(references.size());
  for (const auto& entries : list.grouped) {
    for (const auto i : entries) {
      const auto row = std::span(values).subspan(i * table.features, table.features);
      table.values.insert(table.values.end(), row.begin(), row.end());
      texts.push_back(list.entries[i].text);
      for (std::size_t r = 0; r < references.size(); ++r) {
        repeated[r].push_back(references[r][list.entries[i].sentence]);
      }
    }
    table.first.push_back(texts.size());
  }
  table.counts = metric.count(texts, repeated);
  return table;
}

// Numbers of words: a gain that comes from longer or shorter translations holds only for text whose
// references are as long.
struct Words {
  double before = 0;
  double after = 0;
  double reference = 0;  // mean of the references
};

Words count_list_words(const RerankedList& list, const References& references,
                       const FeatureTable& features, const CandidateTable& table,
                       std::span<const double> initial, std::span<const double> tuned) {
  const auto lengths = *features.values("length");
  std::vector<double> of_candidate;
  for (const auto& entries : list.grouped) {
    for (const auto i : entries) of_candidate.push_back(lengths[i]);
  }
  const auto sum = [&](std::span<const double> weights) {
    double words = 0;
    for (const auto candidate : best_candidates(table, weights)) words += of_candidate[candidate];
    return words;
  };
  Words words{.before = sum(initial), .after = sum(tuned)};
  for (const auto& lines : references) {
    for (const auto& line : lines) words.reference += static_cast<double>(word_count(line));
  }
  words.reference /= static_cast<double>(references.size());
  return words;
}

Json tuned_weights_json(const Weights& weights, const TunedWeights& tuned,
                        const FeatureTable& features, const CandidateTable& table,
                        const Words& words, std::size_t references) {
  Json json = {
      {"metric", table.metric->name()},        {"signature", table.metric->signature(references)},
      {"score_before", tuned.initial_score},   {"score_after", tuned.score},
      {"words_before", words.before},          {"words_after", words.after},
      {"words_of_reference", words.reference}, {"sentences", table.sentences()},
      {"candidates", table.candidates()},      {"features", Json::array()}};
  for (std::size_t f = 0; f < tuned.weights.size(); ++f) {
    const auto& name = weights.features[f].name;
    Json entry = {{"name", name}, {"weight", tuned.weights[f]}};
    if (const auto model = features.model_of(name)) {
      entry["model"] = model->path;
      entry["sha256"] = model->sha256;
      if (!model->tags.source.empty()) entry["src_tag"] = model->tags.source;
      if (!model->tags.target.empty()) entry["trg_tag"] = model->tags.target;
    }
    json["features"].push_back(std::move(entry));
  }
  return json;
}

ExitCode tune(const RerankArguments& arguments, const RerankedList& list, FeatureTable& features) {
  const auto references = read_references(arguments, list);
  const auto metric = make_metric(arguments.metric, {});
  for (const auto& name : arguments.list_features) {  // before models are loaded
    if (name != "none" && !features.values(name) && !features.has_model(name)) {
      reject_missing({"--list-features", {}}, {name, 0, std::nullopt}, features);
    }
  }
  OutputFile output(arguments.output);
  features.compute(std::nullopt);
  const auto weights = initial_weights(arguments, features);
  const auto table = candidate_table(list, references, features, weights, *metric);
  std::vector<double> initial;
  for (const auto& feature : weights.features) initial.push_back(feature.weight);
  const auto pool = make_thread_pool(arguments.device.threads, torch::kCPU);
  const auto tuned = tune_weights(table, initial, {arguments.restarts, arguments.seed}, *pool);
  const auto words = count_list_words(list, references, features, table, initial, tuned.weights);
  const auto json = tuned_weights_json(weights, tuned, features, table, words, references.size());
  output.write(to_text(json, 2) + "\n");
  output.commit();
  log::info("{} {:.2f} before, {:.2f} after tuning {} on {} of {}", metric->name(),
            tuned.initial_score, tuned.score, counted(weights.features.size(), "weight"),
            counted(table.candidates(), "candidate"), counted(table.sentences(), "sentence"));
  log::info("Words: {:.0f} before, {:.0f} after, {:.0f} in the reference.", words.before,
            words.after, words.reference);
  return ExitCode::ok;
}

}  // namespace

ExitCode rerank(const RerankArguments& arguments) {
  check_rerank(arguments);
  std::vector<std::string> inputs = {arguments.source, path_or_dash(arguments.input),
                                     arguments.weights};
  inputs.insert(inputs.end(), arguments.references.begin(), arguments.references.end());
  check_files(inputs, {path_or_dash(arguments.output), arguments.features});
  const auto list = read_list(arguments);
  FeatureTable features(arguments, list);
  return arguments.tune ? tune(arguments, list, features)
                        : apply_weights(arguments, list, features);
}

}  // namespace regard
