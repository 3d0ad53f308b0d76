#include "data/record_reader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

// Formats whose records are made of lines.
class LinesOfRecords : public RecordReader {
 public:
  explicit LinesOfRecords(const std::string& file) : lines_(file) {}

  std::int64_t line() const override { return line_; }
  void hash_into(Sha256& hash) override { lines_.hash_into(hash); }

 protected:
  // Reads the line at which a record begins.
  bool begin_record(std::string& text) {
    const bool is_there = lines_.next(text);
    line_ = lines_.line_number();
    return is_there;
  }
  bool next_line(std::string& text) { return lines_.next(text); }
  const std::string& file() const { return lines_.name(); }

 private:
  LineReader lines_;
  std::int64_t line_ = 0;
};

class TabReader : public LinesOfRecords {
 public:
  using LinesOfRecords::LinesOfRecords;

  bool next(std::vector<RecordField>& fields) override {
    if (!begin_record(text_)) return false;
    const auto parts = split(text_, '\t');
    fields.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) fields[i].text = parts[i];
    return true;
  }

 private:
  std::string text_;
};

class CsvReader : public LinesOfRecords {
 public:
  using LinesOfRecords::LinesOfRecords;

  bool next(std::vector<RecordField>& fields) override {
    if (!begin_record(text_)) return false;
    at_ = 0;
    bytes_ = 0;
    fields.clear();
    do {
      auto& field = fields.emplace_back().text;
      text_.compare(at_, 1, "\"") == 0 ? read_quoted(field) : read_plain(field);
    } while (at_++ < text_.size());  // a comma: one more field
    return true;
  }

 private:
  void read_plain(std::string& field) {
    const auto end = std::min(text_.find(',', at_), text_.size());
    field = text_.substr(at_, end - at_);
    at_ = end;
  }

  // Reads a field in quotes, which may go on in the next lines.
  void read_quoted(std::string& field) {
    ++at_;
    for (;;) {
      const auto quote = text_.find('"', at_);
      if (quote == std::string::npos) {
        field.append(text_, at_);
        field += ' ';
        continue_on_next_line();
        continue;
      }
      field.append(text_, at_, quote - at_);
      at_ = quote + 1;
      if (text_.compare(at_, 1, "\"") != 0) break;
      field += '"';
      ++at_;
    }
    if (at_ == text_.size() || text_[at_] == ',') return;
    throw InputError(
        "{}:{}: found `{}` after the closing quote of a field, expected a comma; write a quote "
        "inside a field as two",
        file(), line(), excerpt(text_.substr(at_)));
  }

  void continue_on_next_line() {
    bytes_ += text_.size();
    at_ = 0;
    if (bytes_ <= max_line_bytes && next_line(text_)) return;
    throw InputError(
        "{}:{}: found a quote that opens a field and {}, expected another that closes it; write a "
        "quote inside a field as two, in a field in quotes",
        file(), line(),
        bytes_ > max_line_bytes ? fmt::format("more than {} bytes behind it", max_line_bytes)
                                : "the end of the file");
  }

  std::string text_;  // the line in work
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;  // of the lines of the record before it
};

std::string_view kind_of_value(const Json& value) {
  return value.is_array() ? "an array" : value.is_boolean() ? "a Boolean" : "a number";
}

// Appends the values of an object, those of objects inside it last, with dots in their names.
void flatten(const Json& object, const std::string& prefix, std::vector<RecordField>& fields) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) continue;
    auto& field = fields.emplace_back();
    field.name = prefix + key;
    if (value.is_string()) {
      append_text(field.text, value.get_ref<const std::string&>());
    } else if (!value.is_null()) {
      field.other = kind_of_value(value);
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) flatten(value, prefix + key + ".", fields);
  }
}

class JsonLinesReader : public LinesOfRecords {
 public:
  using LinesOfRecords::LinesOfRecords;

  bool next(std::vector<RecordField>& fields) override {
    if (!begin_record(text_)) return false;
    fields.clear();
    if (is_blank(text_)) {
      fields.emplace_back();
      return true;
    }
    std::string fault;
    const auto record = parse_json(text_, &fault);
    if (!record.is_object()) {
      throw InputError(
          "{}:{}: found {}, expected a JSON object on each line; convert an array with `jq -c "
          "'.[]'`, and an object of several lines with `jq -c .`",
          file(), line(),
          record.is_discarded() ? "`" + excerpt(text_) + "` (" + fault + ")"
          : record.is_string()  ? "a string"
                                : std::string(kind_of_value(record)));
    }
    flatten(record, "", fields);
    return true;
  }

 private:
  std::string text_;
};

}  // namespace

std::unique_ptr<RecordReader> open_records(const std::string& file, RecordFormat format) {
  switch (format) {
    case RecordFormat::tab_separated:
      return std::make_unique<TabReader>(file);
    case RecordFormat::csv:
      return std::make_unique<CsvReader>(file);
    case RecordFormat::json_lines:
      return std::make_unique<JsonLinesReader>(file);
    case RecordFormat::tmx:
      break;
  }
  return open_tmx(file);
}

void append_text(std::string& field, std::string_view text) {
  for (auto feed = text.find('\n'); feed != std::string_view::npos; feed = text.find('\n')) {
    const bool has_return = feed > 0 && text[feed - 1] == '\r';
    field.append(text.substr(0, feed - (has_return ? 1 : 0))).push_back(' ');
    text.remove_prefix(feed + 1);
  }
  field.append(text);
}

}  // namespace regard
