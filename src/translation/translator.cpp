#include "translation/translator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "decoding/lexical_constraints.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "translation/continuous_batch.h"
#include "translation/minimum_bayes_risk.h"

namespace regard {
namespace {

// Returns a label for each encoder state of a source of features.
std::vector<std::string> frame_labels(const TextCodec& codec, const std::string& line,
                                      std::int64_t frames) {
  std::vector<std::string> labels;
  for (std::int64_t cell = 0; cell < codec.grid.size(); ++cell) {
    labels.push_back(fmt::format("row {}, column {}", cell / codec.grid.columns + 1,
                                 cell % codec.grid.columns + 1));
  }
  if (!labels.empty()) return labels;
  const auto seconds = seconds_per_state(codec, line);
  const auto per_state = codec.frames_per_state;
  const auto states = frames / per_state + 1;
  for (std::int64_t s = 0; s < states; ++s) {
    labels.push_back(seconds > 0 ? fmt::format("{:.2f} s", static_cast<double>(s) * seconds)
                                 : std::to_string(s * per_state + 1));
  }
  return labels;
}

}  // namespace

double seconds_per_state(const TextCodec& codec, const std::string& line) {
  if (!codec.features) return 0;
  return codec.features->file_of(line).frame_seconds() *
         static_cast<double>(codec.frames_per_state);
}

std::optional<Image> source_image(const TextCodec& codec, const std::string& line) {
  const auto channels = codec.image_channels;
  if (codec.grid.size() == 0 || (channels != 1 && channels != 3)) return {};
  const auto frames = codec.features->item(line);
  Image image{frames.width / channels, frames.count()};
  for (const float value : frames.values) {
    const auto byte =
        static_cast<std::uint8_t>(std::lround(255.0F * std::clamp(value, 0.0F, 1.0F)));
    image.rgb.insert(image.rgb.end(), static_cast<std::size_t>(3 / channels), byte);
  }
  return image;
}

std::vector<std::string> hypothesis_tokens(const TextCodec& codec, const Hypothesis& hypothesis,
                                           const Translation& translation) {
  std::vector<std::string> tokens;
  for (const auto id : hypothesis.tokens)
    tokens.push_back(codec.target_token(id, translation.oov_words));
  if (hypothesis.finished) tokens.emplace_back("</s>");
  return tokens;
}

SearchRequest ranked_options(SearchRequest options) {
  if (options.mbr != MbrMetric::none) options.n_best = options.beam_size;
  return options;
}

SearchRequest search_request(const SearchOptions& options) {
  SearchRequest search;
  static_cast<SearchOptions&>(search) = options;
  return search;
}

void check_length(std::size_t tokens, const std::optional<LengthLimit>& limit) {
  const auto length = static_cast<std::int64_t>(tokens) + 1;
  if (!limit || length <= limit->max_tokens) return;
  throw InputError(
      "found {}, </s> included, but the model takes {} ({}); shorten it, or train with more",
      counted(length, "token"), limit->max_tokens, limit->key);
}

std::vector<std::string> source_tokens(const TextCodec& codec, const std::string& line,
                                       const SourceLine& source) {
  if (codec.features) return frame_labels(codec, line, source.frames.count());
  auto tokens = codec.source->pieces(codec.tagged_source(line), source.tokens);
  tokens.emplace_back("</s>");
  return tokens;
}

std::vector<std::size_t> tag_positions(const TextCodec& codec,
                                       const std::vector<std::string>& tokens) {
  if (codec.source_tag.empty()) return {};
  const auto tag = std::ranges::find_if(
      tokens, [&](const auto& token) { return token.ends_with(codec.source_tag); });
  if (tag == tokens.end()) return {};
  std::vector<std::size_t> positions(static_cast<std::size_t>(tag - tokens.begin()) + 1);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

SourceLine encode_source(const TextCodec& codec, const std::optional<LengthLimit>& limit,
                         const std::string& line, std::int64_t number, bool want_tokens,
                         Translation& translation) {
  if (is_blank(line) && !codec.source->ignores_text()) return {};
  try {
    auto encoded = codec.encode_source(line);
    if (encoded.length() == 0) return encoded;
    check_length(encoded.length(), limit);
    translation.source_length = static_cast<std::int64_t>(encoded.length());
    if (want_tokens) {
      translation.source_tokens = source_tokens(codec, line, encoded);
      translation.tags = tag_positions(codec, translation.source_tokens);
      translation.column_seconds = seconds_per_state(codec, line);
    }
    translation.oov_words = encoded.oov_words;
    if (std::ranges::count(encoded.tokens, unk_id) > 0 && codec.output != OutputKind::copy) {
      const auto pieces = codec.source->pieces(codec.tagged_source(line), encoded.tokens);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (encoded.tokens[i] != unk_id) continue;
        translation.unknown_words.push_back(without_literal_symbols(pieces[i]));
      }
    }
    return encoded;
  } catch (const InputError& error) {
    throw InputError("source line {}: {}", number, error.what());
  }
}

Translator::Translator(std::shared_ptr<Seq2Seq> model, TextCodec codec, torch::Device device,
                       ThreadPool& pool, kernels::Precision precision)
    : model_(std::move(model)),
      codec_(std::move(codec)),
      device_(device),
      pool_(pool),
      packed_(std::make_unique<kernels::PackedWeights>(precision)),
      graphs_(device.is_cpu() ? nullptr : std::make_unique<SearchGraphs>(*model_, device)) {}

void Translator::use_shortlist(Shortlist shortlist) {
  check_shortlist(*model_, codec_);
  shortlist_ = std::move(shortlist);
}

namespace {

// Lines that are all known.
class AllLines : public OrderedLines {
 public:
  AllLines(const std::vector<std::string>& lines, const std::function<void(std::int64_t)>& progress)
      : lines_(lines), progress_(progress) {}

  bool read(bool /*few*/, std::vector<QueuedLine>& lines) override {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines.push_back({.text = lines_[i], .options = {.number = static_cast<std::int64_t>(i) + 1}});
    }
    return false;
  }
  void write(std::vector<QueuedLine> lines) override {
    for (auto& line : lines) translations.push_back(std::move(line.translation));
  }
  void progress(std::int64_t finished) override {
    if (progress_) progress_(finished);
  }
  bool keeps_lines_before_error() const override { return false; }

  std::vector<Translation> translations;

 private:
  const std::vector<std::string>& lines_;
  const std::function<void(std::int64_t)>& progress_;
};

}  // namespace

std::vector<Translation> Translator::translate(
    const std::vector<std::string>& lines, const SearchRequest& options, std::int64_t batch_size,
    const std::function<void(std::int64_t)>& progress) const {
  AllLines stream(lines, progress);
  translate(stream, options, batch_size);
  return std::move(stream.translations);
}

void Translator::translate(OrderedLines& lines, const SearchRequest& options,
                           std::int64_t batch_size) const {
  const auto size = static_cast<std::size_t>(sentences_at_once(options, batch_size, device_));
  translate_in_order(lines, 2 * TranslationQueue::window_lines(size, pool_.count()),
                     [&](LineStream& stream) { translate(stream, options, batch_size); });
}

void Translator::translate(LineStream& stream, const SearchRequest& options,
                           std::int64_t batch_size) const {
  const auto limit = model_->source_limit();
  const auto size = static_cast<std::size_t>(sentences_at_once(options, batch_size, device_));
  const auto common_options = ranked_options(options);
  const auto options_of = [&](const QueuedSentence& sentence) -> const SearchRequest& {
    return sentence.line->group ? sentence.line->group->search : common_options;
  };
  const auto encode = [&](QueuedSentence& sentence) {
    sentence.source =
        encode_source(codec_of(sentence), limit, *sentence.text, sentence.line->options.number,
                      options_of(sentence).want_weights, sentence.translation);
    find_terms(sentence, options_of(sentence).max_output_length);
  };
  const ContinuousBatch::Steps steps = {
      .search_request = options_of,
      .sentence_options =
          [this](const QueuedSentence& sentence) { return sentence_options(sentence); },
      .complete =
          [&](QueuedSentence& sentence) {
            auto& translation = sentence.translation;
            const auto& search = options_of(sentence);
            if (search.mbr != MbrMetric::none) rank_by_expected_utility(translation, search);
            translation.text = text(translation.hypotheses[0], translation);
            const auto phrases = required_phrases(sentence);
            translation.lacks_phrases =
                !phrases.empty() &&
                !std::ranges::all_of(translation.hypotheses, [&](const Hypothesis& hypothesis) {
                  return has_phrases(hypothesis.tokens, phrases, search.words);
                });
          },
      .text =
          [this](const QueuedSentence& sentence, std::vector<std::int32_t> tokens) {
            Hypothesis hypothesis;
            hypothesis.tokens = std::move(tokens);
            return text(hypothesis, sentence.translation);
          },
  };
  const auto search = [&](QueuedSentences sentences, SentenceSupply& supply) {
    ContinuousBatch(*model_, device_, *packed_, graphs_.get(), steps, size, supply)
        .run(std::move(sentences));
  };
  TranslationQueue(stream, encode, search, size, pool_).run();
}

const TextCodec& Translator::codec_of(const QueuedSentence& sentence) const {
  const auto& group = sentence.line->group;
  return group && group->codec ? *group->codec : codec_;
}

const Glossary* Translator::glossary_of(const QueuedSentence& sentence) const {
  const auto& group = sentence.line->group;
  return (group ? group->glossary : glossary_).get();
}

void Translator::find_terms(QueuedSentence& sentence, std::int64_t max_output_length) const {
  const auto* glossary = glossary_of(sentence);
  if (glossary == nullptr || sentence.source.length() == 0) return;
  sentence.terms = glossary->find(*sentence.text);
  if (sentence.terms.empty()) return;
  auto needed = glossary->longest(sentence.terms);
  for (const auto& phrase : sentence.line->options.required_phrases) needed += phrase.length();
  if (needed < max_output_length) return;  // which includes </s>
  throw InputError(
      "source line {}: its terms in the glossary and required phrases have {}, expected fewer than "
      "max_output_length, {}",
      sentence.line->options.number, counted(needed, "token"), max_output_length);
}

// A phrase that the line requires too is required once.
std::vector<TokenPattern> Translator::required_phrases(const QueuedSentence& sentence) const {
  auto phrases = sentence.line->options.required_phrases;
  if (sentence.terms.empty()) return phrases;
  auto given = phrases;
  for (const auto& term : sentence.terms) {
    auto phrase = glossary_of(sentence)->phrase(term);
    const auto same = std::ranges::find(given, phrase);
    if (same == given.end()) {
      phrases.push_back(std::move(phrase));
    } else {
      given.erase(same);
    }
  }
  return phrases;
}

SentenceOptions Translator::sentence_options(const QueuedSentence& sentence) const {
  auto options = sentence.line->options;
  options.required_phrases = required_phrases(sentence);
  options.first_token = codec_of(sentence).first_target;
  if (codec_.source->ignores_text()) {  // a language model continues the line
    options.prefix = codec_.target->encode(*sentence.text);
  }
  if (shortlist_) options.shortlist = shortlist_->tokens(sentence.source.tokens, options);
  return options;
}

void Translator::rank_by_expected_utility(Translation& translation,
                                          const SearchOptions& options) const {
  std::vector<std::string> texts;
  for (const auto& hypothesis : translation.hypotheses) {
    texts.push_back(text(hypothesis, translation));
  }
  regard::rank_by_expected_utility(translation.hypotheses, texts, options);
}

std::string Translator::text(const Hypothesis& hypothesis, const Translation& translation) const {
  return codec_.decode(hypothesis.tokens, translation.oov_words);
}

std::vector<std::string> Translator::tokens(const Hypothesis& hypothesis,
                                            const Translation& translation) const {
  return hypothesis_tokens(codec_, hypothesis, translation);
}

std::string Translator::marked_text(const MarkedLine& line, const Translation& translation,
                                    TokenizerKind kind) const {
  AttendedTranslation attended{translation.text, {}, {}, nullptr};
  if (!line.marks.empty() && !translation.hypotheses.empty()) {
    const auto& hypothesis = translation.hypotheses[0];
    attended.source_tokens = token_ranges(line.text, translation.source_tokens, kind);
    attended.target_tokens = token_ranges(translation.text, tokens(hypothesis, translation), kind);
    attended.weights = &hypothesis.weights;
  }
  return put_back(line, attended);
}

Json hypothesis_json(const Translator& translator, const Hypothesis& hypothesis,
                     const Translation& translation) {
  Json json = {{"text", translator.text(hypothesis, translation)},
               {"score", hypothesis.score},
               {"log_probability", hypothesis.log_probability},
               {"finished", hypothesis.finished}};
  if (hypothesis.expected_utility) json["expected_utility"] = *hypothesis.expected_utility;
  return json;
}

Json weights_json(std::span<const float> weights) {
  Json numbers = Json::array();
  for (const auto weight : weights) {
    numbers.push_back(std::round(1e6 * static_cast<double>(weight)) / 1e6);
  }
  return numbers;
}

void check_shortlist(Seq2Seq& model, const TextCodec& codec) {
  if (!model.output_layer().supports_shortlist()) {
    throw ConfigError(
        "a shortlist needs model.output.kind: vocabulary, but found {}; translate without one",
        enum_name(codec.output));
  }
  if (codec.source->reads_elements()) {
    throw ConfigError(
        "a shortlist needs a source vocabulary, but the source of the model is a sequence of "
        "numbers; translate without one");
  }
}

void check_search(const SearchOptions& options, const Seq2Seq& model) {
  check_search_options(options);
  if (options.coverage_beta > 0 && !model.has_attention_weights()) {
    throw ConfigError(
        "coverage_beta is {}, but the model has no attention, and coverage is a sum of attention "
        "weights; set it to 0",
        options.coverage_beta);
  }
  const auto limit = model.target_limit();
  if (limit && options.max_output_length > limit->max_tokens) {
    throw ConfigError(
        "max_output_length is {}, but the model takes {} ({}); set it to that or less",
        options.max_output_length, counted(limit->max_tokens, "token"), limit->key);
  }
}

}  // namespace regard
