#include "commands/serve/served_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/model_report.h"
#include "data/line_checks.h"
#include "report/format.h"
#include "serve/http_message.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "translation/long_lines.h"
#include "translation/phrase_constraints.h"
#include "translation/translation_json.h"
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

// Rounded, because a float as a double has many digits.
Json rounded(float weight) {
  return std::round(1e6 * static_cast<double>(weight)) / 1e6;
}

Json weights_json(const std::vector<std::vector<float>>& weights) {
  Json rows = Json::array();
  for (const auto& row : weights) {
    auto& numbers = rows.emplace_back(Json::array());
    for (const auto weight : row) numbers.push_back(rounded(weight));
  }
  return rows;
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
         SentenceOptions constraints, Listener listener)
      : model_(model),
        request_(std::move(request)),
        codec_(std::move(codec)),
        constraints_(std::move(constraints)),
        listener_(std::move(listener)) {}

  // Adds a line to the request of the engine, or ends it with an error.
  void add_to(TranslationRequest& engine_request, std::size_t line);
  void finish(std::size_t line, std::vector<Translation> sentences,
              const std::exception_ptr& error) const;
  void progress(std::size_t line, std::size_t part, std::string text);

  // The numbers of the lines that the engine translates.
  std::vector<std::size_t> lines;

 private:
  Json element(std::size_t line, std::vector<Translation> sentences) const;
  Json hypothesis_json(const Translation& translation, const Hypothesis& hypothesis) const;
  Json tree_json(const Translation& translation) const;
  void add_source_tokens(std::size_t line, Translation& translation) const;

  const ServedModel& model_;
  const TranslateRequest request_;
  const TextCodec codec_;  // with the tags of the request
  const SentenceOptions constraints_;
  const Listener listener_;
  std::map<std::size_t, std::vector<std::string>> parts_;  // by line, if lines are split
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::string>> partial_;  // texts of the parts of a line
};

void ServedModel::Answer::add_to(TranslationRequest& engine_request, std::size_t line) {
  const auto& text = request_.lines[line];
  QueuedLine queued{.text = text, .options = constraints_};
  queued.options.number = static_cast<std::int64_t>(line) + 1;
  if (request_.split_length > 0) {
    queued.parts = split_line(text, request_.split_length,
                              model_.model_.contents.options.data.tokenizer.user_symbols);
    parts_[line] = queued.parts;
  }
  try {
    auto pieces = queued.parts.empty() ? std::vector{text} : queued.parts;
    for (auto& piece : pieces) {
      const auto warning = cut_long_line(piece, model_.line_limit_, "line", queued.options.number);
      if (!warning) continue;
      throw InputError(
          "line {}: found {} bytes, expected at most {}, as in training; split it with "
          "split_length",
          queued.options.number, text.size(), model_.line_limit_.bytes);
    }
  } catch (const InputError& error) {
    listener_.finished(line, error_json("input", error.what()));
    return;
  }
  engine_request.lines.push_back(std::move(queued));
  lines.push_back(line);
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
    for (const auto& each : texts) {
      if (!each.empty()) joined += (joined.empty() ? "" : " ") + each;
    }
  }
  listener_.partial(line, std::move(joined));
}

// Adds the tokens of all parts of the line, and one </s>.
void ServedModel::Answer::add_source_tokens(std::size_t line, Translation& translation) const {
  const auto parts = parts_.find(line);
  auto& all = translation.source_tokens;
  const auto add = [&](const std::string& text) {
    if (is_blank(text)) return;
    if (!all.empty()) all.pop_back();  // only the last </s> remains
    const auto tokens = source_tokens(codec_, text, codec_.encode_source(text));
    all.insert(all.end(), tokens.begin(), tokens.end());
  };
  if (parts == parts_.end()) {
    add(request_.lines[line]);
  } else {
    for (const auto& part : parts->second) add(part);
  }
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
    json["alignment"] =
        alignment_json(align_words(hypothesis.weights, translation.source_tokens, translation.tags,
                                   tokens, options.tokenizer.kind, source_token_kind(options)));
  }
  if (request_.attention) json["attention"] = weights_json(hypothesis.weights);
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
  const auto& contents = model_.model_.contents;
  auto translation = sentences.size() == 1
                         ? std::move(sentences.front())
                         : join_translations(sentences, codec_.target->size(),
                                             contents.options.data.tokenizer.kind);
  Json json = {{"text", ""}, {"hypotheses", Json::array()}};
  if (translation.hypotheses.empty()) return json;  // a blank line
  const bool shows_source = request_.tokens || request_.attention;
  // The search has them only with the weights.
  if (shows_source && translation.source_tokens.empty()) add_source_tokens(line, translation);
  const auto count =
      std::min(static_cast<std::size_t>(request_.n_best), translation.hypotheses.size());
  for (std::size_t i = 0; i < count; ++i) {
    json["hypotheses"].push_back(hypothesis_json(translation, translation.hypotheses[i]));
  }
  json["text"] = json["hypotheses"][0]["text"];
  if (shows_source) json["source_tokens"] = translation.source_tokens;
  if (request_.tree) json["tree"] = tree_json(translation);
  if (!meets_constraints(constraints_, translation.hypotheses, model_.continues_word_)) {
    json["warning"] = "no translation was found that has all required phrases";
  }
  return json;
}

ServedModel::ServedModel(std::string name, LoadedModel model, const SearchOptions& search,
                         const RequestLimits& limits)
    : name_(std::move(name)),
      model_(require_text(std::move(model))),
      search_(search),
      limits_(limits),
      translator_(model_.translator()),
      line_limit_(source_line_limit(model_.contents.codec, model_.contents.options.data)),
      continues_word_(continuation_tokens(*model_.contents.codec.target,
                                          model_.contents.options.data.tokenizer.kind)),
      engine_(translator_, search.batch_size) {}

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
  try {
    check_search(search, *model_.contents.model);
  } catch (const ConfigError& error) {
    throw HttpError(400, "bad_request", error.what());
  }
  auto result = search_request(search);
  result.n_best = request.n_best;
  result.want_weights = request.attention || request.alignments;
  result.want_tree = request.tree;
  result.continues_word = continues_word_;
  if (result.want_weights && !model_.contents.model->has_attention_weights()) {
    throw HttpError(400, "bad_request",
                    fmt::format("{}: the model {} has no attention weights",
                                request.attention ? "attention" : "alignments", name_));
  }
  return result;
}

TextCodec ServedModel::codec_of_request(const TranslateRequest& request) const {
  try {
    return tagged_codec(model_.contents, {"src_tag", request.source_tag},
                        {"trg_tag", request.target_tag});
  } catch (const ConfigError& error) {
    throw HttpError(400, "bad_request", error.what());
  }
}

SentenceOptions ServedModel::constraints_of(const TranslateRequest& request,
                                            const SearchOptions& search) const {
  const auto& codec = model_.contents.codec;
  SentenceOptions sentence;
  const bool any = !request.prefix.empty() || !request.required_phrases.empty() ||
                   !request.banned_phrases.empty();
  if (!any) return sentence;
  if (codec.output == OutputKind::pointer) {
    throw HttpError(400, "bad_request",
                    "prefix, require and ban: the model outputs source positions, not words");
  }
  try {
    if (!is_blank(request.prefix)) {
      sentence.prefix = encode_phrase(codec, request.prefix, "prefix", "prefix");
    }
    for (const auto& phrase : request.required_phrases) {
      auto ids = encode_phrase(codec, phrase, "require", "require");
      if (!ids.empty()) sentence.required_phrases.push_back(std::move(ids));
    }
    for (const auto& phrase : request.banned_phrases) {
      auto ids = encode_banned_phrase(codec, phrase);
      if (ids && !ids->empty()) sentence.bad_words.push_back(std::move(*ids));
    }
    check_constraints(sentence, codec, search.max_output_length, {"prefix", "require", "ban"},
                      "search.max_output_length");
  } catch (const InputError& error) {
    throw HttpError(400, "bad_request", error.what());
  }
  return sentence;
}

std::uint64_t ServedModel::submit(const TranslateRequest& request, Listener listener) {
  TranslationRequest engine_request;
  const auto search = search_of(request, search_, limits_);
  engine_request.search = search_of_request(request, search);
  const bool has_characters =
      model_.contents.options.data.tokenizer.kind == TokenizerKind::character;
  listener.reserve(answer_bytes(request, search, has_characters ? 1 : 4));
  auto codec = codec_of_request(request);
  engine_request.codec = codec;
  auto constraints = constraints_of(request, engine_request.search);
  const bool wants_partial = listener.partial != nullptr;
  const auto answer = std::make_shared<Answer>(*this, request, std::move(codec),
                                               std::move(constraints), std::move(listener));
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
          .unfinished_lines = numbers.unfinished_lines,
          .source_tokens = numbers.source_tokens,
          .target_tokens = numbers.target_tokens};
}

}  // namespace regard
