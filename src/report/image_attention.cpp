#include "report/image_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/sha256.h"
#include "report/xml.h"

namespace regard {
namespace {

constexpr std::int64_t max_side = 96;  // of the drawn image, in its pixels
constexpr double copy_width = 104.0;   // of a copy, in pixels of the picture
constexpr double copy_gap = 14.0;      // between copies
constexpr double word_height = 20.0;   // above a copy
constexpr double copy_font_size = 13.0;
constexpr double caption_height = 26.0;
constexpr double picture_margin = 12.0;
constexpr std::size_t copies_per_row = 6;
constexpr double darkest = 0.8;  // opacity of the veil over a cell of weight 0

// Returns the image with at most max_side pixels in each direction.
Image reduced(const Image& image) {
  const auto block = (std::max(image.width, image.height) + max_side - 1) / max_side;
  if (block <= 1) return image;
  Image small{(image.width + block - 1) / block, (image.height + block - 1) / block};
  for (std::int64_t y = 0; y < small.height; ++y) {
    for (std::int64_t x = 0; x < small.width; ++x) {
      std::array<std::int64_t, 3> sums{};
      std::int64_t count = 0;
      for (auto row = y * block; row < std::min(image.height, (y + 1) * block); ++row) {
        for (auto column = x * block; column < std::min(image.width, (x + 1) * block); ++column) {
          const auto at = static_cast<std::size_t>(3 * (row * image.width + column));
          for (std::size_t c = 0; c < 3; ++c) sums[c] += image.rgb[at + c];
          ++count;
        }
      }
      for (const auto sum : sums) {
        small.rgb.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return small;
}

// Returns an id for the pixels of an image: on a page, equal images share it, others do not.
std::string id_of(const Image& image) {
  const std::string_view bytes(reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size());
  constexpr std::size_t digits = 12;
  return fmt::format("image-{}-{}", image.width, sha256(bytes).substr(0, digits));
}

// Draws the image once, a pixel for each unit, as a definition that <use> copies: horizontal runs
// of equal pixels, one path for each colour, over the most frequent colour.
std::string define_image(const Image& image) {
  std::map<std::string, std::string> runs;  // by colour
  std::map<std::string, std::int64_t> pixels;
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::string colour;
    std::int64_t begin = 0;
    const auto end_run = [&](std::int64_t x) {
      if (x == begin) return;
      runs[colour] += fmt::format("M{} {}.5h{}", begin, y, x - begin);
      pixels[colour] += x - begin;
      begin = x;
    };
    for (std::int64_t x = 0; x < image.width; ++x) {
      const auto* rgb = image.rgb.data() + 3 * (y * image.width + x);
      const auto here = fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
      if (here != colour) end_run(x);
      colour = here;
    }
    end_run(image.width);
  }
  const auto background = std::ranges::max_element(
      pixels, [](const auto& a, const auto& b) { return a.second < b.second; });
  auto svg = fmt::format(
      "<defs><g id=\"{}\" fill=\"none\" shape-rendering=\"crispEdges\">\n<path stroke=\"none\" "
      "fill=\"{}\" d=\"M0 0h{}v{}h-{}z\"/>\n",
      id_of(image), background->first, image.width, image.height, image.width);
  for (const auto& [colour, path] : runs) {
    if (colour == background->first) continue;
    svg += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", colour, path);
  }
  return svg + "</g></defs>\n";
}

struct CopiesLayout {
  double copy_height = 0.0;
  double width = 0.0;
  double height = 0.0;

  // Returns the upper left corner of the copy for word t.
  double x(std::size_t t) const {
    return static_cast<double>(t % copies_per_row) * (copy_width + copy_gap);
  }
  double y(std::size_t t) const {
    return word_height +
           static_cast<double>(t / copies_per_row) * (word_height + copy_height + copy_gap);
  }
};

CopiesLayout lay_out_copies(const AttentionPicture& picture) {
  const auto& image = *picture.image;
  CopiesLayout layout;
  layout.copy_height =
      copy_width * static_cast<double>(image.height) / static_cast<double>(image.width);
  const auto words = std::max<std::size_t>(picture.target.size(), 1);
  const auto columns = static_cast<double>(std::min(words, copies_per_row));
  layout.width = columns * (copy_width + copy_gap) - copy_gap;
  for (const auto& matrix : picture.matrices) {
    layout.width =
        std::max({layout.width, legend_width(legend_label(picture, matrix)),
                  estimate_text_width(matrix.caption, FontWeight::bold) * copy_font_size});
  }
  layout.height = layout.y(words - 1) + layout.copy_height + legend_height;
  return layout;
}

// Draws the image of word t and a frame around it.
std::string draw_copy(const Image& image, const CopiesLayout& layout, std::size_t t) {
  const auto x = format_coordinate(layout.x(t));
  const auto y = format_coordinate(layout.y(t));
  return fmt::format(
      "<use href=\"#{}\" transform=\"translate({} {}) scale({})\"/>\n<rect x=\"{}\" y=\"{}\" "
      "width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"currentColor\" "
      "stroke-opacity=\"0.35\"/>\n",
      id_of(image), x, y, fmt::format("{:.5g}", copy_width / static_cast<double>(image.width)), x,
      y, format_coordinate(copy_width), format_coordinate(layout.copy_height));
}

std::string draw_word(const std::string& word, const CopiesLayout& layout, std::size_t t) {
  const auto shown = truncate_to_text_width(word, copy_width / copy_font_size);
  return fmt::format(
      "<text class=\"t\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{}\">{}{}</text>\n",
      format_coordinate(layout.x(t) + copy_width / 2), format_coordinate(layout.y(t) - 6.0),
      format_coordinate(copy_font_size), escape_xml(shown),
      shown == word ? "" : fmt::format("<title>{}</title>", escape_xml(word)));
}

// Draws the cells over the copies in a group that page_script paints again: the cells of the first
// word, row by row, then those of the next.
std::string draw_veil(const AttentionPicture& picture, const AttentionMatrix& matrix,
                      const CopiesLayout& layout) {
  const auto cells = picture.source.size();
  const auto rows = picture.grid_rows;
  const auto columns = cells / rows;
  const auto whites = white_weights(matrix.weights, cells, picture.scale);
  auto svg = fmt::format("<g class=\"veil\" shape-rendering=\"crispEdges\" data-weights=\"{}\">\n",
                         encode_weights(matrix.weights));
  for (std::size_t t = 0; t < picture.target.size(); ++t) {
    svg += fmt::format("<g transform=\"translate({} {}) scale({:.5g} {:.5g})\">\n",
                       format_coordinate(layout.x(t)), format_coordinate(layout.y(t)),
                       copy_width / static_cast<double>(columns),
                       layout.copy_height / static_cast<double>(rows));
    for (std::size_t s = 0; s < cells; ++s) {
      const auto weight = matrix.weights[t * cells + s];
      const bool is_nan = std::isnan(weight);
      const auto brightness = is_nan ? 0.5F : std::clamp(weight / whites[t], 0.0F, 1.0F);
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill=\"{}\" fill-opacity=\"{:.3g}\">"
          "<title>{} ← {}  {:.3f}</title></rect>\n",
          s % columns, s / columns, is_nan ? "#c00" : "#000",
          darkest * (1.0 - static_cast<double>(brightness)), escape_xml(picture.target[t]),
          escape_xml(picture.source[s]), weight);
    }
    svg += "</g>\n";
  }
  return svg + "</g>\n";
}

// Draws a frame around each chosen cell.
std::string frame_chosen(const AttentionPicture& picture, const AttentionMatrix& matrix,
                         const CopiesLayout& layout) {
  const auto rows = picture.grid_rows;
  const auto columns = picture.source.size() / rows;
  const auto width = copy_width / static_cast<double>(columns);
  const auto height = layout.copy_height / static_cast<double>(rows);
  std::string svg;
  for (std::size_t t = 0; t < matrix.chosen.size(); ++t) {
    if (matrix.chosen[t] < 0) continue;
    const auto s = static_cast<std::size_t>(matrix.chosen[t]);
    svg += fmt::format(
        "<path class=\"frame\" d=\"M{} {}h{}v{}h-{}z\" fill=\"none\" stroke=\"#e8590c\" "
        "stroke-width=\"2\" pointer-events=\"none\"/>\n",
        format_coordinate(layout.x(t) + static_cast<double>(s % columns) * width),
        format_coordinate(layout.y(t) + static_cast<double>(s / columns) * height),
        format_coordinate(width), format_coordinate(height), format_coordinate(width));
  }
  return svg;
}

std::string draw_copies(const AttentionPicture& picture, const AttentionMatrix& matrix,
                        const Image& image, const CopiesLayout& layout) {
  std::string svg;
  for (std::size_t t = 0; t < picture.target.size(); ++t) {
    svg += draw_word(picture.target[t], layout, t) + draw_copy(image, layout, t);
  }
  svg += draw_veil(picture, matrix, layout) + frame_chosen(picture, matrix, layout);
  if (matrix.weights.empty()) return svg;
  return svg + draw_legend(0, layout.height - legend_height, legend_label(picture, matrix));
}

std::string draw_caption(const std::string& caption, double size, double baseline) {
  if (caption.empty()) return "";
  return fmt::format("<text x=\"0\" y=\"{}\" font-size=\"{}\" font-weight=\"600\">{}</text>\n",
                     format_coordinate(baseline), format_coordinate(size), escape_xml(caption));
}

}  // namespace

std::string image_attention_svg(const AttentionPicture& picture) {
  const auto image = reduced(*picture.image);
  const auto layout = lay_out_copies(picture);
  auto body = draw_caption(picture.caption, 15.0, 15.0);
  double y = picture.caption.empty() ? 0.0 : caption_height;
  for (const auto& matrix : picture.matrices) {
    if (!matrix.caption.empty()) y += caption_height;
    body += fmt::format("<g transform=\"translate(0 {})\">\n{}{}</g>\n", format_coordinate(y),
                        draw_caption(matrix.caption, copy_font_size, -8.0),
                        draw_copies(picture, matrix, image, layout));
    y += layout.height + copy_gap;
  }
  const auto width =
      std::max(layout.width, estimate_text_width(picture.caption, FontWeight::bold) * 15.0);
  return open_svg(width + 2 * picture_margin, y + 2 * picture_margin, " color=\"#1a1a1a\"") +
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + define_image(image) +
         fmt::format("<g transform=\"translate({0} {0})\">\n{1}</g>\n</svg>\n",
                     format_coordinate(picture_margin), body);
}

std::string image_attention_elements(const AttentionPicture& picture) {
  const auto image = reduced(*picture.image);
  const auto layout = lay_out_copies(picture);
  std::string html;
  for (const auto& matrix : picture.matrices) {
    const double top = matrix.caption.empty() ? 0.0 : caption_height;
    html += open_svg(layout.width + 2.0, layout.height + top + 2.0, " role=\"img\"") +
            define_image(image) +
            fmt::format("<g transform=\"translate(1 {})\">\n{}{}</g>\n</svg>\n",
                        format_coordinate(top), draw_caption(matrix.caption, copy_font_size, -8.0),
                        draw_copies(picture, matrix, image, layout));
  }
  return html;
}

}  // namespace regard
