#include "report/attention_viewer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/json.h"
#include "report/format.h"
#include "report/page.h"
#include "report/xml.h"

namespace regard {
namespace {

constexpr std::size_t max_viewer_word_width = 18;
constexpr double viewer_font_size = 14.0;
constexpr double viewer_row_height = 24.0;
constexpr double column_gap = 110.0;
constexpr float min_drawn_weight = 0.05F;  // smaller weights are not drawn

double widest_word(const std::vector<std::string>& words) {
  double width = 0.0;
  for (const auto& word : words)
    width = std::max(width, estimate_text_width(truncate_to_width(word, max_viewer_word_width)));
  return width * viewer_font_size;
}

void check_lines(const AlignmentLines& lines) {
  const auto S = lines.source.size();
  const auto T = lines.target.size();
  bool fits = lines.weights.empty() || lines.weights.size() == T;
  for (const auto& row : lines.weights) fits = fits && row.size() == S;
  for (const auto& [s, t] : lines.links) fits = fits && s < S && t < T;
  if (!fits)
    throw std::invalid_argument("alignment lines: weights or links do not match the words");
}

// Positions of the words in pixels. Both sides have the same height, so the words of the shorter
// side are farther apart.
struct Columns {
  double left;   // x at the end of the source words
  double right;  // x at the start of the target words
  double height;

  // Returns the middle of word i of `count`.
  double y(std::size_t i, std::size_t count) const {
    return height * (static_cast<double>(i) + 0.5) /
           static_cast<double>(std::max<std::size_t>(1, count));
  }
};

std::string line(const Columns& columns, const AlignmentLines& lines, std::size_t s, std::size_t t,
                 const std::string& attributes, const std::string& title) {
  const auto x1 = columns.left + 7.0;
  const auto x2 = columns.right - 7.0;
  const auto middle = format_coordinate((x1 + x2) / 2.0);
  const auto y1 = format_coordinate(columns.y(s, lines.source.size()));
  const auto y2 = format_coordinate(columns.y(t, lines.target.size()));
  return fmt::format(
      "<path d=\"M{0} {1}C{2} {1} {2} {3} {4} {3}\" {5}><title>{6} → {7}{8}</title></path>\n",
      format_coordinate(x1), y1, middle, y2, format_coordinate(x2), attributes,
      escape_xml(lines.source[s]), escape_xml(lines.target[t]), title);
}

std::string draw_column(const Columns& columns, const std::vector<std::string>& words,
                        const char* css_class, const char* anchor, double x) {
  std::string svg;
  for (std::size_t i = 0; i < words.size(); ++i) {
    svg += fmt::format(
        "<text class=\"{}\" x=\"{}\" y=\"{}\" dy=\"0.35em\" text-anchor=\"{}\">{}</text>\n",
        css_class, format_coordinate(x), format_coordinate(columns.y(i, words.size())), anchor,
        escape_xml(truncate_to_width(words[i], max_viewer_word_width)));
  }
  return svg;
}

}  // namespace

std::string alignment_lines(const AlignmentLines& lines) {
  check_lines(lines);
  const auto rows = std::max({lines.source.size(), lines.target.size(), std::size_t{1}});
  constexpr double edge = 3.0;  // some glyphs exceed their advance width
  Columns columns{widest_word(lines.source) + edge, 0.0,
                  static_cast<double>(rows) * viewer_row_height};
  columns.right = columns.left + column_gap;
  auto svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lines\" role=\"img\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-size=\"{2}\" fill=\"currentColor\">\n",
      format_coordinate(columns.right + widest_word(lines.target) + edge),
      format_coordinate(columns.height), format_coordinate(viewer_font_size));
  for (std::size_t t = 0; t < lines.weights.size(); ++t) {
    for (std::size_t s = 0; s < lines.source.size(); ++s) {
      const auto weight = lines.weights[t][s];
      if (!(weight >= min_drawn_weight)) continue;
      svg += line(columns, lines, s, t,
                  fmt::format("class=\"soft\" stroke-width=\"5\" stroke-opacity=\"{:.2f}\"",
                              std::min(weight, 1.0F)),
                  fmt::format("  {:.3f}", weight));
    }
  }
  for (const auto& [s, t] : lines.links)
    svg += line(columns, lines, s, t, "class=\"link\" stroke-width=\"1.6\"", "");
  return svg + draw_column(columns, lines.source, "s", "end", columns.left) +
         draw_column(columns, lines.target, "t", "start", columns.right) + "</svg>\n";
}

namespace {

std::string maps_json(const AttentionPicture& picture) {
  Json maps = Json::array();
  for (const auto& matrix : picture.matrices) {
    maps.push_back({{"weights", encode_weights(matrix.weights)}});
    if (!matrix.chosen.empty()) maps.back()["chosen"] = matrix.chosen;
  }
  return to_text(maps);
}

// Returns `content` between the buttons ‹ and ›, which select the previous and the next `what`:
// word or map.
std::string stepper(const std::string& what, const std::string& content, bool visible) {
  const auto button = [&](int by, const char* sign, const char* direction) {
    return fmt::format(
        "<button type=\"button\" data-go=\"{0}\" data-by=\"{1}\" aria-label=\"{2} {0}\">{3}"
        "</button>",
        what, by, direction, sign);
  };
  return fmt::format("<span class=\"stepper\"{}>{}{}{}</span>\n", visible ? "" : " hidden=\"\"",
                     button(-1, "‹", "previous"), content, button(1, "›", "next"));
}

std::string controls(const AttentionPicture& picture) {
  std::string choices;
  for (const auto& matrix : picture.matrices) {
    choices += fmt::format("<option>{}</option>", escape_xml(matrix.caption));
  }
  return "<div class=\"controls\">\n" +
         stepper("word", "<output></output>", picture.target.size() > 1) +
         stepper("map", fmt::format("<select aria-label=\"map\">{}</select>", choices),
                 picture.matrices.size() > 1) +
         "</div>\n";
}

std::string word_strip(const char* css_class, const std::vector<std::string>& words,
                       const std::vector<std::string>& notes) {
  std::string html = "<div class=\"strip\">";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto note = notes.empty() ? "" : fmt::format(" title=\"{}\"", escape_xml(notes.at(i)));
    html += fmt::format("<span class=\"{}\"{}>{}</span>\n", css_class, note, escape_xml(words[i]));
  }
  return html + "</div>\n";
}

}  // namespace

std::string attention_viewer(const AttentionPicture& picture,
                             const std::vector<std::string>& notes) {
  if (picture.matrices.empty()) return "";
  const auto& first = picture.matrices[0].caption;
  // With several maps, the selection box shows their captions.
  const bool needs_caption = picture.matrices.size() == 1 && !first.empty();
  return fmt::format("<div class=\"viewer\" data-maps=\"{}\" tabindex=\"0\">\n{}{}{}{}{}</div>\n",
                     escape_xml(maps_json(picture)), needs_caption ? page_note(first) : "",
                     controls(picture), word_strip("s", picture.source, {}),
                     word_strip("t", picture.target, notes), alignment_matrix(picture, 0));
}

std::string attention_viewers(const std::vector<AttentionView>& views) {
  if (views.empty()) return "";
  if (views.size() == 1) return attention_viewer(views[0].picture, views[0].notes);
  std::string choices;
  std::string body;
  for (const auto& view : views) {
    const auto name = escape_xml(view.name);
    choices += fmt::format("<option>{}</option>", name);
    body += fmt::format("<div class=\"kind\">\n<h3>{}</h3>\n{}</div>\n", name,
                        attention_viewer(view.picture, view.notes));
  }
  return fmt::format(
      "<div class=\"kinds\">\n<label class=\"kind-choice\" hidden=\"\">attention "
      "<select>{}</select></label>\n{}</div>\n",
      choices, body);
}

}  // namespace regard
