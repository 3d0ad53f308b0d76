// Computes the positions of the labels in an SVG picture, to find labels outside of it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "report/xml.h"

namespace regard {

inline std::string attribute(const std::string& tag, const std::string& name,
                             const std::string& otherwise) {
  const auto at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) return otherwise;
  const auto begin = at + name.size() + 3;
  return tag.substr(begin, tag.find('"', begin) - begin);
}

inline std::string unescape_xml(std::string text) {
  for (const auto& [escaped, plain] : std::vector<std::pair<std::string, std::string>>{
           {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(escaped, at)) != std::string::npos; at += 1) {
      text.replace(at, escaped.size(), plain);
    }
  }
  return text;
}

// Bounding box of a label, in the picture's coordinates.
struct LabelBox {
  std::string text;
  double left, top, right, bottom;
};

// Supports the elements of regard's pictures: <text> with x, y, dy, text-anchor, one <tspan dx>,
// and transform="translate(x y) rotate(degrees)"; <g> with font-size and translate. Widths are
// those of estimate_text_width(), heights 0.8 above and 0.25 below the baseline.
inline std::vector<LabelBox> labels_of(const std::string& svg) {
  struct Group {
    double x, y, size;
  };
  const auto number = [](const std::string& text) { return text.empty() ? 0.0 : std::stod(text); };
  std::vector<Group> groups{{0, 0, 16}};
  std::vector<LabelBox> boxes;
  const std::regex translate("translate\\(([-0-9.]+) ([-0-9.]+)\\)");
  const std::regex rotate("rotate\\(([-0-9.]+)\\)");
  for (std::size_t at = 0; (at = svg.find('<', at)) != std::string::npos;) {
    const auto end = svg.find('>', at);
    const auto tag = svg.substr(at, end - at + 1);
    at = end + 1;
    if (tag.starts_with("</g>")) groups.pop_back();
    if (tag.starts_with("<svg")) groups.back().size = number(attribute(tag, "font-size", "16"));
    if (!tag.starts_with("<g") && !tag.starts_with("<text")) continue;
    auto group = groups.back();
    group.size = number(attribute(tag, "font-size", fmt::format("{}", group.size)));
    const auto transform = attribute(tag, "transform", "");
    std::smatch match;
    if (std::regex_search(transform, match, translate)) {
      group.x += number(match[1]);
      group.y += number(match[2]);
    }
    if (tag.starts_with("<g")) {
      groups.push_back(group);
      continue;
    }
    const auto close = svg.find("</text>", at);
    auto content = svg.substr(at, close - at);
    at = close;
    content = std::regex_replace(content, std::regex("<title>[^<]*</title>"), "");
    const auto weight = [&](const std::string& of) {
      const bool bold = attribute(of, "font-weight", "") == "600" ||
                        attribute(of, "class", "").ends_with(" best");
      return bold ? FontWeight::bold : FontWeight::regular;
    };
    const auto span = content.find("<tspan");
    const auto text = unescape_xml(content.substr(0, span));
    double width = estimate_text_width(text, weight(tag)) * group.size;
    if (span != std::string::npos) {
      const auto inner = content.find('>', span) + 1;
      width +=
          number(attribute(content.substr(span, inner - span), "dx", "0")) +
          group.size * estimate_text_width(content.substr(inner, content.find("</tspan>") - inner));
    }
    const auto anchor = attribute(tag, "text-anchor", "start");
    const double x = number(attribute(tag, "x", "0")) - (anchor == "end"      ? width
                                                         : anchor == "middle" ? width / 2.0
                                                                              : 0.0);
    double y = number(attribute(tag, "y", "0"));
    if (const auto dy = attribute(tag, "dy", ""); dy.ends_with("em")) y += number(dy) * group.size;
    const double angle =
        std::regex_search(transform, match, rotate) ? number(match[1]) * 3.14159265 / 180.0 : 0.0;
    LabelBox box{text, 1e9, 1e9, -1e9, -1e9};
    for (const double corner_x : {x, x + width}) {
      for (const double corner_y : {y - 0.8 * group.size, y + 0.25 * group.size}) {
        const double turned_x = group.x + corner_x * std::cos(angle) - corner_y * std::sin(angle);
        const double turned_y = group.y + corner_x * std::sin(angle) + corner_y * std::cos(angle);
        box = {text, std::min(box.left, turned_x), std::min(box.top, turned_y),
               std::max(box.right, turned_x), std::max(box.bottom, turned_y)};
      }
    }
    boxes.push_back(box);
  }
  return boxes;
}

// Returns "" if all labels are inside the picture, otherwise the label that is not and by how much.
inline std::string find_clipped_label(const std::string& svg) {
  const auto begin = svg.find("<svg");
  const auto tag = svg.substr(begin, svg.find('>', begin) - begin + 1);
  const double width = std::stod(attribute(tag, "width", "0"));
  const double height = std::stod(attribute(tag, "height", "0"));
  const auto boxes = labels_of(svg);
  if (boxes.empty()) return "no labels";
  for (const auto& box : boxes) {
    const double beyond = std::max({-box.left, -box.top, box.right - width, box.bottom - height});
    if (beyond > 0.05) return fmt::format("'{}' leaves the picture by {:.1f}", box.text, beyond);
  }
  return "";
}

}  // namespace regard
