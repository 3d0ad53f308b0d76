// The body of POST /translate (docs/serving.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/search_options.h"

namespace regard {

// The limits of one request.
struct RequestLimits {
  std::size_t max_lines = 1000;
  std::size_t max_characters = 10000;  // bytes of one line
  std::int64_t max_beam_size = 20;     // hypotheses or samples of a sentence
};

struct TranslateRequest {
  enum class Stream { none, lines, tokens };
  enum class Format { text, html };

  std::vector<std::string> lines;
  bool is_single = false;                 // `text` is a string, not a list
  std::string model;                      // empty: the first one
  std::optional<std::string> source_tag;  // empty text: none; nullopt: that of the model
  std::optional<std::string> target_tag;
  std::int64_t n_best = 1;
  std::vector<std::string> search;  // "beam_size=5": keys of section `search`
  bool tokens = false;
  bool alignments = false;
  bool attention = false;
  bool tree = false;
  std::int64_t split_length = 0;
  bool whole_lines = false;
  bool glossary = true;  // use that of the model
  Format format = Format::text;
  bool markup = false;
  std::vector<std::string> keep;
  std::string prefix;
  std::vector<std::string> required_phrases;
  std::vector<std::string> banned_phrases;
  Stream stream = Stream::none;

  bool has_constraints() const {
    return !prefix.empty() || !required_phrases.empty() || !banned_phrases.empty();
  }
  // True if texts have parts that are put back into their translations by the attention.
  bool has_markup() const { return format == Format::html || markup || !keep.empty(); }
};

// Parses untrusted text. Throws HttpError 400, with the key, what was found and what was expected,
// or 413 for too many lines, parts of lines or characters.
TranslateRequest parse_translate_request(const std::string& body, const RequestLimits& limits);

// Returns the search options of a request: `defaults` with its changes. Throws HttpError 400.
SearchOptions search_of(const TranslateRequest& request, const SearchOptions& defaults,
                        const RequestLimits& limits);

// The size of the answer to a line.
struct AnswerLine {
  std::size_t parts = 1;  // that are translated by themselves
  // The most bytes of a token, the mean of the parts. A model that copies words can copy the
  // longest word of a part at each position.
  std::size_t token_bytes = 8;
};
// Returns the size of the answer to a line of at least one part.
AnswerLine answer_line(std::span<const std::string> parts, bool copies_words);

// Returns an estimate of the bytes that a request needs beside its body: for its lines, hypotheses,
// tokens, attention weights, search trees and phrases, with translations as long as the search
// allows. `bytes_per_token` is that of the source text.
std::size_t answer_bytes(const TranslateRequest& request, const std::vector<AnswerLine>& lines,
                         const SearchOptions& search, std::size_t bytes_per_token);

// The keys of section `search` that a request may set: those that change one translation.
std::vector<std::string> search_keys();

}  // namespace regard
