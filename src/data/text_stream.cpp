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
  explicit ColumnReader(const TextPath& path)
      : file_(path.file),
        column_(*path.column),
        parts_(selected_columns(column_)),
        suffix_(digest_suffix(path)),
        format_(record_format(path.file)),
        is_table_(format_ == RecordFormat::tab_separated || format_ == RecordFormat::csv),
        records_(open_records(path.file, format_)),
        missing_(parts_.begin(), parts_.end()) {
    if (is_feature_file(file_)) {
      throw InputError("{}#{}: found a file of features, which has no columns; remove `#{}`", file_,
                       column_, column_);
    }
    if (column_.empty() || (is_table_ && parse_number<std::size_t>(column_) == std::size_t{0})) {
      throw InputError("{}#{}: found `#{}`, expected a {}; name the column after #", file_, column_,
                       column_,
                       is_table_                      ? "number from 1 or a name in the first line"
                       : format_ == RecordFormat::tmx ? "language"
                                                      : "key");
    }
  }

  void hash_into(Sha256& hash) {
    hash_ = &hash;
    records_->hash_into(hash);
  }

  // Stores the next line, with its line feed; returns false at the end.
  bool next(std::string& line) {
    if (is_table_ && numbers_.empty()) find_in_table();
    if (!records_->next(fields_)) {
      if (format_ == RecordFormat::tmx) check_language();
      if (hash_ != nullptr) std::exchange(hash_, nullptr)->update(suffix_);
      return false;
    }
    line.clear();
    add_fields(line);
    line += '\n';
    return true;
  }

 private:
  void add_fields(std::string& line) {
    const auto add = [&](const std::string& text) {
      if (!line.empty() && !text.empty()) line += ' ';
      line += text;
    };
    if (fields_.size() == 1 && fields_[0].name.empty() && fields_[0].text.empty()) return;
    for (const auto number : numbers_) add(in_table(number));
    if (is_table_) return;
    if (std::ranges::count(fields_, column_, &RecordField::name) > 0) parts_ = {column_};
    for (const auto& part : parts_) {
      add(format_ == RecordFormat::tmx ? in_language(part) : at_key(part));
    }
  }

  void find_in_table() {
    const auto number_of = [](const auto& s) { return parse_number<std::size_t>(s).value_or(0); };
    std::vector<std::string> names;
    if (std::ranges::count(parts_, std::size_t{0}, number_of) > 0 && records_->next(fields_)) {
      for (const auto& field : fields_) names.push_back(field.text);
    }
    if (std::ranges::count(names, column_) > 0) parts_ = {column_};
    for (const auto& name : parts_) {
      numbers_.push_back(number_of(name));
      if (numbers_.back() > 0) continue;
      const auto count = std::ranges::count(names, name);
      if (count != 1) {
        throw InputError(
            "{}:1: found {} `{}` in {}, expected one{}; name a column of the first line, or its "
            "number",
            file_, count == 0 ? "no" : std::to_string(count), name, quoted_list(names),
            did_you_mean(name, names));
      }
      numbers_.back() =
          static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()) + 1;
    }
  }

  const std::string& in_table(std::size_t number) const {
    if (number <= fields_.size()) return fields_[number - 1].text;
    throw InputError("{}:{}: found {}, expected at least {}; {} columns with {}", file_,
                     records_->line(), counted(fields_.size(), "column"), number,
                     format_ == RecordFormat::csv ? "a .csv separates" : "separate",
                     format_ == RecordFormat::csv ? "commas" : "tabs");
  }

  const std::string& at_key(const std::string& key) const {
    const auto found = std::ranges::find(fields_, key, &RecordField::name);
    if (found == fields_.end()) {
      std::vector<std::string> names;
      for (const auto& field : fields_) names.push_back(field.name);
      throw InputError("{}:{}: found no key `{}` with a text, expected it beside {}{}", file_,
                       records_->line(), key, quoted_list(names), did_you_mean(key, names));
    }
    if (found->other.empty()) return found->text;
    throw InputError("{}:{}: found {} as `{}`, expected a string or null; name another key", file_,
                     records_->line(), found->other, key);
  }

  const std::string& in_language(const std::string& part) {
    const auto wanted = normal_language(part);
    const RecordField* found = nullptr;
    for (const auto& field : fields_) {
      const auto language = normal_language(field.name);
      if (language == wanted) {
        missing_.erase(part);
        return field.text;
      }
      if (!missing_.empty() && languages_.size() <= max_listed) languages_.insert(field.name);
      if (!language.starts_with(wanted + "-")) continue;
      if (found != nullptr && normal_language(found->name) != language) {
        throw InputError("{}:{}: found `{}` and `{}` in one unit, expected one `{}`; name one",
                         file_, records_->line(), found->name, field.name, part);
      }
      found = &field;
    }
    if (found != nullptr) missing_.erase(part);
    return found != nullptr ? found->text : empty_;
  }

  void check_language() const {
    if (missing_.empty() || languages_.empty()) return;
    const std::vector<std::string> names(languages_.begin(), languages_.end());
    throw InputError("{}:{}: found no unit in the language `{}`, expected one of {}{}", file_,
                     std::max<std::int64_t>(records_->line(), 1), *missing_.begin(),
                     quoted_list(names), did_you_mean(*missing_.begin(), names));
  }

  std::string file_;
  std::string column_;
  std::vector<std::string> parts_;  // of a selection of several columns; else column_
  std::string suffix_;
  RecordFormat format_;
  bool is_table_;
  std::unique_ptr<RecordReader> records_;
  std::vector<RecordField> fields_;
  // Of the columns of a table, from 1; empty before the first line.
  std::vector<std::size_t> numbers_;
  std::set<std::string> missing_;    // languages that no unit has had
  std::set<std::string> languages_;  // in the units before all were found
  const std::string empty_;
  Sha256* hash_ = nullptr;
};

TextStream::TextStream(const std::string& path) : name_(input_name(path)) {
  const auto text = split_text_path(path);
  if (text.column) {
    column_ = std::make_unique<ColumnReader>(text);
  } else {
    bytes_ = std::make_unique<ByteStream>(path);
  }
}

TextStream::~TextStream() = default;

void TextStream::hash_into(Sha256& hash) {
  bytes_ ? bytes_->hash_into(hash) : column_->hash_into(hash);
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
