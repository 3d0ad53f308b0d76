#include "data/text_stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "data/feature_file.h"
#include "data/record_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t max_listed = 30;  // names in a message

// Returns the names as `a`, `b`.
std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < max_listed; ++i) {
    list += fmt::format("{}`{}`", i == 0 ? "" : ", ", excerpt(names[i]));
  }
  return names.size() > max_listed ? list + ", …" : names.empty() ? "none" : list;
}

// Returns a language in lower case, with "-" for "_".
std::string normal_language(std::string_view language) {
  auto normal = lower_ascii(language);
  std::ranges::replace(normal, '_', '-');
  return normal;
}

}  // namespace

// Reads one column of a file of records.
class ColumnReader {
 public:
  ColumnReader(const TextPath& path, bool may_grow)
      : file_(path.file),
        column_(*path.column),
        suffix_(digest_suffix(path)),
        format_(record_format(path.file)),
        records_(open_records(path.file, format_, may_grow)) {
    if (is_feature_file(file_)) {
      throw InputError("{}#{}: found a file of features, which has no columns; remove `#{}`", file_,
                       column_, column_);
    }
    const bool is_table = format_ == RecordFormat::tab_separated || format_ == RecordFormat::csv;
    const auto number = is_table ? parse_number<std::size_t>(column_) : std::nullopt;
    if (column_.empty() || number == std::size_t{0}) {
      throw InputError("{}#{}: found `#{}`, expected a {}; name the column after #", file_, column_,
                       column_,
                       is_table                       ? "number from 1 or a name in the first line"
                       : format_ == RecordFormat::tmx ? "language"
                                                      : "key");
    }
    if (number) index_ = *number - 1;
    has_header_ = is_table && !number;
  }

  void hash_into(Sha256& hash) {
    hash_ = &hash;
    records_->hash_into(hash);
  }
  bool changed() const { return records_->changed(); }

  // Stores the next line, with its line feed; returns false at the end.
  bool next(std::string& line) {
    if (std::exchange(has_header_, false)) find_in_header();
    if (!records_->next(fields_)) {
      if (format_ == RecordFormat::tmx) check_language();
      if (hash_ != nullptr) std::exchange(hash_, nullptr)->update(suffix_);
      return false;
    }
    line = field();
    line += '\n';
    return true;
  }

 private:
  const std::string& field() {
    if (format_ == RecordFormat::tmx) return in_language();
    if (fields_.size() == 1 && fields_[0].name.empty() && fields_[0].text.empty()) return empty_;
    return format_ == RecordFormat::json_lines ? at_key() : in_table();
  }

  void find_in_header() {
    std::vector<std::string> names;
    if (records_->next(fields_)) {
      for (const auto& field : fields_) names.push_back(field.text);
    }
    const auto count = std::ranges::count(names, column_);
    if (count != 1) {
      throw InputError(
          "{}:1: found {} `{}` in {}, expected one{}; name a column of the first line, or its "
          "number",
          file_, count == 0 ? "no" : std::to_string(count), column_, quoted_list(names),
          did_you_mean(column_, names));
    }
    index_ = static_cast<std::size_t>(std::ranges::find(names, column_) - names.begin());
  }

  const std::string& in_table() const {
    if (index_ < fields_.size()) return fields_[index_].text;
    throw InputError("{}:{}: found {}, expected at least {}; {} columns with {}", file_,
                     records_->line(), counted(fields_.size(), "column"), index_ + 1,
                     format_ == RecordFormat::csv ? "a .csv separates" : "separate",
                     format_ == RecordFormat::csv ? "commas" : "tabs");
  }

  const std::string& at_key() const {
    const auto found = std::ranges::find(fields_, column_, &RecordField::name);
    if (found == fields_.end()) {
      std::vector<std::string> names;
      for (const auto& field : fields_) names.push_back(field.name);
      throw InputError("{}:{}: found no key `{}` with a text, expected it beside {}{}", file_,
                       records_->line(), column_, quoted_list(names), did_you_mean(column_, names));
    }
    if (found->other.empty()) return found->text;
    throw InputError("{}:{}: found {} as `{}`, expected a string or null; name another key", file_,
                     records_->line(), found->other, column_);
  }

  const std::string& in_language() {
    const auto wanted = normal_language(column_);
    const RecordField* found = nullptr;
    for (const auto& field : fields_) {
      const auto language = normal_language(field.name);
      if (language == wanted) {
        is_found_ = true;
        return field.text;
      }
      if (!is_found_ && languages_.size() <= max_listed) languages_.insert(field.name);
      if (!language.starts_with(wanted + "-")) continue;
      if (found != nullptr && normal_language(found->name) != language) {
        throw InputError("{}:{}: found `{}` and `{}` in one unit, expected one `{}`; name one",
                         file_, records_->line(), found->name, field.name, column_);
      }
      found = &field;
    }
    is_found_ = is_found_ || found != nullptr;
    return found != nullptr ? found->text : empty_;
  }

  void check_language() const {
    if (is_found_ || languages_.empty()) return;
    const std::vector<std::string> names(languages_.begin(), languages_.end());
    throw InputError("{}:{}: found no unit in the language `{}`, expected one of {}{}", file_,
                     std::max<std::int64_t>(records_->line(), 1), column_, quoted_list(names),
                     did_you_mean(column_, names));
  }

  std::string file_;
  std::string column_;
  std::string suffix_;
  RecordFormat format_;
  std::unique_ptr<RecordReader> records_;
  std::vector<RecordField> fields_;
  std::size_t index_ = 0;  // in a table
  bool has_header_ = false;
  bool is_found_ = false;            // a unit has the language
  std::set<std::string> languages_;  // before the first such unit
  const std::string empty_;
  Sha256* hash_ = nullptr;
};

TextStream::TextStream(const std::string& path, bool may_grow) : name_(input_name(path)) {
  const auto text = split_text_path(path);
  if (text.column) {
    column_ = std::make_unique<ColumnReader>(text, may_grow);
  } else {
    bytes_ = std::make_unique<ByteStream>(path, may_grow);
  }
}

TextStream::TextStream(int descriptor, std::string name)
    : name_(name), bytes_(std::make_unique<ByteStream>(descriptor, std::move(name))) {}

TextStream::~TextStream() = default;

void TextStream::hash_into(Sha256& hash) {
  bytes_ ? bytes_->hash_into(hash) : column_->hash_into(hash);
}

bool TextStream::changed() const {
  return bytes_ ? bytes_->changed() : column_->changed();
}

std::size_t TextStream::read_column(char* to, std::size_t size) {
  if (begin_ == pending_.size()) {
    begin_ = 0;
    pending_.clear();
    if (!column_->next(pending_)) return 0;
  }
  const auto count = std::min(size, pending_.size() - begin_);
  std::memcpy(to, pending_.data() + begin_, count);
  begin_ += count;
  return count;
}

}  // namespace regard
