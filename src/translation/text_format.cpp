#include "translation/text_format.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "data/byte_stream.h"
#include "text/unicode.h"
#include "translation/html_segments.h"

namespace regard {
namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

[[noreturn]] void reject_format(const std::string& found) {
  throw ConfigError(
      "{}, expected text, tsv:COLUMN, jsonl:KEY or html; for a column of CSV, give -i FILE#COLUMN",
      found);
}

// A scanner of JSON text that is known to be valid.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // Returns the bytes of the value at the keys from `part` on; the value begins at the next
  // character. Throws InputError if there is none.
  std::string_view find(const std::vector<std::string_view>& path, std::size_t part = 0) {
    skip_space();
    if (part == path.size()) return value();
    const bool is_array = next() == '[';
    if (next() != '{' && !is_array) throw fault(path, part, "no object");
    ++at_;
    std::string_view found;
    std::size_t index = 0;
    for (skip_space(); next() != '}' && next() != ']'; ++index) {
      auto key = std::to_string(index);
      if (!is_array) {
        key = Json::parse(value()).get<std::string>();
        skip_space();
        ++at_;  // :
      }
      if (key == path[part]) {
        if (found.data() != nullptr) throw fault(path, part, "the key twice");
        found = find(path, part + 1);
      } else {
        value();
      }
      skip_space();
      if (next() == ',') ++at_;
      skip_space();
    }
    ++at_;
    if (found.data() == nullptr) throw fault(path, part, "no such key");
    return found;
  }

 private:
  static InputError fault(const std::vector<std::string_view>& path, std::size_t part,
                          const std::string& found) {
    std::string keys;
    for (std::size_t i = 0; i <= part; ++i) keys += (i > 0 ? "." : "") + std::string(path[i]);
    return InputError("{}: found {}", keys, found);
  }
  char next() const { return text_[at_]; }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  // Skips a value and returns its bytes.
  std::string_view value() {
    skip_space();
    const auto begin = at_;
    int depth = 0;
    do {
      if (next() == '"') {
        for (++at_; next() != '"'; ++at_) at_ += next() == '\\' ? 1 : 0;
        ++at_;
      } else if (next() == '{' || next() == '[') {
        ++depth;
        ++at_;
      } else if (next() == '}' || next() == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      }
    } while (depth > 0);
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

TextFormat text_format(const std::string& option, const std::string& input) {
  if (option.empty()) {
    const auto name = lower_ascii(without_compression_ending(input));
    if (name.ends_with(".html") || name.ends_with(".htm")) return {TextFormat::Kind::html};
    for (const auto& [ending, choice] : {std::pair{".tsv", "--format tsv:COLUMN"},
                                         {".jsonl", "--format jsonl:KEY"},
                                         {".csv", "-i FILE#COLUMN"}}) {
      if (!name.ends_with(ending)) continue;
      throw ConfigError(
          "{}: found the ending {}; say which text to translate with {}, or give --format text to "
          "translate whole lines",
          input, ending, choice);
    }
    return {};
  }
  const auto colon = option.find(':');
  const auto name = option.substr(0, colon);
  const auto field = colon == std::string::npos ? "" : option.substr(colon + 1);
  if (name == "text" && colon == std::string::npos) return {};
  if (name == "html" && colon == std::string::npos) return {TextFormat::Kind::html};
  if (name != "tsv" && name != "jsonl") reject_format(fmt::format("--format: found {}", option));
  if (field.empty()) {
    throw ConfigError("--format {}: found no {}, expected {}", option,
                      name == "tsv" ? "column" : "key",
                      name == "tsv" ? "tsv:2 or tsv:NAME" : "jsonl:text or jsonl:translation.en");
  }
  if (name == "jsonl") return {TextFormat::Kind::jsonl, field};
  if (field == "0") throw ConfigError("--format {}: found column 0; columns count from 1", option);
  return {TextFormat::Kind::tsv, field};
}

std::string Segment::output(std::string_view translation) const {
  std::string text(translation);
  if (kind == TextFormat::Kind::tsv) std::ranges::replace(text, '\t', ' ');
  if (kind == TextFormat::Kind::jsonl) {
    text = to_text(Json(text));
    text = text.substr(1, text.size() - 2);
  }
  return before + text + after;
}

std::size_t Segment::bytes() const {
  auto size = sizeof *this + before.size() + line.text.size() + after.size();
  for (const auto& mark : line.marks) size += sizeof mark + mark.bytes.size();
  return size;
}

SegmentReader::SegmentReader(const std::string& path, TextFormat format, const MarkupKinds& markup,
                             std::vector<std::string> symbols, SourceKind source)
    : reader_(path, source),
      format_(std::move(format)),
      markup_(markup),
      symbols_(std::move(symbols)) {
  if (format_.kind == TextFormat::Kind::tsv) {
    column_ = parse_number<std::size_t>(format_.field).value_or(0);
  }
}

void SegmentReader::reject(const std::string& fault) const {
  throw InputError("{}:{}: {}", name(), line_number(), fault);
}

bool SegmentReader::next(Segment& segment) {
  while (waiting_.empty() && !ended_) {
    if (format_.kind == TextFormat::Kind::html) {
      read_document();
    } else {
      read_line();
    }
  }
  if (waiting_.empty()) return false;
  segment = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

void SegmentReader::read_line() {
  std::string line;
  ended_ = !reader_.next(line);
  if (ended_) return;
  if (format_.kind == TextFormat::Kind::text) return add("", line, "\n");
  if (format_.kind == TextFormat::Kind::tsv) {
    read_column(line);
  } else {
    read_json(line);
  }
  waiting_.back().after += reader_.line_end();
  if (line_number() == 1 && reader_.had_byte_order_mark()) {
    waiting_.front().before.insert(0, utf8_mark);
  }
}

void SegmentReader::add(std::string before, std::string_view text, std::string after) {
  auto& segment = waiting_.emplace_back();
  segment.kind = format_.kind;
  segment.number = line_number();
  segment.before = std::move(before);
  segment.after = std::move(after);
  if (format_.kind != TextFormat::Kind::text && is_blank(text)) {
    segment.before = segment.output(text);
    segment.after.clear();
  } else {
    segment.line = take_out(text, markup_, symbols_);
  }
}

void SegmentReader::find_column(const std::string& line) {
  const auto names = split(line, '\t');
  const auto found = std::ranges::find(names, format_.field);
  if (found == names.end()) {
    auto columns = line;
    std::ranges::replace(columns, '\t', ' ');
    reject(fmt::format("found no column {}, but {}; name one column, as in line 1 or by number",
                       format_.field, excerpt(columns)));
  }
  if (std::ranges::count(names, format_.field) > 1) {
    reject(fmt::format("found two columns named {}; give the number of one", format_.field));
  }
  column_ = static_cast<std::size_t>(found - names.begin()) + 1;
}

void SegmentReader::read_column(const std::string& line) {
  if (column_ == 0) {
    find_column(line);
    return add(line, "", "");
  }
  if (is_blank(line)) return add(line, "", "");
  const auto cells = split(line, '\t');
  if (cells.size() < column_) {
    reject(fmt::format("found {}, expected at least {} (--format tsv:{})",
                       counted(cells.size(), "column"), column_, format_.field));
  }
  const auto cell = cells[column_ - 1];
  const auto begin = static_cast<std::size_t>(cell.data() - line.data());
  add(line.substr(0, begin), cell, line.substr(begin + cell.size()));
}

void SegmentReader::read_json(const std::string& line) {
  if (is_blank(line)) return add(line, "", "");
  std::string fault;
  const auto json = parse_json(line, &fault);
  if (json.is_discarded()) reject(fmt::format("found no JSON: {}", fault));
  std::string_view value;
  try {
    value = JsonScanner(line).find(split(format_.field, '.'));
  } catch (const InputError& error) {
    reject(fmt::format("{}, expected a string (--format jsonl:{})", error.what(), format_.field));
  }
  if (value == "null") return add(line, "", "");
  if (!value.starts_with('"')) {
    reject(fmt::format("{}: found {}, expected a string (--format jsonl:KEY)", format_.field,
                       excerpt(value)));
  }
  const auto begin = static_cast<std::size_t>(value.data() - line.data());
  auto before = line.substr(0, begin + 1);
  const auto text = Json::parse(value).get<std::string>();
  if (is_blank(text)) return add(line, "", "");
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool has_return = lines[i].ends_with('\r');
    std::string after = has_return ? "\\r" : "";
    after += i + 1 < lines.size() ? "\\n" : line.substr(begin + value.size() - 1);
    add(std::exchange(before, ""), lines[i].substr(0, lines[i].size() - (has_return ? 1 : 0)),
        std::move(after));
  }
}

void SegmentReader::read_document() {
  ended_ = true;
  std::string document;
  for (std::string line; reader_.next(line);) {
    if (line_number() == 1 && reader_.had_byte_order_mark()) document += utf8_mark;
    document += line + reader_.line_end();
    if (document.size() > max_line_bytes) {
      reject(fmt::format("found a document of more than {} bytes; split it", max_line_bytes));
    }
  }
  for (auto& segment : html_segments(document, markup_, symbols_)) {
    waiting_.push_back(std::move(segment));
  }
}

}  // namespace regard
