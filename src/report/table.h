// Tables of text cells: aligned for a terminal, as Markdown, LaTeX or HTML.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regard {

enum class Align { left, right };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One row; numbers are formatted by report/format.h. Cells that are missing stay empty; more
  // cells than columns are a std::invalid_argument.
  void add(std::vector<std::string> cells);
  // A rule across, e.g. before a row of totals. Markdown, which has none, leaves it out.
  void add_rule();

  // Every line ends in a newline and none in spaces.
  std::string text() const;
  std::string markdown() const;
  // A tabular of the package booktabs.
  std::string latex() const;
  // A <table> for a page (report/page.h).
  std::string html() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace regard
