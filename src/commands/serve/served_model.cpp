#include "commands/serve/served_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/model_report.h"
#include "data/line_checks.h"
#include "report/format.h"
#include "serve/http_message.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"
#include "text/vocabulary.h"
#include "translation/ensemble_folders.h"
#include "translation/html_segments.h"
#include "translation/long_lines.h"
#include "translation/translator.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

LoadedModel require_text(LoadedModel model) {
  require_translation(model, "serve");
  if (model.contents.codec.features) {
    throw ConfigError(
        "serve: {} reads features (data.source), but requests have text; translate with `regard "
        "translate`",
        model.path.string());
  }
  return model;
}

Json alignment_json(const Alignment& alignment) {
  Json links = Json::array();
  for (const auto& link : alignment) links.push_back({link.source, link.target});
  return links;
}

}  // namespace

// The answer to a request, made by the threads of the engine.
class ServedModel::Answer {
 public:
  Answer(const ServedModel& model, TranslateRequest request, TextCodec codec,
         SentenceOptions constraints, bool may_split, std::vector<LineParts> parts,
         Listener listener)
      : model_(model),
        request_(std::move(request)),
        codec_(std::move(codec)),
        constraints_(std::move(constraints)),
        may_split_(may_split),
        parts_(std::move(parts)),
        listener_(std::move(listener)) {}

  // Adds a line to the request of the engine, or ends it with an error.
  void add_to(TranslationRequest& engine_request, std::size_t line);
  void finish(std::size_t line, std::vector<Translation> sentences,
              const std::exception_ptr& error) const;
  void progress(std::size_t line, std::size_t part, std::string text);

  // The numbers of the lines that the engine translates.
  std::vector<std::size_t> lines;

 private:
  // Throws InputError if a line or a part of it is longer than those of training.
  void check_length(const QueuedLine& line) const;
  std::string put_back_markup(const std::vector<MarkedText>& texts,
                              const std::vector<Translation>& sentences) const;
  Json element(std::size_t line, std::vector<Translation> sentences) const;
  Json hypothesis_json(const Translation& translation, const Hypothesis& hypothesis) const;
  Json tree_json(const Translation& translation) const;

  const ServedModel& model_;
  const TranslateRequest request_;
  const TextCodec codec_;  // with the tags of the request
  const SentenceOptions constraints_;
  const bool may_split_;
  const std::vector<LineParts> parts_;
  const Listener listener_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::string>> partial_;  // texts of the parts of a line
};

void ServedModel::Answer::add_to(TranslationRequest& engine_request, std::size_t line) {
  const auto& text = request_.lines[line];
  QueuedLine queued{.text = text, .options = constraints_, .parts = parts_[line].texts};
  if (!parts_[line].marked.empty()) queued.text.clear();
  queued.options.number = static_cast<std::int64_t>(line) + 1;
  try {
    check_length(queued);
  } catch (const InputError& error) {
    listener_.finished(line, error_json("input", error.what()));
    return;
  }
  engine_request.lines.push_back(std::move(queued));
  lines.push_back(line);
}

void ServedModel::Answer::check_length(const QueuedLine& line) const {
  const auto& limit = model_.front_end_.limit();
  const auto number = line.options.number;
  const auto check = [&](const std::string& text) {
    check_elements(text, limit, "line", number);
    if (text.size() <= limit.bytes) return;
    const bool has_words = split_at_ascii_space(text).size() > 1;
    throw InputError("line {}: found {}{} bytes, expected at most {}, as in training; {}", number,
                     line.parts.size() > 1 ? "a part of " : "", text.size(), limit.bytes,
                     !may_split_ || !has_words    ? "shorten it"
                     : request_.split_length == 0 ? "split it with split_length"
                                                  : "give a smaller split_length");
  };
  if (line.parts.empty()) check(line.text);
  for (const auto& part : line.parts) check(part);
}

std::string ServedModel::Answer::put_back_markup(const std::vector<MarkedText>& texts,
                                                 const std::vector<Translation>& sentences) const {
  const auto kind = model_.model_.contents.options.data.tokenizer.kind;
  std::string output;
  std::size_t begin = 0;  // of the sentences
  for (const auto& [segment, parts] : texts) {
    Translation translation;
    if (parts > 0) {
      translation = join_translations(std::span(sentences).subspan(begin, parts), codec_, kind);
    }
    if (!translation.hypotheses.empty()) {
      translation.text = model_.translator_.text(translation.hypotheses[0], translation);
    }
    output += segment.output(model_.translator_.marked_text(segment.line, translation, kind));
    begin += parts;
  }
  return output;
}

void ServedModel::Answer::finish(std::size_t line, std::vector<Translation> sentences,
                                 const std::exception_ptr& error) const {
  try {
    if (error) std::rethrow_exception(error);
    listener_.finished(line, element(line, std::move(sentences)));
  } catch (const CancelledSearch&) {
    listener_.finished(line, error_json("cancelled", "the request was cancelled"));
  } catch (const InputError& failure) {
    listener_.finished(line, error_json("input", failure.what()));
  } catch (const std::exception& failure) {
    log::error("{}, line {} of a request: {}", model_.name_, line + 1, failure.what());
    listener_.finished(line, error_json("unexpected", "the server failed; its log says why"));
  }
}

void ServedModel::Answer::progress(std::size_t line, std::size_t part, std::string text) {
  std::string joined;
  {
    const std::lock_guard lock(mutex_);
    auto& texts = partial_[line];
    texts.resize(std::max(texts.size(), part + 1));
    texts[part] = std::move(text);
    for (const auto& each : texts) joined.append(space_between(joined, each)).append(each);
  }
  listener_.partial(line, std::move(joined));
}

Json ServedModel::Answer::hypothesis_json(const Translation& translation,
                                          const Hypothesis& hypothesis) const {
  const auto& translator = model_.translator_;
  const auto& options = model_.model_.contents.options.data;
  auto json = regard::hypothesis_json(translator, hypothesis, translation);
  const auto tokens = translator.tokens(hypothesis, translation);
  if (request_.tokens || request_.attention) {
    json["tokens"] = tokens;
    json["token_log_probability"] = hypothesis.token_log_p;
  }
  if (request_.alignments) {
    json["alignment"] = alignment_json(align_words(hypothesis, translation, tokens, options));
  }
  if (request_.attention) {
    auto& rows = json["attention"] = Json::array();
    for (const auto& row : hypothesis.weights) rows.push_back(weights_json(row));
  }
  return json;
}

Json ServedModel::Answer::tree_json(const Translation& translation) const {
  Json nodes = Json::array();
  for (const auto& node : translation.hypotheses[0].tree->nodes) {
    const bool is_end = node.token == eos_id;
    nodes.push_back({{"token", is_end ? "</s>"
                                      : codec_.target_token(static_cast<std::int32_t>(node.token),
                                                            translation.oov_words)},
                     {"parent", node.previous},
                     {"log_probability", node.log_probability},
                     {"score", node.score ? Json(*node.score) : Json()},
                     {"group", node.group}});
  }
  return nodes;
}

Json ServedModel::Answer::element(std::size_t line, std::vector<Translation> sentences) const {
  const auto& marked = parts_[line].marked;
  const auto text = marked.empty() ? "" : put_back_markup(marked, sentences);
  if (!marked.empty()) {  // a document has no weights
    for (auto& sentence : sentences) {
      for (auto& hypothesis : sentence.hypotheses) hypothesis.weights.clear();
    }
  }
  Json parts = Json::array();
  const bool shows_parts = sentences.size() > 1 && marked.empty();
  for (std::size_t i = 0; shows_parts && i < sentences.size(); ++i) {
    parts.push_back({{"source", parts_[line].texts[i]}, {"text", sentences[i].text}});
  }
  auto translation = model_.front_end_.join(std::move(sentences), codec_);
  Json json = {{"text", text}, {"hypotheses", Json::array()}};
  if (translation.hypotheses.empty()) return json;  // a blank line
  const bool shows_source = request_.tokens || request_.attention;
  if (shows_source) {
    add_source_tokens(codec_, request_.lines[line], parts_[line].texts, translation);
  }
  const auto count =
      std::min(static_cast<std::size_t>(request_.n_best), translation.hypotheses.size());
  for (std::size_t i = 0; i < count; ++i) {
    json["hypotheses"].push_back(hypothesis_json(translation, translation.hypotheses[i]));
  }
  if (!marked.empty()) json["hypotheses"][0]["text"] = text;
  json["text"] = json["hypotheses"][0]["text"];
  if (shows_parts) json["parts"] = std::move(parts);
  if (shows_source) json["source_tokens"] = translation.source_tokens;
  if (request_.tree) json["tree"] = tree_json(translation);
  if (translation.lacks_phrases) {
    json["warning"] = request_.glossary && model_.glossary_
                          ? "no translation was found that has all required phrases and terms"
                          : "no translation was found that has all required phrases";
  }
  return json;
}

ServedModel::ServedModel(std::string name, LoadedModel model, const SearchOptions& search,
                         const RequestLimits& limits, const std::vector<std::string>& glossaries)
    : name_(std::move(name)),
      model_(require_text(std::move(model))),
      search_(search),
      limits_(limits),
      translator_(model_.translator()),
      front_end_(model_.contents),
      engine_(translator_, search.batch_size) {
  if (glossaries.empty()) return;
  std::vector<GlossaryEntry> entries;
  for (const auto& file : glossaries)
    std::ranges::move(read_glossary(file), std::back_inserter(entries));
  glossary_ = front_end_.glossary(entries);
}

Json ServedModel::description() const {
  const auto& options = model_.contents.options.model;
  const bool attends = model_.contents.model->has_attention_weights();
  const auto attention = attention_kind(options);
  const auto parameters = parameter_count(*model_.contents.model);
  const auto [source, target] = languages(model_.contents.options);
  Json search;
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        if constexpr (Choice<Value>) {
          search[std::string(field.name)] = enum_name(value);
        } else {
          search[std::string(field.name)] = value;
        }
      },
      search_);
  for (const auto* key : {"batch_size", "validation_beam_size"}) search.erase(key);
  return {
      {"description",
       fmt::format(
           "{}{} model with {} attention and {} parameters",
           source.empty() || target.empty() ? "A " : fmt::format("{} to {}: a ", source, target),
           options.decoder.kind == LayerKind::transformer ? "Transformer" : "recurrent",
           attends ? attention : "no", format_thousands(parameters))},
      {"encoder", enum_name(options.encoder.kind)},
      {"decoder", enum_name(options.decoder.kind)},
      {"attention", attention},
      {"has_attention", attends},
      {"parameters", parameters},
      {"source_language", source.empty() ? Json() : Json(source)},
      {"target_language", target.empty() ? Json() : Json(target)},
      {"user_symbols", model_.contents.options.data.tokenizer.user_symbols},
      {"src_tag", model_.contents.codec.source_tag},
      {"trg_tag", model_.contents.codec.target_tag()},
      {"search", std::move(search)}};
}

SearchRequest ServedModel::search_of_request(const TranslateRequest& request,
                                             const SearchOptions& search) const {
  check_search(search, *model_.contents.model);
  auto result = search_request(search);
  result.n_best = request.n_best;
  result.want_weights = request.attention || request.alignments || request.has_markup();
  result.want_tree = request.tree;
  result.words = front_end_.phrases().words();
  if (result.want_weights && !model_.contents.model->has_attention_weights()) {
    throw HttpError(400, "bad_request",
                    fmt::format("{}: the model {} has no attention weights",
                                request.attention      ? "attention"
                                : request.alignments   ? "alignments"
                                : request.markup       ? "markup"
                                : request.keep.empty() ? "format html"
                                                       : "keep",
                                name_));
  }
  return result;
}

std::vector<ServedModel::LineParts> ServedModel::parts_of(
    const TranslateRequest& request, std::optional<std::int64_t> max_words) const {
  const auto& symbols = model_.contents.options.data.tokenizer.user_symbols;
  const auto kinds = markup_kinds(request.markup, request.keep);
  const bool is_html = request.format == TranslateRequest::Format::html;
  std::size_t sentences = 0;  // of texts with markup
  std::vector<LineParts> all(request.lines.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& line = request.lines[i];
    auto& [parts, marked] = all[i];
    if (!request.has_markup()) {
      if (max_words) parts = front_end_.split(line, *max_words);
      continue;
    }
    auto segments = is_html ? html_segments(line, kinds, symbols)
                            : std::vector{Segment{.line = take_out(line, kinds, symbols)}};
    for (auto& segment : segments) {
      const auto& text = segment.line.text;
      std::vector<std::string> of_segment;
      if (!is_blank(text)) {
        of_segment = max_words ? front_end_.split(text, *max_words) : std::vector{text};
      }
      std::ranges::copy(of_segment, std::back_inserter(parts));
      marked.push_back({std::move(segment), of_segment.size()});
    }
    sentences += parts.size();
  }
  if (is_html && sentences > limits_.max_lines) {
    throw HttpError(413, "too_large",
                    fmt::format("text: found {} in {}, expected at most {}; send several requests",
                                counted(sentences, "sentence"), counted(all.size(), "document"),
                                limits_.max_lines));
  }
  return all;
}

std::uint64_t ServedModel::submit(const TranslateRequest& request, Listener listener) {
  try {
    return start(request, std::move(listener));
  } catch (const ConfigError& error) {
    throw HttpError(400, "bad_request", error.what());
  } catch (const InputError& error) {
    throw HttpError(400, "bad_request", error.what());
  }
}

std::uint64_t ServedModel::start(const TranslateRequest& request, Listener listener) {
  TranslationRequest engine_request;
  const auto search = search_of(request, search_, limits_);
  engine_request.search = search_of_request(request, search);
  const auto& options = model_.contents.options;
  const bool has_characters = options.data.tokenizer.kind == TokenizerKind::character;
  const auto max_words = front_end_.max_words(request.split_length, request.whole_lines,
                                              engine_request.search, request.has_constraints());
  auto parts = parts_of(request, max_words);
  const bool copies = options.model.output.kind == OutputKind::copy && !has_characters;
  std::vector<AnswerLine> lines;
  std::size_t sentence_count = 0;
  lines.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& texts = parts[i].texts;
    lines.push_back(texts.empty() ? answer_line({&request.lines[i], 1}, copies)
                                  : answer_line(texts, copies));
    sentence_count += lines.back().parts;
  }
  listener.reserve(sentence_count, answer_bytes(request, lines, search, has_characters ? 1 : 4));
  auto codec = tagged_codec(model_.contents, {"src_tag", request.source_tag},
                            {"trg_tag", request.target_tag});
  engine_request.codec = codec;
  if (request.glossary) engine_request.glossary = glossary_;
  if (engine_request.glossary && search.samples > 0) {
    throw HttpError(400, "bad_request",
                    fmt::format("search.samples: found {}, expected 0, because only beam search "
                                "supports the glossary of {}; set glossary to false",
                                search.samples, name_));
  }
  auto constraints = front_end_.phrases().encode(
      {request.prefix, request.required_phrases, request.banned_phrases}, search.max_output_length);
  const bool wants_partial = listener.partial != nullptr;
  const auto answer =
      std::make_shared<Answer>(*this, request, std::move(codec), std::move(constraints),
                               max_words.has_value(), std::move(parts), std::move(listener));
  for (std::size_t line = 0; line < request.lines.size(); ++line) {
    answer->add_to(engine_request, line);
  }
  engine_request.finished = [answer](std::size_t i, std::vector<Translation> sentences,
                                     const std::exception_ptr& error) {
    answer->finish(answer->lines[i], std::move(sentences), error);
  };
  if (wants_partial) {
    engine_request.progress = [answer](std::size_t i, std::size_t part, std::string text) {
      answer->progress(answer->lines[i], part, std::move(text));
    };
  }
  return engine_.submit(std::move(engine_request));
}

TranslationService::Statistics ServedModel::statistics() const {
  const auto numbers = engine_.statistics();
  return {.finished_lines = numbers.finished_lines,
          .failed_lines = numbers.failed_lines,
          .unfinished_sentences = numbers.unfinished_sentences,
          .source_tokens = numbers.source_tokens,
          .target_tokens = numbers.target_tokens};
}

}  // namespace regard
