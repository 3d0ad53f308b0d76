// regard rerank: chooses from n-best lists by weighted features, and tunes the weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/arguments.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "commands/rerank/reranked_list.h"
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
};

// The weights of the command line or of a file.
struct Weights {
  FeatureOrigin origin;
  std::vector<FeatureWeight> features;

  bool has(const std::string& name) const {
    return std::ranges::find(features, name, &FeatureWeight::name) != features.end();
  }
  // Returns the weights without the names.
  std::vector<double> factors() const {
    std::vector<double> all;
    for (const auto& feature : features) all.push_back(feature.weight);
    return all;
  }
};

Weights parse_weights(const std::vector<std::string>& given) {
  Weights weights{{"--weight", true}, {}};
  for (const auto& text : given) {
    const auto equals = text.rfind('=');
    const auto name = text.substr(0, equals);
    const auto value = equals == text.npos
                           ? std::nullopt
                           : parse_number<double>(std::string_view(text).substr(equals + 1));
    if (!value || !std::isfinite(*value) || name.empty()) {
      throw ConfigError("--weight: found '{}', expected NAME=NUMBER, such as length=0.2", text);
    }
    if (weights.has(name)) throw ConfigError("--weight: found {} twice", name);
    weights.features.push_back({name, *value});
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
  Weights weights{{path, false}, {}};
  for (const auto& entry : json["features"]) {
    const auto place = fmt::format("features[{}]", weights.features.size());
    const bool has_name = entry.contains("name") && entry["name"].is_string();
    const auto name = has_name ? entry["name"].get<std::string>() : "";
    if (name.empty()) reject(place + " has no `name`");
    if (!entry.contains("weight") || !entry["weight"].is_number()) {
      reject(fmt::format("{} ({}) has no number `weight`", place, name));
    }
    if (weights.has(name)) reject(fmt::format("{} ({}) repeats a feature", place, name));
    weights.features.push_back({name, entry["weight"].get<double>()});
  }
  if (weights.features.empty()) reject("`features` is empty");
  return weights;
}

// Returns the values of each entry, [entries, features].
std::vector<double> entry_values(const RerankedList& list, const Weights& weights) {
  const auto F = weights.features.size();
  std::vector<double> all(list.entries.size() * F);
  for (std::size_t f = 0; f < F; ++f) {
    const auto values = feature_values(list, weights.features[f].name, weights.origin);
    for (std::size_t i = 0; i < values.size(); ++i) all[i * F + f] = values[i];
  }
  return all;
}

// Returns the weighted sum of each entry.
std::vector<double> entry_totals(const RerankedList& list, const Weights& weights) {
  const auto F = weights.features.size();
  const auto values = entry_values(list, weights);
  const auto factors = weights.factors();
  std::vector<double> totals;
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    totals.push_back(weighted_sum(factors, std::span(values).subspan(i * F, F)));
    if (std::isfinite(totals.back())) continue;
    throw InputError("{}: the weighted sum of {} is too large for a number; lower the weights",
                     weights.origin.name, list.entries[i].text);
  }
  return totals;
}

ExitCode apply_weights(const RerankArguments& arguments, const RerankedList& list) {
  auto weights =
      arguments.weights.empty() ? parse_weights(arguments.weight) : read_weights(arguments.weights);
  std::erase_if(weights.features, [](const auto& feature) { return feature.weight == 0; });
  if (weights.features.empty()) {
    throw ConfigError("{}: found only weights of 0, expected another one", weights.origin.name);
  }
  const auto totals = entry_totals(list, weights);
  OutputFile output(arguments.output);
  for (std::size_t s = 0; s < list.sentences(); ++s) {
    std::vector<std::size_t> order(list.first[s + 1] - list.first[s]);
    std::iota(order.begin(), order.end(), list.first[s]);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return totals[i]; });
    if (arguments.n_best == 0) {
      output.write(list.entries[order[0]].text + "\n");
      continue;
    }
    order.resize(std::min(order.size(), static_cast<std::size_t>(arguments.n_best)));
    for (const auto i : order) {
      auto entry = list.entries[i];
      if (weights.has("length") && !has_feature(entry, "length")) {
        add_feature(entry, "length", static_cast<double>(word_count(entry.text)));
      }
      entry.score = fmt::format("{:.6f}", totals[i]);
      output.write(format_n_best(entry) + "\n");
    }
  }
  output.commit();
  return ExitCode::ok;
}

// Returns the features to be tuned, with the weights to start from.
Weights initial_weights(const RerankArguments& arguments, const RerankedList& list) {
  auto names = arguments.list_features;
  if (names.empty()) names = common_features(list);
  std::erase(names, "length");
  if (!arguments.no_length) names.emplace_back("length");
  if (names.empty()) {
    throw ConfigError(
        "--no-length: found nothing else to tune; add a feature with `regard score --n-best`");
  }
  Weights weights{{"--list-features", true}, {}};
  for (const auto& name : names) {
    if (!weights.has(name)) weights.features.push_back({name, 0});
  }
  const auto given = parse_weights(arguments.weight);
  if (given.features.empty()) weights.features[0].weight = 1;
  for (const auto& feature : given.features) {
    const auto place = std::ranges::find(weights.features, feature.name, &FeatureWeight::name);
    if (place == weights.features.end()) {
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
    if (lines.size() != list.sentences()) {
      throw InputError("{}: found {}, expected {}, one for each sentence of {}{}", input_name(path),
                       counted(lines.size(), "line"), list.sentences(), input_name(list.path),
                       other_line_break(path));
    }
    if (std::ranges::all_of(lines, is_blank)) {
      throw InputError("{}: empty, so there is nothing to tune for", path);
    }
    references.push_back(lines);
  }
  return references;
}

// Returns the features and the counts of all entries, sentence by sentence.
CandidateTable candidate_table(const RerankedList& list, const References& references,
                               const Weights& weights, const CorpusMetric& metric) {
  CandidateTable table;
  table.features = weights.features.size();
  table.first = list.first;
  table.values = entry_values(list, weights);
  table.metric = &metric;
  std::vector<std::string> texts;
  References repeated(references.size());
  for (const auto& entry : list.entries) {
    texts.push_back(entry.text);
    for (std::size_t r = 0; r < references.size(); ++r) {
      repeated[r].push_back(references[r][entry.sentence]);
    }
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
                       const CandidateTable& table, std::span<const double> initial,
                       std::span<const double> tuned) {
  const auto sum = [&](std::span<const double> weights) {
    double words = 0;
    for (const auto candidate : best_candidates(table, weights)) {
      words += static_cast<double>(word_count(list.entries[candidate].text));
    }
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
                        const CandidateTable& table, const Words& words, std::size_t references) {
  Json json = {
      {"metric", table.metric->name()},        {"signature", table.metric->signature(references)},
      {"score_before", tuned.initial_score},   {"score_after", tuned.score},
      {"words_before", words.before},          {"words_after", words.after},
      {"words_of_reference", words.reference}, {"sentences", table.sentences()},
      {"candidates", table.candidates()},      {"features", Json::array()}};
  for (std::size_t f = 0; f < tuned.weights.size(); ++f) {
    json["features"].push_back({{"name", weights.features[f].name}, {"weight", tuned.weights[f]}});
  }
  return json;
}

ExitCode tune(const RerankArguments& arguments, const RerankedList& list) {
  const auto references = read_references(arguments, list);
  const auto metric = make_metric(arguments.metric, {});
  const auto weights = initial_weights(arguments, list);
  const auto table = candidate_table(list, references, weights, *metric);
  const auto initial = weights.factors();
  OutputFile output(arguments.output);
  const auto pool = make_thread_pool(arguments.threads, torch::kCPU);
  const auto tuned = tune_weights(table, initial, {arguments.restarts, arguments.seed}, *pool);
  const auto words = count_list_words(list, references, table, initial, tuned.weights);
  const auto json = tuned_weights_json(weights, tuned, table, words, references.size());
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
  std::vector<std::string> inputs = {path_or_dash(arguments.input), arguments.weights};
  inputs.insert(inputs.end(), arguments.references.begin(), arguments.references.end());
  check_files(inputs, {path_or_dash(arguments.output)});
  const auto list = read_list(path_or_dash(arguments.input));
  return arguments.tune ? tune(arguments, list) : apply_weights(arguments, list);
}

}  // namespace regard
