#include "report/chart_marks.h"

#include <fmt/format.h>

#include <array>

#include "report/xml.h"

namespace regard {
namespace {

struct Look {
  const char* color;
  const char* dash;
};
constexpr std::array<Look, 7> looks{{{"#0072b2", ""},
                                     {"#d55e00", ""},
                                     {"#009e73", "7 3"},
                                     {"#cc79a7", "2 3"},
                                     {"#56b4e9", "9 3 2 3"},
                                     {"#e69f00", "7 3"},
                                     {"#000000", "2 3"}}};

}  // namespace

std::string text_at(double x, double y, const char* anchor, const std::string& attributes,
                    const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
                     format_coordinate(x), format_coordinate(y), anchor, attributes,
                     escape_xml(text));
}

std::string rule(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", format_coordinate(x1),
                     format_coordinate(y1), format_coordinate(x2), format_coordinate(y2),
                     attributes);
}

std::string stroke(std::size_t index) {
  const Look& look = looks[index % looks.size()];
  const std::string dash =
      *look.dash ? fmt::format(" stroke-dasharray=\"{}\"", look.dash) : std::string{};
  return fmt::format(
      "class=\"line c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
      "stroke-linejoin=\"round\"{}",
      index % looks.size(), look.color, dash);
}

std::string marker(std::size_t index, double x, double y, const std::string& title) {
  static constexpr std::array<const char*, 4> shapes{
      "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", "M-3.2 -3.2h6.4v6.4h-6.4z",
      "M0 -4.6L4.6 0L0 4.6L-4.6 0z", "M0 -4.4L4.4 3.4H-4.4z"};
  const std::string tooltip =
      title.empty() ? "" : fmt::format("<title>{}</title>", escape_xml(title));
  return fmt::format(
      "<path class=\"mark c{}\" transform=\"translate({} {})\" d=\"{}\" fill=\"{}\" "
      "stroke=\"#fff\">{}</path>\n",
      index % looks.size(), format_coordinate(x), format_coordinate(y),
      shapes[index % shapes.size()], looks[index % looks.size()].color, tooltip);
}

std::string band(std::size_t index, const std::string& path) {
  return fmt::format(
      "<path class=\"band c{0}\" d=\"{1}\" fill=\"{2}\" fill-opacity=\"0.18\" stroke=\"{2}\" "
      "stroke-opacity=\"0.35\"/>\n",
      index % looks.size(), path, looks[index % looks.size()].color);
}

}  // namespace regard
