#include "serve/translate_request.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "config/reader.h"
#include "serve/http_message.h"
#include "text/unicode.h"

namespace regard {
namespace {

[[noreturn]] void reject(const std::string& message) {
  throw HttpError(400, "bad_request", message);
}

// Rejects a body that would need much more memory as a Json than as text, or that gives a key
// twice.
class BodyShape : public JsonVisitor {
 public:
  explicit BodyShape(const RequestLimits& limits) : max_values_(limits.max_lines + 1000) {}

  void open(int depth) override {
    if (depth > 2) reject("the body: found a list in a list, expected none");
    value();
    if (depth == 1) inner_keys_.clear();
  }
  void key(int depth, const std::string& name) override {
    if (!(depth == 1 ? keys_ : inner_keys_).insert(name).second) {
      reject(fmt::format("{}: found twice", excerpt(name)));
    }
    value();
  }
  void value() override {
    if (++values_ <= max_values_) return;
    throw HttpError(
        413, "too_large",
        fmt::format("the body: found more than {} values; send several requests", max_values_));
  }

 private:
  const std::size_t max_values_;
  std::size_t values_ = 0;
  std::set<std::string> keys_;        // of the request
  std::set<std::string> inner_keys_;  // of an object in it
};

std::string found(const Json& value) {
  return excerpt(to_text(value));
}

[[noreturn]] void reject_value(const std::string& key, const Json& value,
                               const std::string& expected) {
  reject(fmt::format("{}: found {}, expected {}", key, found(value), expected));
}

bool flag(const std::string& key, const Json& value) {
  if (!value.is_boolean()) reject_value(key, value, "true or false");
  return value.get<bool>();
}

std::string text(const std::string& key, const Json& value) {
  if (!value.is_string()) reject_value(key, value, "a string");
  return value.get<std::string>();
}

std::int64_t whole_number(const std::string& key, const Json& value, std::int64_t min,
                          std::int64_t max) {
  const auto expected = fmt::format("a whole number from {} to {}", min, max);
  if (!value.is_number_integer()) reject_value(key, value, expected);
  const bool is_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(max);
  if (is_large || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
    reject_value(key, value, expected);
  }
  return value.get<std::int64_t>();
}

std::vector<std::string> texts(const std::string& key, const Json& value) {
  if (!value.is_array()) reject_value(key, value, "a list of strings");
  std::vector<std::string> all;
  for (std::size_t i = 0; i < value.size(); ++i) {
    all.push_back(text(fmt::format("{}[{}]", key, i), value[i]));
  }
  return all;
}

void check_size(const std::string& key, const std::string& line, const RequestLimits& limits) {
  if (line.size() > limits.max_characters) {
    throw HttpError(
        413, "too_large",
        fmt::format("{}: found {} bytes, expected at most {}; split the text into lines", key,
                    line.size(), limits.max_characters));
  }
}

void check_line(const std::string& key, const std::string& line, const RequestLimits& limits) {
  check_size(key, line, limits);
  if (line.find_first_of("\n\r") != std::string::npos) {
    reject(fmt::format("{}: found a line break; give a list of lines", key));
  }
}

void set_text(TranslateRequest& request, const Json& value, const RequestLimits& limits) {
  request.is_single = value.is_string();
  if (!value.is_string() && !value.is_array()) {
    reject_value("text", value, "a string or a list of strings");
  }
  request.lines = request.is_single ? std::vector{value.get<std::string>()} : texts("text", value);
  if (request.lines.size() > limits.max_lines) {
    throw HttpError(413, "too_large",
                    fmt::format("text: found {}, expected at most {}; send several requests",
                                counted(request.lines.size(), "line"), limits.max_lines));
  }
}

// A document may have line breaks.
void check_texts(const TranslateRequest& request, const RequestLimits& limits) {
  const auto check = request.format == TranslateRequest::Format::html ? check_size : check_line;
  for (std::size_t i = 0; i < request.lines.size(); ++i) {
    check(request.is_single ? "text" : fmt::format("text[{}]", i), request.lines[i], limits);
  }
}

// Rejects markup beside keys that show the tokens of a whole line or several translations.
void check_markup(const TranslateRequest& request) {
  if (!request.has_markup()) return;
  const bool is_html = request.format == TranslateRequest::Format::html;
  const std::string key = is_html ? "format html" : request.markup ? "markup" : "keep";
  for (const auto& [other, is_given] :
       {std::pair{"n_best", request.n_best > 1},
        {"tokens", request.tokens},
        {"alignments", request.alignments},
        {"attention", request.attention},
        {"tree", request.tree},
        {"stream tokens", request.stream == TranslateRequest::Stream::tokens},
        {"prefix, require and ban", is_html && request.has_constraints()}}) {
    if (is_given) reject(fmt::format("{} cannot be combined with {}", key, other));
  }
}

TranslateRequest::Format format_named(const Json& value) {
  if (value == "text") return TranslateRequest::Format::text;
  if (value == "html") return TranslateRequest::Format::html;
  reject_value("format", value, R"("text" or "html")");
}

void set_keep(TranslateRequest& request, const Json& value) {
  request.keep = texts("keep", value);
  for (const auto& name : request.keep) {
    if (name == "urls" || name == "numbers" || name == "placeholders") continue;
    reject_value("keep", Json(name), R"("urls", "numbers" or "placeholders")");
  }
}

void set_search(TranslateRequest& request, const Json& value) {
  if (!value.is_object()) reject_value("search", value, "an object");
  const auto known = search_keys();
  for (const auto& [key, setting] : value.items()) {
    if (std::ranges::count(known, key) == 0) {
      throw HttpError(400, "bad_request",
                      unknown_name("key of search", excerpt(key), known).what());
    }
    if (setting.is_structured() || setting.is_null()) {
      reject_value("search." + key, setting, "a number or a word");
    }
    request.search.push_back(key + "=" +
                             (setting.is_string() ? setting.get<std::string>() : to_text(setting)));
  }
}

std::string tag(const std::string& key, const Json& value, const RequestLimits& limits) {
  auto symbol = text(key, value);
  check_line(key, symbol, limits);
  return symbol;
}

TranslateRequest::Stream stream_named(const Json& value) {
  if (value == "lines") return TranslateRequest::Stream::lines;
  if (value == "tokens") return TranslateRequest::Stream::tokens;
  reject_value("stream", value, R"("lines" or "tokens")");
}

// Returns the largest number of parts that split_length, above 0, can split a line into.
std::size_t part_count(const TranslateRequest& request, const std::string& line) {
  const auto words = split_at_ascii_space(line).size();
  const auto length = static_cast<std::size_t>(request.split_length);
  if (request.format == TranslateRequest::Format::text && words <= length) return 1;
  // A sentence ends after a mark. A part that ends after a comma may be short.
  const auto is_mark = [](char32_t c) { return is_punctuation(c) || (c > 0x7f && is_space(c)); };
  // A tag of HTML has two marks.
  const auto marks = static_cast<std::size_t>(std::ranges::count_if(decode_utf8(line), is_mark));
  return std::min(words + marks, 1 + marks + 3 * words / length);
}

}  // namespace

std::vector<std::string> search_keys() {
  auto keys = field_names<SearchOptions>();
  std::erase(keys, "batch_size");
  std::erase(keys, "validation_beam_size");
  return keys;
}

TranslateRequest parse_translate_request(const std::string& body, const RequestLimits& limits) {
  // The parser takes it for the end.
  if (body.find('\0') != std::string::npos) reject("the body is not JSON: found a zero byte");
  Json json;
  try {
    BodyShape shape(limits);
    visit_json(body, shape);
    json = Json::parse(body);
  } catch (const Json::exception& error) {
    reject("the body is not JSON: " + fault_of(error));
  }
  if (!json.is_object()) reject_value("the body", json, "an object");

  TranslateRequest request;
  const std::map<std::string, std::function<void(const Json&)>> setters = {
      {"text", [&](const Json& value) { set_text(request, value, limits); }},
      {"model", [&](const Json& value) { request.model = text("model", value); }},
      {"src_tag", [&](const Json& value) { request.source_tag = tag("src_tag", value, limits); }},
      {"trg_tag", [&](const Json& value) { request.target_tag = tag("trg_tag", value, limits); }},
      {"n_best",
       [&](const Json& value) {
         request.n_best = whole_number("n_best", value, 1, limits.max_beam_size);
       }},
      {"search", [&](const Json& value) { set_search(request, value); }},
      {"tokens", [&](const Json& value) { request.tokens = flag("tokens", value); }},
      {"alignments", [&](const Json& value) { request.alignments = flag("alignments", value); }},
      {"attention", [&](const Json& value) { request.attention = flag("attention", value); }},
      {"tree", [&](const Json& value) { request.tree = flag("tree", value); }},
      {"split_length",
       [&](const Json& value) {
         request.split_length = whole_number("split_length", value, 0, 1'000'000);
       }},
      {"whole_lines", [&](const Json& value) { request.whole_lines = flag("whole_lines", value); }},
      {"glossary", [&](const Json& value) { request.glossary = flag("glossary", value); }},
      {"format", [&](const Json& value) { request.format = format_named(value); }},
      {"markup", [&](const Json& value) { request.markup = flag("markup", value); }},
      {"keep", [&](const Json& value) { set_keep(request, value); }},
      {"prefix", [&](const Json& value) { request.prefix = text("prefix", value); }},
      {"require", [&](const Json& value) { request.required_phrases = texts("require", value); }},
      {"ban", [&](const Json& value) { request.banned_phrases = texts("ban", value); }},
      {"stream", [&](const Json& value) { request.stream = stream_named(value); }},
  };
  std::vector<std::string> known;
  known.reserve(setters.size());
  for (const auto& [key, set] : setters) known.push_back(key);
  for (const auto& [key, value] : json.items()) {
    const auto setter = setters.find(key);
    if (setter == setters.end()) {
      throw HttpError(400, "bad_request", unknown_name("key", excerpt(key), known).what());
    }
    setter->second(value);
  }
  if (!json.contains("text")) reject("text is missing: give a string or a list of strings");
  check_texts(request, limits);
  check_markup(request);
  for (const auto& [key, phrases] :
       {std::pair{"require", &request.required_phrases}, {"ban", &request.banned_phrases}}) {
    if (phrases->size() > 100) {
      reject(fmt::format("{}: found {}, expected at most 100", key,
                         counted(phrases->size(), "phrase")));
    }
    for (const auto& phrase : *phrases) check_line(key, phrase, limits);
  }
  check_line("prefix", request.prefix, limits);
  if (request.split_length == 0) return request;
  std::size_t parts = 0;
  for (const auto& line : request.lines) parts += part_count(request, line);
  if (parts > limits.max_lines) {
    throw HttpError(413, "too_large",
                    fmt::format("split_length: found up to {} parts of lines, expected at most {}; "
                                "send several requests, or longer parts",
                                parts, limits.max_lines));
  }
  const auto reject_split = [](const std::string& key, const std::string& why) {
    reject(fmt::format("split_length cannot be combined with {}: {}", key, why));
  };
  if (request.whole_lines) reject_split("whole_lines", "it splits none");
  if (request.n_best > 1) reject_split("n_best", "each part has its own n-best list");
  if (request.tree) reject_split("tree", "each part has its own search");
  if (request.has_constraints()) {
    reject_split("prefix, require and ban", "they apply to whole lines");
  }
  return request;
}

AnswerLine answer_line(std::span<const std::string> parts, bool copies_words) {
  AnswerLine line{.parts = parts.size()};
  if (!copies_words) return line;
  std::size_t bytes = 0;  // the sum of the longest words
  for (const auto& part : parts) {
    std::size_t longest = 0;
    for (const auto word : split_at_ascii_space(part)) longest = std::max(longest, word.size());
    bytes += longest;
  }
  line.token_bytes = std::max(line.token_bytes, bytes / parts.size() + 1);
  return line;
}

std::size_t answer_bytes(const TranslateRequest& request, const std::vector<AnswerLine>& lines,
                         const SearchOptions& search, std::size_t bytes_per_token) {
  constexpr std::size_t per_hypothesis = 200;  // keys and numbers
  constexpr std::size_t per_token = 32;        // a token's keys and its probability
  constexpr std::size_t per_weight = 10;
  constexpr std::size_t per_zero = 4;   // a weight between parts
  constexpr std::size_t per_part = 40;  // its keys
  constexpr std::size_t per_node = 80;  // of a search tree
  constexpr std::size_t per_phrase_byte = 16;
  const auto n_best = static_cast<std::size_t>(request.n_best);
  const auto beam = static_cast<std::size_t>(std::max(search.beam_size, search.samples));
  // The search has a copy of the phrases for each line.
  std::size_t phrases = request.prefix.size();
  for (const auto* list : {&request.required_phrases, &request.banned_phrases}) {
    for (const auto& phrase : *list) phrases += phrase.size();
  }
  std::size_t bytes = request.lines.size() * per_phrase_byte * phrases;
  for (std::size_t i = 0; i < request.lines.size(); ++i) {
    const auto& line = request.lines[i];
    const auto [parts, token] = lines[i];
    const auto source = line.size() / bytes_per_token + 2 * parts;  // tokens
    const auto longest = parts * static_cast<std::size_t>(search.max_output_length);
    const auto allowed =
        search.max_output_ratio > 0
            ? static_cast<std::size_t>(search.max_output_ratio * static_cast<double>(source)) +
                  10 * parts
            : longest;
    const auto shortest = parts * static_cast<std::size_t>(search.min_output_length);
    const auto target = std::min(std::max(allowed, shortest), longest);
    auto hypothesis = per_hypothesis + token * target;
    if (request.tokens || request.attention) hypothesis += (per_token + token) * target;
    if (request.attention) {
      hypothesis += (per_weight / parts + per_zero * (parts - 1) / parts + 1) * source * target;
    }
    if (parts > 1) hypothesis += line.size() + token * target + per_part * parts;
    if (request.alignments) hypothesis += 8 * target;
    bytes += n_best * hypothesis;
    // Each hypothesis of the search has its weights.
    if (request.attention || request.alignments || request.has_markup())
      bytes += beam * sizeof(float) * source * target;
    if (request.tree) bytes += per_node * beam * target;
  }
  return bytes;
}

SearchOptions search_of(const TranslateRequest& request, const SearchOptions& defaults,
                        const RequestLimits& limits) {
  auto options = defaults;
  try {
    for (const auto& assignment : request.search) assign_option(options, assignment, "search");
  } catch (const ConfigError& error) {
    reject(error.what());
  }
  if (request.split_length > 0 && (options.samples > 0 || options.mbr != MbrMetric::none)) {
    reject("split_length cannot be combined with samples and mbr: they apply to whole lines");
  }
  for (const auto& [key, value] :
       {std::pair{"beam_size", options.beam_size}, {"samples", options.samples}}) {
    if (value > limits.max_beam_size) {
      reject(fmt::format("search.{}: found {}, expected at most {}", key, value,
                         limits.max_beam_size));
    }
  }
  const auto longest = std::max(defaults.max_output_length, std::int64_t{500});
  if (options.max_output_length > longest) {
    reject(fmt::format("search.max_output_length: found {}, expected at most {}",
                       options.max_output_length, longest));
  }
  const auto count = options.samples > 0 ? options.samples : options.beam_size;
  if (request.n_best > count) {
    reject(fmt::format("n_best: found {}, but the search keeps only {}; raise search.{}",
                       request.n_best, count, options.samples > 0 ? "samples" : "beam_size"));
  }
  if (request.tree && (options.samples > 0 || options.beam_size == 1)) {
    reject("tree: found no beam search; set search.beam_size to 2 or more");
  }
  if (!request.required_phrases.empty() && options.samples > 0) {
    reject("require: found search.samples, expected 0: only beam search supports required phrases");
  }
  return options;
}

}  // namespace regard
