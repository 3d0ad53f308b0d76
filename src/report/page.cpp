#include "report/page.h"

#include <fmt/format.h>

#include "report/xml.h"

namespace regard {

std::string html_page(const std::string& title, const std::string& beside,
                      const std::string& body) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", escape_xml(title),
                      page_style);
  page += fmt::format("<header><h1>{}</h1>\n{}</header>\n{}", escape_xml(title), beside, body);
  page +=
      fmt::format("<div id=\"tip\"></div>\n<script>{}</script>\n</body>\n</html>\n", page_script);
  return page;
}

std::string page_section(const std::string& heading, const std::string& body) {
  const auto head = heading.empty() ? "" : fmt::format("<h2>{}</h2>\n", escape_xml(heading));
  return fmt::format("<section>\n{}{}</section>\n", head, body);
}

std::string page_details(const std::string& heading, const std::string& body) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escape_xml(heading), body);
}

std::string page_note(const std::string& text) {
  return fmt::format("<p class=\"note\">{}</p>\n", escape_xml(text));
}

}  // namespace regard
