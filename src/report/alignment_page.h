// The HTML page around attention pictures: its style, its scale and its one script.
#pragma once

#include <string>

namespace regard {

// `body` is HTML: sections of SVG drawn by alignment_html(). `title` is plain text.
std::string alignment_page(const std::string& title, const std::string& body);

}  // namespace regard
