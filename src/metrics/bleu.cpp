#include "metrics/bleu.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "metrics/corpus_metric.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"

namespace regard {

namespace {

constexpr std::array<std::pair<BleuSmoothing, std::string_view>, 4> smoothing_names{
    {{BleuSmoothing::exp, "exp"},
     {BleuSmoothing::floor, "floor"},
     {BleuSmoothing::add_k, "add-k"},
     {BleuSmoothing::none, "none"}}};

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
}

std::int64_t closest_length(std::int64_t length, const std::vector<std::u32string>& references) {
  std::int64_t closest = static_cast<std::int64_t>(references.front().size());
  for (const std::u32string& reference : references) {
    const auto candidate = static_cast<std::int64_t>(reference.size());
    const auto gain = std::abs(closest - length) - std::abs(candidate - length);
    if (gain > 0 || (gain == 0 && candidate < closest)) closest = candidate;
  }
  return closest;
}

BleuStatistics compare_ngrams(const std::u32string& hypothesis,
                              const std::vector<std::u32string>& references) {
  auto reference_counts = count_ngrams(references.front(), bleu_order);
  for (std::size_t r = 1; r < references.size(); ++r) {
    const auto more = count_ngrams(references[r], bleu_order);
    for (std::size_t n = 0; n < bleu_order; ++n) {
      reference_counts[n] = larger_counts(reference_counts[n], more[n]);
    }
  }
  BleuStatistics statistics;
  statistics.system_length = static_cast<std::int64_t>(hypothesis.size());
  statistics.reference_length = closest_length(statistics.system_length, references);
  const auto counts = count_ngrams(hypothesis, bleu_order);
  for (std::size_t n = 0; n < bleu_order; ++n) {
    statistics.matches[n] = clipped_matches(counts[n], reference_counts[n]);
    statistics.totals[n] = total_count(counts[n]);
  }
  return statistics;
}

double brevity_penalty(const BleuStatistics& statistics) {
  if (statistics.system_length >= statistics.reference_length) return 1;
  if (statistics.system_length == 0) return 0;
  return std::exp(1 - static_cast<double>(statistics.reference_length) /
                          static_cast<double>(statistics.system_length));
}

// Appends the two lengths, the matches and the totals.
void append(std::vector<double>& values, const BleuStatistics& statistics) {
  const auto& [system_length, reference_length, matches, totals] = statistics;
  values.push_back(static_cast<double>(system_length));
  values.push_back(static_cast<double>(reference_length));
  values.insert(values.end(), matches.begin(), matches.end());
  values.insert(values.end(), totals.begin(), totals.end());
}

BleuStatistics bleu_statistics(std::span<const double> sums) {
  const auto count = [&sums](std::size_t i) { return static_cast<std::int64_t>(sums[i]); };
  BleuStatistics statistics{count(0), count(1), {}, {}};
  for (std::size_t n = 0; n < bleu_order; ++n) {
    statistics.matches[n] = count(2 + n);
    statistics.totals[n] = count(2 + bleu_order + n);
  }
  return statistics;
}

}  // namespace

std::string_view name_of(BleuSmoothing smoothing) {
  for (const auto& [value, name] : smoothing_names) {
    if (value == smoothing) return name;
  }
  throw ConfigError("unknown BLEU smoothing {}", static_cast<int>(smoothing));
}

BleuSmoothing parse_bleu_smoothing(std::string_view name) {
  for (const auto& [value, known] : smoothing_names) {
    if (known == name) return value;
  }
  throw ConfigError("unknown BLEU smoothing '{}': give exp, floor, add-k or none", name);
}

void load_pieces(const std::string& file, BleuOptions& options) {
  const auto bytes = read_file<InputError>(file, "SentencePiece model");
  TokenizerOptions tokenizer;
  tokenizer.kind = TokenizerKind::bpe;  // the file decides between bpe and unigram
  options.pieces = load_tokenizer(tokenizer, with_special_pieces_first(bytes), file);
  options.pieces_name = "spm-" + sha256(bytes).substr(0, 8);
}

std::u32string tokenize_for_bleu(const std::string& line, const BleuOptions& options) {
  std::u32string text = decode_utf8(line);
  if (options.lowercase) text = to_lower(text);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  if (options.tokenizer == BleuTokenizer::sentencepiece) {
    return decode_utf8(
        fmt::format("{}", fmt::join(options.pieces->pieces(encode_utf8(text)), " ")));
  }
  return tokenize_for_bleu(text, options.tokenizer);
}

std::u32string bleu_tokens(const std::string& line, const BleuOptions& options, WordIds& word_ids) {
  const auto text = tokenize_for_bleu(line, options);
  return word_ids.ids(split_words(text));
}

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  system_length += other.system_length;
  reference_length += other.reference_length;
  for (std::size_t n = 0; n < bleu_order; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  return *this;
}

std::vector<BleuStatistics> bleu_statistics(const std::vector<std::string>& hypotheses,
                                            const References& references,
                                            const BleuOptions& options) {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  std::vector<BleuStatistics> statistics;
  statistics.reserve(hypotheses.size());
  std::vector<std::u32string> reference_tokens(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) {
      reference_tokens[r] = bleu_tokens(references[r][i], options, word_ids);
    }
    statistics.push_back(
        compare_ngrams(bleu_tokens(hypotheses[i], options, word_ids), reference_tokens));
  }
  return statistics;
}

BleuScore compute_bleu(const BleuStatistics& statistics, const BleuOptions& options) {
  BleuScore result;
  result.statistics = statistics;
  result.brevity_penalty = brevity_penalty(statistics);
  if (statistics.matches == decltype(statistics.matches){}) return result;

  const double value = smoothing_value(options);
  double divisor = 1;  // 2^k
  std::size_t orders = bleu_order;
  for (std::size_t n = 0; n < bleu_order; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(statistics.matches[n]) + added;
    const double total = static_cast<double>(statistics.totals[n]) + added;
    if (total == 0) break;  // the system is too short for this order
    if (options.effective_order) orders = n + 1;
    if (matches > 0) {
      result.precisions[n] = 100 * matches / total;
    } else if (options.smoothing == BleuSmoothing::exp) {
      divisor *= 2;
      result.precisions[n] = 100 / (divisor * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      result.precisions[n] = 100 * value / total;
    }
  }

  double log_sum = 0;
  for (std::size_t n = 0; n < orders; ++n) log_sum += std::log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(log_sum / static_cast<double>(orders));
  return result;
}

BleuScore corpus_bleu(const std::vector<std::string>& hypotheses, const References& references,
                      const BleuOptions& options) {
  BleuStatistics sum;
  for (const BleuStatistics& sentence : bleu_statistics(hypotheses, references, options)) {
    sum += sentence;
  }
  return compute_bleu(sum, options);
}

BleuScore sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                        BleuOptions options) {
  options.effective_order = true;
  References columns;
  for (const std::string& reference : references) columns.push_back({reference});
  return corpus_bleu({hypothesis}, columns, options);
}

std::string bleu_signature(const BleuOptions& options, std::size_t references) {
  std::string smoothing(name_of(options.smoothing));
  if (options.smoothing == BleuSmoothing::floor || options.smoothing == BleuSmoothing::add_k) {
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options));
  }
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:regard-{}", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     options.pieces ? options.pieces_name : name_of(options.tokenizer), smoothing,
                     version());
}

std::string format_bleu_details(const BleuScore& score) {
  const auto& [system_length, reference_length, matches, totals] = score.statistics;
  const double ratio = reference_length == 0 ? 0
                                             : static_cast<double>(system_length) /
                                                   static_cast<double>(reference_length);
  return fmt::format("{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     fmt::join(score.precisions, "/"), score.brevity_penalty, ratio, system_length,
                     reference_length);
}

std::string Bleu::signature(std::size_t references) const {
  return bleu_signature(options_, references);
}

SentenceCounts Bleu::count(const std::vector<std::string>& hypotheses,
                           const References& references) const {
  SentenceCounts counts{2 + 2 * bleu_order, {}};
  for (const auto& sentence : bleu_statistics(hypotheses, references, options_)) {
    append(counts.values, sentence);
  }
  return counts;
}

double Bleu::score(std::span<const double> sums) const {
  return compute_bleu(bleu_statistics(sums), options_).score;
}

std::string Bleu::details(std::span<const double> sums) const {
  return format_bleu_details(compute_bleu(bleu_statistics(sums), options_));
}

Json Bleu::to_json(std::span<const double> sums) const {
  const auto bleu = compute_bleu(bleu_statistics(sums), options_);
  return {{"score", bleu.score},
          {"precisions", bleu.precisions},
          {"brevity_penalty", bleu.brevity_penalty},
          {"system_length", bleu.statistics.system_length},
          {"reference_length", bleu.statistics.reference_length}};
}

}  // namespace regard
