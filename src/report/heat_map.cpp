#include "report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "report/format.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::size_t max_word_columns = 16;  // in columns, beside the rows
constexpr std::size_t max_word_height = 12;   // in characters, above the columns
constexpr std::size_t cell_columns = 2;
constexpr std::size_t min_block_cells = 4;  // per block, also in a narrow terminal
constexpr std::string_view blank = "  ";

// Colours of weights from 0 to 1: dark violet over red to pale yellow, of a terminal's 256 colours.
constexpr std::array<int, 11> colors{234, 53, 89, 125, 161, 167, 203, 209, 215, 222, 230};
constexpr std::array<std::string_view, 6> shades{blank, "· ", "░░", "▒▒", "▓▓", "██"};

// Divides [0, 1] into `count` equal intervals. Returns the index of the one with `fraction`.
std::size_t level(float fraction, std::size_t count) {
  const auto scaled = static_cast<float>(count) * std::clamp(fraction, 0.0F, 1.0F);
  return std::min(count - 1, static_cast<std::size_t>(scaled));
}

// `fraction` is the weight divided by white_weights(). Without colours, a fraction below 0.05 is
// blank.
std::string cell(float fraction, bool color) {
  if (std::isnan(fraction)) return "??";
  if (color) return fmt::format("\x1b[48;5;{}m{}", colors[level(fraction, colors.size())], blank);
  return std::string(fraction < 0.05F ? blank : shades[1 + level(fraction, shades.size() - 1)]);
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, display_width(text)), ' ');
}

std::size_t widest_in_cells(const std::vector<std::string>& words) {
  std::size_t columns = 0;
  for (const auto& word : words) columns = std::max(columns, display_width(word));
  return columns;
}

std::string strip_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::string> truncate_words(const std::vector<std::string>& words) {
  auto shorter = words;
  for (auto& word : shorter) word = truncate_to_width(word, max_word_columns);
  return shorter;
}

// Writes source words first … last − 1 vertically, one character per line, aligned at the bottom.
std::string header(const std::vector<std::string>& source, std::size_t first, std::size_t last,
                   std::size_t left) {
  std::vector<std::vector<Glyph>> columns;
  std::size_t height = 0;
  for (auto s = first; s < last; ++s) {
    columns.push_back(split_glyphs(source[s]));
    if (columns.back().size() > max_word_height) {
      columns.back().resize(max_word_height);
      columns.back().back() = {"…", 1};
    }
    height = std::max(height, columns.back().size());
  }
  std::string text;
  for (std::size_t y = 0; y < height; ++y) {
    std::string line(left, ' ');
    for (const auto& glyphs : columns) {
      const auto above = height - glyphs.size();
      line += padded(y < above ? "" : std::string(glyphs[y - above].text), cell_columns);
    }
    text += strip_trailing_blanks(line);
  }
  return text;
}

// Returns the last line, "0 ·░▒▓█ 1 (largest here: 0.9)".
std::string legend(WeightScale scale, float largest, std::size_t left, bool color) {
  std::string bar = color ? "" : "·░▒▓█";
  for (std::size_t i = 0; color && i < colors.size(); ++i) {
    bar += fmt::format("\x1b[48;5;{}m ", colors[i]);
  }
  if (color) bar += "\x1b[0m";
  return std::string(left > 2 ? left - 2 : 0, ' ') +
         fmt::format("0 {} {}\n", bar, bright_label(scale, largest));
}

}  // namespace

std::string heat_map(const AttentionPicture& picture, const Terminal& terminal) {
  const auto S = picture.source.size();
  const auto T = picture.target.size();
  if (picture.matrices.empty() || picture.matrices[0].weights.size() != S * T)
    throw std::invalid_argument("heat map: the weights do not match the words");
  const auto& weights = picture.matrices[0].weights;
  if (weights.empty()) return "";
  const auto whites = white_weights(weights, S, picture.scale);
  const auto source = truncate_words(picture.source);
  const auto target = truncate_words(picture.target);
  const auto left = widest_in_cells(target) + 2;
  const auto right = widest_in_cells(source) + 8;  // "  They  0.90"
  const auto room = terminal.columns > left + right ? terminal.columns - left - right : 0;
  const auto block = std::max(min_block_cells, room / cell_columns);
  std::string text;
  for (std::size_t first = 0; first < S; first += block) {
    const auto last = std::min(S, first + block);
    text += header(picture.source, first, last, left);
    for (std::size_t t = 0; t < T; ++t) {
      const auto* row = weights.data() + t * S;
      auto line = std::string(left - 2 - display_width(target[t]), ' ') + target[t] + "  ";
      for (auto s = first; s < last; ++s) line += cell(row[s] / whites[t], terminal.color);
      if (terminal.color) line += "\x1b[0m";
      if (last == S) {
        const auto attended = static_cast<std::size_t>(std::max_element(row, row + S) - row);
        line += fmt::format("  {}  {:.2f}", padded(source[attended], right - 8), row[attended]);
      }
      text += strip_trailing_blanks(line);
    }
    if (last < S) text += "\n";
  }
  text += legend(picture.scale, largest_weight(weights), left, terminal.color);
  return text;
}

}  // namespace regard
