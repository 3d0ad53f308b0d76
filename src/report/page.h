// One HTML page that stands by itself: nothing is loaded from anywhere. Light or dark as the
// reader's system is, and readable on a telephone. What it shows is there without scripts too; its
// one script adds what follows the pointer: labels, a chart's values, an attention viewer's words
// and maps.
#pragma once

#include <string>

namespace regard {

// `title` is plain text, the others are HTML: `beside` stands right of the title, `body` is a row
// of page_section()s.
std::string html_page(const std::string& title, const std::string& beside, const std::string& body);

// A card of the page. The heading is plain text and may be empty.
std::string page_section(const std::string& heading, const std::string& body);
// A part that is opened by a click on its heading.
std::string page_details(const std::string& heading, const std::string& body);
// A paragraph of plain text beside the figures.
std::string page_note(const std::string& text);

// The parts of every page.
extern const char* const page_style;
extern const char* const page_script;

}  // namespace regard
