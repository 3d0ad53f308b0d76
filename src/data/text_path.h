// Names of texts: a file of lines, or columns of a file of records, FILE#COLUMN or
// FILE#COLUMN+COLUMN. docs/formats.md describes the formats for users.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct TextPath {
  std::string file;
  std::optional<std::string> column = {};  // nullopt: the lines of the file

  bool operator==(const TextPath&) const = default;
};

// Splits a path at the last `#` after the name of something that exists. A path that exists as a
// whole is a file of lines, and so is one without such a `#`.
TextPath split_text_path(const std::string& path);

// Returns the columns that a name such as "features+lemma" selects. A name with nothing beside a +
// is one column.
std::vector<std::string> selected_columns(const std::string& column);

// Returns the file of a text: that of `train.tsv#en` is train.tsv.
std::string file_of_text(const std::string& path);

enum class RecordFormat { tab_separated, csv, json_lines, tmx };

// Returns the format of a file with columns by the ending of its name, before that of a
// compression. Any other text is tab-separated. Throws InputError if the ending is that of a file
// that is no text or has no columns.
RecordFormat record_format(const std::string& file);

// True if the ending of the name of a file says that it has columns.
bool is_named_as_records(const std::string& file);

// Returns what a digest of a text covers after the bytes of its file, such as "#tsv:en", so that
// the digests of two columns differ; "" for a file of lines.
std::string digest_suffix(const TextPath& path);

}  // namespace regard
