// Finds the two texts of a file of records: for `regard config init FILE`.
#pragma once

#include <string>
#include <vector>

namespace regard {

// A column as a user sees it.
struct ColumnSample {
  std::string path;     // FILE#COLUMN
  std::string kind;     // "text", or what it is instead: "an attribution", "labels", …
  std::string example;  // the first text in it, shortened
};

struct ColumnPair {
  ColumnSample src;
  ColumnSample trg;
  std::vector<ColumnSample> left_out;
};

// True if a file has columns: by its name, or because each of its first lines has a tab. Throws
// InputError if it cannot be read or is no text.
bool has_columns(const std::string& path);

// Chooses source and target from the first records: the two columns of text, or of more, the two
// whose names are those of a language or a side (`en`, `translation.fr`, `German`, `source`).
// Labels, at most 20 distinct values in the whole file, are no text if two other columns are. The
// first line of a table is a header if two of its names are such, or if the other lines of a column
// are numbers or addresses. The source is first in the file, unless the names say otherwise. Throws
// InputError, with the columns and an example of each, if there are not two such columns.
ColumnPair choose_columns(const std::string& file);

// Returns a code of a language for its code or English name, in any case: "fr" for French,
// "pt-BR" for pt-BR; "" for other words.
std::string language_of_name(const std::string& name);

// True if most of these lines name an author or a licence, as the third column of Tatoeba's files.
bool are_attributions(const std::vector<std::string>& lines);

}  // namespace regard
