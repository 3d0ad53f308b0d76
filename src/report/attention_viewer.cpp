#include "report/attention_viewer.h"

#include <fmt/format.h>

#include "base/json.h"
#include "report/page.h"
#include "report/xml.h"

namespace regard {
namespace {

std::string maps_json(const AttentionPicture& picture) {
  Json maps = Json::array();
  for (const auto& matrix : picture.matrices) {
    maps.push_back({{"weights", encode_weights(matrix.weights)}});
    if (!matrix.chosen.empty()) maps.back()["chosen"] = matrix.chosen;
  }
  return to_text(maps);
}

// Two buttons around `content`, "‹ … ›", which step `what` back and forth.
std::string stepper(const std::string& what, const std::string& content, bool visible) {
  const auto button = [&](int by, const char* sign, const char* where) {
    return fmt::format(
        "<button type=\"button\" data-go=\"{0}\" data-by=\"{1}\" aria-label=\"{2} {0}\">{3}"
        "</button>",
        what, by, where, sign);
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

std::string word_strip(const char* name, const std::vector<std::string>& words,
                       const std::vector<std::string>& notes) {
  std::string html = "<div class=\"strip\">";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto note = notes.empty() ? "" : fmt::format(" title=\"{}\"", escape_xml(notes.at(i)));
    html += fmt::format("<span class=\"{}\"{}>{}</span>\n", name, note, escape_xml(words[i]));
  }
  return html + "</div>\n";
}

}  // namespace

std::string attention_viewer(const AttentionPicture& picture,
                             const std::vector<std::string>& notes) {
  if (picture.matrices.empty()) return "";
  const auto& first = picture.matrices[0].caption;
  const bool has_name_elsewhere = picture.matrices.size() > 1 || first.empty();
  return fmt::format("<div class=\"viewer\" data-maps=\"{}\" tabindex=\"0\">\n{}{}{}{}{}</div>\n",
                     escape_xml(maps_json(picture)), has_name_elsewhere ? "" : page_note(first),
                     controls(picture), word_strip("s", picture.source, {}),
                     word_strip("t", picture.target, notes), alignment_matrix(picture, 0));
}

}  // namespace regard
