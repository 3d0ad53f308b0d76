#include "data/column_choice.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "data/line_reader.h"
#include "data/record_reader.h"
#include "data/text_path.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t sampled_records = 200;
constexpr std::size_t max_columns = 200;        // that are looked at
constexpr std::size_t max_listed_columns = 30;  // in a message
constexpr std::size_t max_labels = 20;          // distinct values of a column of labels
constexpr std::size_t min_labelled = 100;       // sampled values of such a column

// Two-letter code, three-letter codes and English name of languages.
constexpr std::string_view languages =
    "af afr afrikaans|am amh amharic|ar ara arabic|az aze azerbaijani|be bel belarusian|bg bul "
    "bulgarian|bn ben bengali|br bre breton|bs bos bosnian|ca cat catalan|cs ces cze czech|cy cym "
    "wel welsh|da dan danish|de deu ger german|el ell gre greek|en eng english|eo epo "
    "esperanto|es spa spanish|et est estonian|eu eus baq basque|fa fas per persian|fi fin "
    "finnish|fr fra fre french|ga gle irish|gl glg galician|gu guj gujarati|ha hau hausa|he heb "
    "hebrew|hi hin hindi|hr hrv croatian|hu hun hungarian|hy hye arm armenian|ia ina "
    "interlingua|id ind indonesian|ig ibo igbo|is isl ice icelandic|it ita italian|ja jpn "
    "japanese|jv jav javanese|ka kat geo georgian|kk kaz kazakh|km khm khmer|kn kan kannada|ko kor "
    "korean|ku kur kurdish|la lat latin|lo lao|lt lit lithuanian|lv lav latvian|mg mlg malagasy|mi "
    "mri maori|mk mkd mac macedonian|ml mal malayalam|mn mon mongolian|mr mar marathi|ms msa may "
    "malay|mt mlt maltese|my mya bur burmese|ne nep nepali|nl nld dut dutch|no nor nob nno nb nn "
    "norwegian|pa pan punjabi|pl pol polish|ps pus pashto|pt por portuguese|ro ron rum romanian|ru "
    "rus russian|si sin sinhala|sk slk slo slovak|sl slv slovenian|so som somali|sq sqi alb "
    "albanian|sr srp serbian|sv swe swedish|sw swa swh swahili|ta tam tamil|te tel telugu|tg tgk "
    "tajik|th tha thai|tl tgl tagalog|tr tur turkish|uk ukr ukrainian|ur urd urdu|uz uzb uzbek|vi "
    "vie vietnamese|xh xho xhosa|yi yid yiddish|yo yor yoruba|zh zho chi cmn chinese|zu zul zulu";

constexpr std::array<std::string_view, 4> source_words = {"src", "source", "input", "original"};
constexpr std::array<std::string_view, 6> target_words = {"trg",    "tgt",         "target",
                                                          "output", "translation", "translated"};

template <std::size_t Count>
bool begins_with_any(const std::string& name, const std::array<std::string_view, Count>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return name.starts_with(word) &&
           (name.size() == word.size() || name[word.size()] == '_' || name[word.size()] == ' ');
  });
}

struct Column {
  std::string name;                      // after the #
  std::vector<std::string> values = {};  // of the sampled records
  std::string_view other = {};           // of the first value that is not text
  std::set<std::string> distinct = {};   // of the file, up to max_labels + 2, without blank ones

  // True while the column has few values. The name in a header is not counted yet as such.
  bool may_have_labels() const { return other.empty() && distinct.size() <= max_labels + 1; }
};

std::string last_part(const std::string& name) {
  return lower_ascii(name.substr(name.rfind('.') + 1));
}
bool is_source(const std::string& name) {
  return begins_with_any(last_part(name), source_words);
}
bool is_target(const std::string& name) {
  return begins_with_any(last_part(name), target_words);
}

// True if a name is that of a text: of a language or a side.
bool is_known(const std::string& name) {
  return !language_of_name(name).empty() || is_source(name) || is_target(name);
}

bool is_address(const std::string& text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

template <typename Predicate>
bool most(const std::vector<std::string>& values, const Predicate& predicate) {
  return 2 * std::ranges::count_if(values, predicate) > std::ssize(values);
}

std::string kind_of_column(const Column& column) {
  constexpr std::size_t enough = 3;  // values, to see that all are equal
  if (!column.other.empty()) return std::string(column.other);
  auto values = column.values;
  std::erase_if(values, is_blank);
  if (values.empty()) return "empty";
  if (are_attributions(values)) return "an attribution";
  if (most(values, is_address)) return "addresses";
  if (!most(values, has_letter)) return "numbers";
  if (values.size() >= enough && column.distinct.size() == 1) return "always the same";
  return values.size() >= min_labelled && column.distinct.size() <= max_labels ? "labels" : "text";
}

// True if line 1 of a table, which begins these columns, has their names: two known ones, or a word
// above numbers, dates or addresses and a word above each text.
bool is_header(std::span<const Column> columns) {
  const auto is_text = [](const std::string& value) {
    return has_letter(value) && !is_address(value) && !parse_number<double>(value);
  };
  int known = 0;
  bool has_heading = false, has_names = true;
  for (const auto& column : columns) {
    const auto& name = column.values.front();
    const auto values = std::span(column.values).subspan(1);
    known += is_known(name) ? 1 : 0;
    has_heading |= is_text(name) && std::ranges::none_of(values, is_text) &&
                   !std::ranges::all_of(values, is_blank);
    has_names &= has_letter(name) || std::ranges::none_of(values, has_letter);
  }
  return known >= 2 || (has_heading && has_names);
}

// Returns the columns in the order of the file. Reads on after the sampled records while a column
// may have labels.
std::vector<Column> read_columns(const std::string& file) {
  const auto format = record_format(file);
  const bool is_table = format == RecordFormat::tab_separated || format == RecordFormat::csv;
  const auto reader = open_records(file, format);
  std::vector<Column> columns;
  std::vector<RecordField> fields;
  std::size_t width = 0;  // columns in line 1
  const auto has_labels = [&] { return std::ranges::any_of(columns, &Column::may_have_labels); };
  for (std::size_t record = 0; (record < sampled_records || has_labels()) && reader->next(fields);
       ++record) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      auto& field = fields[i];
      const auto name = is_table ? std::to_string(i + 1) : field.name;
      if (name.empty()) continue;  // an empty line of JSON
      auto column = std::ranges::find(columns, name, &Column::name);
      if (column == columns.end()) {
        if (columns.size() == max_columns) break;
        column = columns.insert(column, {.name = name});
      }
      if (column->other.empty()) column->other = field.other;
      if (column->may_have_labels() && !is_blank(field.text)) column->distinct.insert(field.text);
      if (record < sampled_records) column->values.push_back(std::move(field.text));
    }
    if (record == 0) width = columns.size();
  }
  const auto named = std::span(columns).first(width);
  if (!is_table || !is_header(named)) return columns;
  for (auto& column : named) {
    column.name = column.values.front();
    column.distinct.erase(column.name);
    column.values.erase(column.values.begin());
  }
  return columns;
}

ColumnSample sample_of(const std::string& file, const Column& column) {
  const auto text = std::ranges::find_if_not(column.values, is_blank);
  return {file + "#" + column.name, kind_of_column(column),
          text == column.values.end() ? "" : excerpt(*text)};
}

}  // namespace

bool has_columns(const std::string& path) {
  record_format(path);  // throws for a file of another kind
  if (is_named_as_records(path)) return true;
  constexpr int looked_at = 10;
  LineReader reader(path);
  std::string line;
  int lines = 0;
  while (lines < looked_at && reader.next(line)) {
    if (is_blank(line)) continue;
    if (line.find('\t') == std::string::npos) return false;
    ++lines;
  }
  return lines > 0;
}

ColumnPair choose_columns(const std::string& file) {
  const auto columns = read_columns(file);
  std::vector<ColumnSample> samples;
  samples.reserve(columns.size());
  for (const auto& column : columns) samples.push_back(sample_of(file, column));
  std::vector<std::size_t> texts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (samples[i].kind == "text" || samples[i].kind == "labels") texts.push_back(i);
  }
  const auto is_text = [&](std::size_t i) { return samples[i].kind == "text"; };
  if (std::ranges::count_if(texts, is_text) >= 2) std::erase_if(texts, std::not_fn(is_text));
  auto chosen = texts;
  if (chosen.size() > 2) {
    std::erase_if(chosen, [&](std::size_t i) { return !is_known(columns[i].name); });
    if (chosen.size() > 2) {  // a name rather than Indonesian
      std::erase_if(chosen, [&](std::size_t i) { return last_part(columns[i].name) == "id"; });
    }
  }
  if (chosen.size() != 2) {
    std::string list;
    for (const auto& sample :
         std::span(samples).first(std::min(samples.size(), max_listed_columns))) {
      list += fmt::format("\n  {}: {}, `{}`", sample.path, sample.kind, sample.example);
    }
    if (samples.size() > max_listed_columns) list += "\n  …";
    const auto advice =
        texts.size() >= 2
            ? fmt::format("name them: regard config init '{0}' '{1}' ('{0}+{2}' reads two as one)",
                          samples[texts[0]].path, samples[texts[1]].path, columns[texts[2]].name)
        : record_format(file) == RecordFormat::csv ? "separate columns with commas"
                                                   : "give a file that has both sides";
    throw InputError("{}: found {} of text, expected two; {}{}", file,
                     counted(texts.size(), "column"), advice, list);
  }
  if (is_target(columns[chosen[0]].name) || is_source(columns[chosen[1]].name)) {
    std::swap(chosen[0], chosen[1]);
  }
  ColumnPair pair{samples[chosen[0]], samples[chosen[1]], {}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i != chosen[0] && i != chosen[1]) pair.left_out.push_back(samples[i]);
  }
  return pair;
}

std::string language_of_name(const std::string& name) {
  auto last = name.substr(name.rfind('.') + 1);
  const auto word = lower_ascii(last);
  const auto base = word.substr(0, word.find_first_of("-_"));
  constexpr std::size_t code_length = 2;
  constexpr std::size_t max_code_length = 3;
  constexpr std::size_t max_region = 5;  // with its hyphen
  for (const auto language : split(languages, '|')) {
    const auto names = split(language, ' ');
    if (std::ranges::count(names, word) > 0) {
      return word.size() <= max_code_length ? last : std::string(names.front());
    }
    const bool has_region = base.size() <= max_code_length && word.size() > base.size() &&
                            word.size() - base.size() <= max_region;
    if (has_region && base.size() >= code_length && std::ranges::count(names, base) > 0) {
      return last;
    }
  }
  return "";
}

bool are_attributions(const std::vector<std::string>& lines) {
  return most(lines, [](const std::string& line) {
    return line.find("CC-BY") != std::string::npos || line.find("CC BY") != std::string::npos ||
           line.find("Attribution:") != std::string::npos;
  });
}

}  // namespace regard
