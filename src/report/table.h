// Tables of text cells, formatted for a terminal, as Markdown, LaTeX or HTML. Widths are display
// columns. markdown(), latex() and html() escape cells.
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

  // Adds a row. Format numbers with report/format.h. Missing cells are empty. Throws
  // std::invalid_argument for more cells than columns.
  void add(std::vector<std::string> cells);
  // Adds a horizontal rule, e.g. before a row of totals. markdown() and html() omit it.
  void add_rule();

  // Returns the table for a terminal. Each line ends in a newline without spaces before it.
  std::string text() const;
  std::string markdown() const;
  // Returns a tabular that needs the package booktabs.
  std::string latex() const;
  // Returns a <table> for a page (report/page.h).
  std::string html() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace regard
