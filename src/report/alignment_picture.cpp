#include "report/alignment_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "report/format.h"
#include "report/image_attention.h"
#include "report/xml.h"

namespace regard {
namespace {

constexpr float code_of_one = 46655.0F;  // zzz in base 36
constexpr const char* font = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
constexpr std::array<std::string_view, 3> scale_titles{
    "weights from 0 to 1", "from 0 to the map's largest", "from 0 to each row's largest"};

}  // namespace

float largest_weight(const std::vector<float>& weights) {
  float largest = 0.0F;
  for (const float weight : weights) {
    if (std::isfinite(weight)) largest = std::max(largest, weight);
  }
  return largest;
}

std::vector<float> white_weights(const std::vector<float>& weights, std::size_t columns,
                                 WeightScale scale) {
  const std::size_t rows = columns == 0 ? 0 : weights.size() / columns;
  if (scale == WeightScale::absolute) return std::vector<float>(rows, 1.0F);
  const auto positive = [](float largest) { return largest > 0.0F ? largest : 1.0F; };
  if (scale == WeightScale::picture) {
    return std::vector<float>(rows, positive(largest_weight(weights)));
  }
  std::vector<float> whites;
  for (std::size_t t = 0; t < rows; ++t) {
    const auto* row = weights.data() + t * columns;
    whites.push_back(positive(largest_weight({row, row + columns})));
  }
  return whites;
}

std::string bright_label(WeightScale scale, float largest) {
  if (scale == WeightScale::row) return "the row's largest";
  const auto value = format_short(static_cast<double>(largest));
  if (scale == WeightScale::absolute) return fmt::format("1 (largest here: {})", value);
  return largest > 0.0F ? value + " (the largest)" : "1 (no weight is above 0)";
}

std::string legend_label(const AttentionPicture& picture, const AttentionMatrix& matrix) {
  return bright_label(picture.scale, largest_weight(matrix.weights));
}

std::string open_svg(double width, double height, const std::string& attributes) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"{2}\" fill=\"currentColor\"{3}>\n",
      format_coordinate(std::ceil(width)), format_coordinate(std::ceil(height)), font, attributes);
}

std::string encode_weights(const std::vector<float>& weights) {
  static constexpr const char* digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string codes;
  for (const float weight : weights) {
    if (std::isnan(weight)) {
      codes += "---";
      continue;
    }
    const auto code = std::lround(code_of_one * std::clamp(weight, 0.0F, 1.0F));
    codes += {digits[code / 1296], digits[code / 36 % 36], digits[code % 36]};
  }
  return codes;
}

std::string scale_switch(WeightScale scale) {
  std::string choices;
  for (std::size_t i = 0; i < scale_titles.size(); ++i) {
    choices +=
        fmt::format("<option value=\"{}\"{}>{}</option>", enum_names(scale)[i],
                    i == static_cast<std::size_t>(scale) ? " selected=\"\"" : "", scale_titles[i]);
  }
  return fmt::format("<label class=\"scale\" hidden=\"\">brightness <select>{}</select></label>\n",
                     choices);
}

namespace {

constexpr std::size_t max_word_width = 24;  // the tooltip has the whole word
constexpr double tilt = 60.0;               // angle of the source words, in degrees
constexpr double sine = 0.866;              // of the tilt
constexpr double cosine = 0.5;
constexpr double axis_font = 10.0;
constexpr double margin = 12.0;
constexpr double text_font = 13.0;  // of the lines below the caption
constexpr double text_height = 20.0;
constexpr std::size_t max_text_width = 80;  // in columns of a terminal
constexpr double legend_font = 11.0;
constexpr double bar_start = 12.0;  // after the "0"
constexpr double bar_step = 8.0;
constexpr int bar_steps = 11;

// Sizes in pixels, the same for all matrices of one sentence.
struct Layout {
  double cell = 0.0;    // height of a cell
  double column = 0.0;  // width of a cell, the height unless the source is sound
  double font_size = 0.0;
  double caption = 0.0;  // height of the line above each matrix, 0 without one
  double top = 0.0;      // room for the source words
  double left = 0.0;     // room for the target words
  double right = 0.0;    // room for tilted source words at the right
  double width = 0.0;    // of one matrix with its words
  double height = 0.0;
};

std::string short_word(const std::string& word) {
  return truncate_to_width(word, max_word_width);
}

std::string columns_name(const AttentionPicture& picture) {
  return picture.source_axis.empty() ? "" : picture.source_axis + " →";
}

std::string rows_name(const AttentionPicture& picture) {
  return picture.target_axis.empty() ? "" : picture.target_axis + " ↓";
}

// Returns the space between the names of the axes and the cells; the first tick of a time axis
// takes a part of it.
double axis_gap(const AttentionPicture& picture) {
  return picture.column_seconds > 0 ? 24.0 : 7.0;
}

// Returns the width of the widest word in pixels, plus one pixel because glyphs can exceed their
// advance width.
double widest(const std::vector<std::string>& words, double font_size) {
  double width = 0.0;
  for (const std::string& word : words)
    width = std::max(width, estimate_text_width(short_word(word)));
  return width * font_size + 1.0;
}

constexpr double sound_width = 640.0;  // of a long sound, in pixels
constexpr double min_tick_width = 40.0;

// Returns the time between two ticks of the axis of a sound: a round number of seconds.
double tick_seconds(const AttentionPicture& picture, const Layout& layout) {
  const double seconds_per_pixel = picture.column_seconds / layout.column;
  double tick = 0.01;
  for (int i = 0; tick < min_tick_width * seconds_per_pixel; ++i) tick *= i % 3 == 1 ? 2.5 : 2.0;
  return tick;
}

// Cells are 28 pixels wide for up to 16 words, and shrink to 14 pixels for longer sentences.
Layout compute_layout(const AttentionPicture& picture) {
  const std::size_t columns = picture.source.size();
  const std::size_t rows = picture.target.size();
  Layout layout;
  layout.cell = std::clamp(448.0 / static_cast<double>(std::max({columns, rows, std::size_t{1}})),
                           14.0, 28.0);
  layout.column = layout.cell;
  const bool is_sound = picture.column_seconds > 0;
  if (is_sound) {
    layout.cell = 14.0;
    layout.column =
        std::clamp(sound_width / static_cast<double>(std::max<std::size_t>(columns, 1)), 2.0, 14.0);
  }
  layout.font_size = std::clamp(layout.cell * 0.54, 10.0, 14.0);
  for (const AttentionMatrix& matrix : picture.matrices)
    if (!matrix.caption.empty()) layout.caption = 24.0;
  layout.top = widest(picture.source, layout.font_size) * sine + layout.font_size + 4.0;
  if (is_sound) layout.top = layout.font_size + 14.0;
  layout.top = std::max(layout.top, 3.0 * axis_font);
  layout.left = widest(picture.target, layout.font_size) + 10.0;
  for (const auto& name : {columns_name(picture), rows_name(picture)}) {
    if (name.empty()) continue;
    layout.left = std::max(layout.left, estimate_text_width(name) * axis_font + axis_gap(picture));
  }
  for (std::size_t s = 0; s < columns && !is_sound; ++s) {
    const double extent =
        estimate_text_width(short_word(picture.source[s])) * layout.font_size * cosine +
        layout.font_size;
    const double space_right = static_cast<double>(columns - s) * layout.cell - layout.cell / 2.0;
    layout.right = std::max(layout.right, extent - space_right);
  }
  if (is_sound) layout.right = 30.0;  // half of a tick's label
  double inner = static_cast<double>(columns) * layout.column + layout.right;
  for (const AttentionMatrix& matrix : picture.matrices)
    inner = std::max({inner, estimate_text_width(matrix.caption, FontWeight::bold) * 13.0,
                      legend_width(legend_label(picture, matrix))});
  layout.width = layout.left + inner + 1.0;
  layout.height =
      layout.caption + layout.top + static_cast<double>(rows) * layout.cell + legend_height;
  return layout;
}

// Draws the names of columns and rows in the corner between them.
std::string draw_axis_names(const AttentionPicture& picture, const Layout& layout) {
  const auto x = format_coordinate(layout.left - axis_gap(picture));
  const double bottom = layout.caption + layout.top;
  const auto draw = [&](const std::string& name, double y) {
    if (name.empty()) return std::string();
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x,
                       format_coordinate(y), escape_xml(name));
  };
  return fmt::format("<g class=\"axis-names\" font-size=\"{}\" fill-opacity=\"0.7\">\n{}{}</g>\n",
                     format_coordinate(axis_font),
                     draw(columns_name(picture), bottom - 4.0 - axis_font - 3.0),
                     draw(rows_name(picture), bottom - 4.0));
}

// Returns the factors from cells to pixels: "28", or "6 14" if width and height differ.
std::string scale_text(const Layout& layout) {
  const auto height = format_coordinate(layout.cell);
  return layout.column == layout.cell ? height : format_coordinate(layout.column) + " " + height;
}

std::string gray(float weight, float white) {
  if (std::isnan(weight)) return "#c00";
  const auto level = static_cast<int>(std::lround(255.0F * std::clamp(weight / white, 0.0F, 1.0F)));
  return fmt::format("#{0:02x}{0:02x}{0:02x}", level);
}

std::string word_title(const std::string& word) {
  return short_word(word) == word ? "" : fmt::format("<title>{}</title>", escape_xml(word));
}

// Draws the ticks of a time axis.
std::string draw_times(const AttentionPicture& picture, const Layout& layout) {
  std::string svg;
  const double bottom = layout.caption + layout.top;
  const double tick = tick_seconds(picture, layout);
  const double end = static_cast<double>(picture.source.size()) * picture.column_seconds;
  for (int i = 0; i * tick <= end; ++i) {
    const double x = layout.left + i * tick / picture.column_seconds * layout.column;
    svg += fmt::format(
        "<path d=\"M{0} {1}V{2}\" stroke=\"currentColor\"/>\n<text x=\"{0}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:.4g}{5}</text>\n",
        format_coordinate(x), format_coordinate(bottom - 5.0), format_coordinate(bottom),
        format_coordinate(bottom - 9.0), i * tick, i == 0 ? " s" : "");
  }
  return svg;
}

std::string draw_words(const AttentionPicture& picture, const Layout& layout) {
  std::string svg = fmt::format("<g font-size=\"{}\">\n", format_coordinate(layout.font_size));
  const bool is_sound = picture.column_seconds > 0;
  if (is_sound) svg += draw_times(picture, layout);
  for (std::size_t s = 0; s < picture.source.size() && !is_sound; ++s) {
    const double x = layout.left + (static_cast<double>(s) + 0.5) * layout.cell;
    const double y = layout.caption + layout.top - 6.0;
    svg += fmt::format(
        "<text class=\"s\" transform=\"translate({} {}) rotate(-{})\" dy=\"0.3em\">{}{}</text>\n",
        format_coordinate(x), format_coordinate(y), format_coordinate(tilt),
        escape_xml(short_word(picture.source[s])), word_title(picture.source[s]));
  }
  for (std::size_t t = 0; t < picture.target.size(); ++t) {
    const double y = layout.caption + layout.top + (static_cast<double>(t) + 0.5) * layout.cell;
    svg += fmt::format(
        "<text class=\"t\" x=\"{}\" y=\"{}\" dy=\"0.35em\" text-anchor=\"end\">{}{}</text>\n",
        format_coordinate(layout.left - 7.0), format_coordinate(y),
        escape_xml(short_word(picture.target[t])), word_title(picture.target[t]));
  }
  return svg + "</g>\n";
}

// Draws the cells in a group that is moved and scaled so that cell (t, s) is the unit square at
// x = s, y = t.
std::string draw_cells(const AttentionPicture& picture, const AttentionMatrix& matrix,
                       const Layout& layout) {
  const std::size_t columns = picture.source.size();
  const auto whites = white_weights(matrix.weights, columns, picture.scale);
  std::string svg = fmt::format(
      "<g class=\"cells\" transform=\"translate({} {}) scale({})\" "
      "shape-rendering=\"crispEdges\">\n",
      format_coordinate(layout.left), format_coordinate(layout.caption + layout.top),
      scale_text(layout));
  for (std::size_t t = 0; t < picture.target.size(); ++t) {
    for (std::size_t s = 0; s < columns; ++s) {
      const float weight = matrix.weights[t * columns + s];
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill=\"{}\">"
          "<title>{} ← {}  {:.3f}</title></rect>\n",
          s, t, gray(weight, whites[t]), escape_xml(picture.target[t]),
          escape_xml(picture.source[s]), weight);
    }
  }
  return svg + "</g>\n";
}

// Draws a dot at each chosen position, in the coordinates of draw_cells().
std::string draw_chosen(const AttentionMatrix& matrix, const Layout& layout) {
  if (matrix.chosen.empty()) return "";
  auto svg =
      fmt::format("<g transform=\"translate({} {}) scale({})\">\n", format_coordinate(layout.left),
                  format_coordinate(layout.caption + layout.top), scale_text(layout));
  for (std::size_t t = 0; t < matrix.chosen.size(); ++t) {
    if (matrix.chosen[t] < 0) continue;
    svg += fmt::format(
        "<circle class=\"chosen\" cx=\"{}.5\" cy=\"{}.5\" r=\"0.26\" fill=\"#e8590c\" "
        "stroke=\"#fff\" stroke-width=\"0.06\" pointer-events=\"none\"/>\n",
        matrix.chosen[t], t);
  }
  return svg + "</g>\n";
}

std::string draw_matrix(const AttentionPicture& picture, const AttentionMatrix& matrix,
                        const Layout& layout) {
  std::string svg;
  if (!matrix.caption.empty())
    svg += fmt::format(
        "<text class=\"caption\" x=\"{}\" y=\"14\" font-size=\"13\" "
        "font-weight=\"600\">{}</text>\n",
        format_coordinate(layout.left), escape_xml(matrix.caption));
  svg += draw_axis_names(picture, layout) + draw_words(picture, layout) +
         draw_cells(picture, matrix, layout) + draw_chosen(matrix, layout);
  if (!matrix.weights.empty()) {
    svg += draw_legend(layout.left, layout.height - legend_height, legend_label(picture, matrix));
  }
  svg += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"currentColor\" "
      "stroke-opacity=\"0.35\"/>\n",
      format_coordinate(layout.left), format_coordinate(layout.caption + layout.top),
      format_coordinate(static_cast<double>(picture.source.size()) * layout.column),
      format_coordinate(static_cast<double>(picture.target.size()) * layout.cell));
  return svg;
}

void check_matrix_sizes(const AttentionPicture& picture) {
  for (const AttentionMatrix& matrix : picture.matrices) {
    if (!matrix.chosen.empty() && matrix.chosen.size() != picture.target.size())
      throw std::invalid_argument(fmt::format(
          "attention picture '{}', matrix '{}': {} chosen positions for {} target words",
          picture.caption, matrix.caption, matrix.chosen.size(), picture.target.size()));
    if (matrix.weights.size() != picture.source.size() * picture.target.size())
      throw std::invalid_argument(fmt::format(
          "attention picture '{}', matrix '{}': {} weights for {} target and {} source words",
          picture.caption, matrix.caption, matrix.weights.size(), picture.target.size(),
          picture.source.size()));
  }
  if (!picture.image) return;
  const auto cells = picture.source.size();
  if (picture.grid_rows == 0 || cells == 0 || cells % picture.grid_rows != 0) {
    throw std::invalid_argument(fmt::format("attention picture '{}': {} cells in {} rows",
                                            picture.caption, cells, picture.grid_rows));
  }
}

}  // namespace

std::string draw_legend(double left, double top, const std::string& label) {
  const double start = left + bar_start;
  const double baseline = top + 17.5;
  const double end = start + bar_steps * bar_step;
  auto svg = fmt::format(
      "<g class=\"legend\" font-size=\"{}\" shape-rendering=\"crispEdges\">\n<text x=\"{}\" "
      "y=\"{}\">0</text>\n",
      format_coordinate(legend_font), format_coordinate(left), format_coordinate(baseline));
  for (int i = 0; i < bar_steps; ++i) {
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"9\" fill=\"{}\"/>\n",
                       format_coordinate(start + i * bar_step), format_coordinate(top + 9.0),
                       format_coordinate(bar_step),
                       gray(static_cast<float>(i) / (bar_steps - 1.0F), 1.0F));
  }
  svg += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"9\" fill=\"none\" stroke=\"currentColor\" "
      "stroke-opacity=\"0.35\"/>\n",
      format_coordinate(start), format_coordinate(top + 9.0), format_coordinate(end - start));
  return svg + fmt::format("<text class=\"white\" x=\"{}\" y=\"{}\">{}</text>\n</g>\n",
                           format_coordinate(end + 5.0), format_coordinate(baseline), label);
}

double legend_width(const std::string& label) {
  return bar_start + bar_steps * bar_step + 5.0 + estimate_text_width(label) * legend_font;
}

std::string alignment_svg(const AttentionPicture& picture) {
  check_matrix_sizes(picture);
  if (picture.image) return image_attention_svg(picture);
  const Layout layout = compute_layout(picture);
  const double gap = 28.0;
  const auto count = static_cast<double>(picture.matrices.size());
  const double text_top = picture.caption.empty() ? margin : margin + 26.0;
  const double head = text_top + static_cast<double>(picture.text.size()) * text_height;
  std::vector<std::string> text;
  double text_width = estimate_text_width(picture.caption, FontWeight::bold) * 15.0;
  for (const auto& line : picture.text) {
    text.push_back(truncate_to_width(line, max_text_width));
    text_width = std::max(text_width, estimate_text_width(text.back()) * text_font);
  }
  const double body = count * layout.width + std::max(0.0, count - 1.0) * gap;
  const double width = 2.0 * margin + std::max(body, text_width);
  std::string svg = open_svg(width, head + layout.height + margin, " color=\"#1a1a1a\"");
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  if (!picture.caption.empty())
    svg += fmt::format("<text x=\"{}\" y=\"27\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
                       format_coordinate(margin), escape_xml(picture.caption));
  for (std::size_t i = 0; i < text.size(); ++i) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text>\n",
                       format_coordinate(margin),
                       format_coordinate(text_top + static_cast<double>(i) * text_height + 10.0),
                       format_coordinate(text_font), escape_xml(text[i]));
  }
  double x = margin;
  for (const AttentionMatrix& matrix : picture.matrices) {
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", format_coordinate(x),
                       format_coordinate(head), draw_matrix(picture, matrix, layout));
    x += layout.width + gap;
  }
  return svg + "</svg>\n";
}

std::string alignment_matrix(const AttentionPicture& picture, std::size_t index) {
  check_matrix_sizes(picture);
  AttentionPicture bare = picture;
  bare.matrices = {picture.matrices.at(index)};
  bare.matrices[0].caption.clear();
  if (picture.image) return image_attention_elements(bare);
  const Layout layout = compute_layout(bare);
  return open_svg(layout.width, layout.height + 2.0, " role=\"img\"") +
         draw_matrix(bare, bare.matrices[0], layout) + "</svg>\n";
}

}  // namespace regard
