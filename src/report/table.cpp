#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "report/format.h"
#include "report/xml.h"

namespace regard {
namespace {

std::string pad(const std::string& cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return align == Align::left ? cell + space : space + cell;
}

std::string escape_markdown(const std::string& cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string escape_latex(const std::string& cell) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> commands{
      {{"&", "\\&"},
       {"%", "\\%"},
       {"$", "\\$"},
       {"#", "\\#"},
       {"_", "\\_"},
       {"{", "\\{"},
       {"}", "\\}"},
       {"~", "\\textasciitilde{}"},
       {"^", "\\textasciicircum{}"},
       {"\\", "\\textbackslash{}"},
       {"\n", " "},
       {"±", "$\\pm$"},
       {"μ", "$\\mu$"},
       {"–", "--"}}};
  std::string escaped;
  for (std::string_view rest = cell; !rest.empty();) {
    const auto command = std::ranges::find_if(
        commands, [rest](const auto& entry) { return rest.starts_with(entry.first); });
    const auto taken = command == commands.end() ? 1 : command->first.size();
    escaped += command == commands.end() ? rest.substr(0, 1) : command->second;
    rest.remove_prefix(taken);
  }
  return escaped;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  if (cells.size() > columns_.size())
    throw std::invalid_argument(
        fmt::format("a row of {} cells for {} columns", cells.size(), columns_.size()));
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::add_rule() {
  rows_.emplace_back();
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(display_width(columns_[i].title));
    for (const auto& row : rows_)
      if (!row.empty()) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

std::string Table::text() const {
  const std::vector<std::size_t> width = widths();
  const auto line = [&](auto cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      text += fmt::format("{}{}", i > 0 ? "  " : "", pad(cell(i), width[i], columns_[i].align));
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  const std::string rule = line([&](std::size_t i) { return repeat("─", width[i]); });
  std::string text = line([&](std::size_t i) { return columns_[i].title; }) + rule;
  for (const auto& row : rows_)
    text += row.empty() ? rule : line([&](std::size_t i) { return row[i]; });
  return text;
}

std::string Table::markdown() const {
  std::string text = "|";
  for (const Column& column : columns_) text += fmt::format(" {} |", escape_markdown(column.title));
  text += "\n|";
  for (const Column& column : columns_) text += column.align == Align::left ? " --- |" : " ---: |";
  text += "\n";
  for (const auto& row : rows_) {
    if (row.empty()) continue;
    text += "|";
    for (const std::string& cell : row) text += fmt::format(" {} |", escape_markdown(cell));
    text += "\n";
  }
  return text;
}

std::string Table::latex() const {
  std::string alignment;
  for (const Column& column : columns_) alignment += column.align == Align::left ? 'l' : 'r';
  const auto line = [&](auto cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += (i > 0 ? " & " : "") + escape_latex(cell(i));
    }
    return text + " \\\\\n";
  };
  std::string text = "\\begin{tabular}{" + alignment + "}\n\\toprule\n" +
                     line([&](std::size_t i) { return columns_[i].title; }) + "\\midrule\n";
  for (const auto& row : rows_) {
    text += row.empty() ? "\\midrule\n" : line([&](std::size_t i) { return row[i]; });
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string Table::html() const {
  const auto line = [&](const char* tag, auto cell) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const char* const side = columns_[i].align == Align::left ? "" : " class=\"r\"";
      text += fmt::format("<{0}{1}>{2}</{0}>", tag, side, escape_xml(cell(i)));
    }
    return text + "</tr>\n";
  };
  auto text = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>" +
              line("th", [&](std::size_t i) { return columns_[i].title; }) + "</thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    if (!row.empty()) text += line("td", [&](std::size_t i) { return row[i]; });
  }
  return text + "</tbody>\n</table></div>\n";
}

}  // namespace regard
