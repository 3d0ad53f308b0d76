#include "metrics/bleu.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/choice.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "metrics/corpus_metric.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"

namespace regard {

namespace {

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
}

double closest_length(double length, const std::vector<std::u32string>& references) {
  std::pair closest{std::numeric_limits<double>::infinity(), 0.0};  // difference, length
  for (const std::u32string& reference : references) {
    const auto candidate = static_cast<double>(reference.size());
    closest = std::min(closest, {std::abs(candidate - length), candidate});
  }
  return closest.second;
}

std::array<double, bleu_count_size> compare_ngrams(const std::u32string& hypothesis,
                                                   const std::vector<std::u32string>& references) {
  auto reference_counts = count_ngrams(references.front(), bleu_order);
  for (std::size_t r = 1; r < references.size(); ++r) {
    const auto more = count_ngrams(references[r], bleu_order);
    for (std::size_t n = 0; n < bleu_order; ++n) {
      reference_counts[n] = larger_counts(reference_counts[n], more[n]);
    }
  }
  std::array<double, bleu_count_size> counts{};
  counts[bleu_system_length] = static_cast<double>(hypothesis.size());
  counts[bleu_reference_length] = closest_length(counts[bleu_system_length], references);
  const auto ngrams = count_ngrams(hypothesis, bleu_order);
  for (std::size_t n = 0; n < bleu_order; ++n) {
    counts[bleu_matches + n] = static_cast<double>(clipped_matches(ngrams[n], reference_counts[n]));
    counts[bleu_totals + n] = static_cast<double>(total_count(ngrams[n]));
  }
  return counts;
}

double brevity_penalty(double system_length, double reference_length) {
  if (system_length >= reference_length) return 1;
  if (system_length == 0) return 0;
  return std::exp(1 - reference_length / system_length);
}

}  // namespace

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

BleuScore compute_bleu(std::span<const double> counts, const BleuOptions& options) {
  BleuScore result;
  result.brevity_penalty =
      brevity_penalty(counts[bleu_system_length], counts[bleu_reference_length]);
  if (std::ranges::max(counts.subspan(bleu_matches, bleu_order)) == 0) return result;

  const double value = smoothing_value(options);
  double divisor = 1;  // 2^k
  std::size_t orders = bleu_order;
  for (std::size_t n = 0; n < bleu_order; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = counts[bleu_matches + n] + added;
    const double total = counts[bleu_totals + n] + added;
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

std::string Bleu::signature(std::size_t references) const {
  std::string smoothing(enum_name(options_.smoothing));
  if (options_.smoothing == BleuSmoothing::floor || options_.smoothing == BleuSmoothing::add_k) {
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options_));
  }
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:regard-{}", references,
                     options_.lowercase ? "lc" : "mixed", options_.effective_order ? "yes" : "no",
                     options_.pieces ? options_.pieces_name : enum_name(options_.tokenizer),
                     smoothing, version());
}

SentenceCounts Bleu::count(const std::vector<std::string>& hypotheses,
                           const References& references) const {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  SentenceCounts counts{bleu_count_size, {}};
  counts.values.reserve(hypotheses.size() * bleu_count_size);
  std::vector<std::u32string> reference_tokens(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) {
      reference_tokens[r] = bleu_tokens(references[r][i], options_, word_ids);
    }
    const auto sentence =
        compare_ngrams(bleu_tokens(hypotheses[i], options_, word_ids), reference_tokens);
    counts.values.insert(counts.values.end(), sentence.begin(), sentence.end());
  }
  return counts;
}

double Bleu::score(std::span<const double> sums) const {
  return compute_bleu(sums, options_).score;
}

std::string Bleu::details(std::span<const double> sums) const {
  const auto bleu = compute_bleu(sums, options_);
  const auto system_length = sums[bleu_system_length];
  const auto reference_length = sums[bleu_reference_length];
  return fmt::format("{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {:.0f} ref_len = {:.0f})",
                     fmt::join(bleu.precisions, "/"), bleu.brevity_penalty,
                     reference_length == 0 ? 0 : system_length / reference_length, system_length,
                     reference_length);
}

Json Bleu::to_json(std::span<const double> sums) const {
  const auto bleu = compute_bleu(sums, options_);
  return {{"score", bleu.score},
          {"precisions", bleu.precisions},
          {"brevity_penalty", bleu.brevity_penalty},
          {"system_length", static_cast<std::int64_t>(sums[bleu_system_length])},
          {"reference_length", static_cast<std::int64_t>(sums[bleu_reference_length])}};
}

}  // namespace regard
