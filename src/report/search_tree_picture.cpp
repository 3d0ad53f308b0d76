#include "report/search_tree_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/format.h"
#include "report/xml.h"

namespace regard {
namespace {

constexpr std::size_t max_token_width = 16;
constexpr double tree_font_size = 13.0;
constexpr double tree_row_height = 21.0;
constexpr double tree_column_gap = 34.0;  // between columns
constexpr double tree_margin = 6.0;
constexpr double score_gap = 6.0;

std::string label(const SearchTreePicture::Node& node) {
  return truncate_to_width(node.token, max_token_width);
}

std::string score_text(const SearchTreePicture::Node& node) {
  return node.score ? fmt::format("{:.3f}", *node.score) : "";
}

struct NodeLayout {
  std::size_t depth = 0;
  double row = 0;
  bool on_best_path = false;      // leads to the hypothesis with the highest score
  bool on_finished_path = false;  // leads to a finished hypothesis
  std::vector<std::size_t> children;
};

class TreeLayout {
 public:
  explicit TreeLayout(const SearchTreePicture& picture)
      : nodes_(picture.nodes), layouts_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) attach(i);
    assign_rows();
    assign_columns();
    mark_paths();
  }

  double x(std::size_t i) const { return columns_[layouts_[i].depth]; }
  double y(std::size_t i) const { return tree_margin + (layouts_[i].row + 0.5) * tree_row_height; }
  double end(std::size_t i) const { return x(i) + token_width(nodes_[i]); }
  const NodeLayout& node(std::size_t i) const { return layouts_[i]; }
  double width() const { return columns_.back() + tree_margin; }
  double height() const { return 2.0 * tree_margin + rows_ * tree_row_height; }

 private:
  static double token_width(const SearchTreePicture::Node& node) {
    return estimate_text_width(label(node), FontWeight::bold) * tree_font_size;  // some are bold
  }
  static double score_width(const SearchTreePicture::Node& node) {
    return node.score ? score_gap + estimate_text_width(score_text(node)) * tree_font_size : 0.0;
  }

  void attach(std::size_t i) {
    const auto previous = nodes_[i].previous;
    if (previous >= static_cast<std::int64_t>(i)) {
      throw std::invalid_argument(fmt::format("search tree: node {} is before its parent", i));
    }
    if (previous < 0) {
      roots_.push_back(i);
      return;
    }
    auto& parent = layouts_[static_cast<std::size_t>(previous)];
    parent.children.push_back(i);
    layouts_[i].depth = parent.depth + 1;
  }

  void sort_by_probability(std::vector<std::size_t>& nodes) const {
    std::ranges::stable_sort(nodes, [&](std::size_t a, std::size_t b) {
      return nodes_[a].log_probability > nodes_[b].log_probability;
    });
  }

  // Each leaf has its own row. A parent has the row of its most probable child.
  void assign_rows() {
    sort_by_probability(roots_);
    std::vector<std::size_t> stack(roots_.rbegin(), roots_.rend());
    while (!stack.empty()) {
      auto& node = layouts_[stack.back()];
      stack.pop_back();
      sort_by_probability(node.children);
      if (node.children.empty()) node.row = rows_++;
      stack.insert(stack.end(), node.children.rbegin(), node.children.rend());
    }
    for (auto node = layouts_.rbegin(); node != layouts_.rend(); ++node) {
      if (!node->children.empty()) node->row = layouts_[node->children.front()].row;
    }
  }

  // Each column is as wide as its widest token with its score.
  void assign_columns() {
    std::vector<double> widths;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      widths.resize(std::max(widths.size(), layouts_[i].depth + 1), 0.0);
      auto& width = widths[layouts_[i].depth];
      width = std::max(width, token_width(nodes_[i]) + tree_column_gap + score_width(nodes_[i]));
    }
    for (const auto width : widths) columns_.push_back(columns_.back() + width);
  }

  void mark_paths() {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].score) continue;
      if (!best || *nodes_[i].score > *nodes_[*best].score) best = i;
      mark_ancestors(i, &NodeLayout::on_finished_path);
    }
    if (best) mark_ancestors(*best, &NodeLayout::on_best_path);
  }

  void mark_ancestors(std::size_t i, bool NodeLayout::*mark) {
    for (auto at = static_cast<std::int64_t>(i); at >= 0;
         at = nodes_[static_cast<std::size_t>(at)].previous) {
      layouts_[static_cast<std::size_t>(at)].*mark = true;
    }
  }

  const std::vector<SearchTreePicture::Node>& nodes_;
  std::vector<NodeLayout> layouts_;
  std::vector<std::size_t> roots_;
  std::vector<double> columns_{tree_margin};  // start of each column, and end of the last
  double rows_ = 0;
};

// Returns the CSS classes of an element.
std::string css_classes(const char* element, const NodeLayout& node) {
  return fmt::format("{}{}{}", element, node.on_best_path ? " best" : "",
                     node.on_finished_path ? "" : " dead");
}

std::string draw_node(const SearchTreePicture& picture, const TreeLayout& layout, std::size_t i) {
  const auto& node = picture.nodes[i];
  const auto parent_log_probability =
      node.previous < 0 ? 0.0
                        : picture.nodes[static_cast<std::size_t>(node.previous)].log_probability;
  const auto token_probability = std::exp(node.log_probability - parent_log_probability);
  const auto y = layout.y(i);
  std::string svg;
  if (node.previous >= 0) {
    const auto parent = static_cast<std::size_t>(node.previous);
    const auto x1 = layout.end(parent) + 4.0;
    const auto x2 = layout.x(i) - 4.0;
    svg += fmt::format("<path class=\"{}\" d=\"M{} {}C{} {} {} {} {} {}\" stroke-width=\"{}\"/>\n",
                       css_classes("twig", layout.node(i)), format_coordinate(x1),
                       format_coordinate(layout.y(parent)), format_coordinate(x2 - 16.0),
                       format_coordinate(layout.y(parent)), format_coordinate(x2 - 16.0),
                       format_coordinate(y), format_coordinate(x2), format_coordinate(y),
                       format_coordinate(0.6 + 2.4 * token_probability));
  }
  const auto score = node.score ? fmt::format("<tspan dx=\"{}\" font-weight=\"400\">{}</tspan>",
                                              format_coordinate(score_gap), score_text(node))
                                : "";
  return svg + fmt::format(
                   "<text class=\"{}\" x=\"{}\" y=\"{}\" dy=\"0.35em\">{}{}<title>{}\nP {:.3f}, so "
                   "far log P {:.3f}{}</title></text>\n",
                   css_classes("node", layout.node(i)), format_coordinate(layout.x(i)),
                   format_coordinate(y), escape_xml(label(node)), score, escape_xml(node.token),
                   token_probability, node.log_probability,
                   node.score ? fmt::format("\nscore {:.4f}", *node.score) : "");
}

}  // namespace

std::string search_tree_svg(const SearchTreePicture& picture) {
  const TreeLayout layout(picture);
  auto svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tree\" role=\"img\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-size=\"{2}\" fill=\"currentColor\">\n",
      format_coordinate(layout.width()), format_coordinate(layout.height()),
      format_coordinate(tree_font_size));
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) svg += draw_node(picture, layout, i);
  return svg + "</svg>\n";
}

}  // namespace regard
