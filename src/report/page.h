// Builds self-contained HTML pages, which load nothing. Light or dark like the reader's system, and
// readable on a phone. The contents are shown without scripts too; the script adds labels at the
// pointer, values of charts, and the words and maps of attention viewers.
#pragma once

#include <string>

namespace regard {

// Returns a page. `title` is plain text; `header` and `body` are HTML. `header` is shown right of
// the title; `body` is a sequence of page_section()s.
std::string html_page(const std::string& title, const std::string& header, const std::string& body);

// Returns a <section>, drawn as a card, or "" if `body` is empty. `heading` is plain text and may
// be empty; `body` is HTML.
std::string page_section(const std::string& heading, const std::string& body);
// Returns a <details> element: `body` is shown after a click on the heading.
std::string page_details(const std::string& heading, const std::string& body);
// Returns a paragraph of plain text.
std::string page_note(const std::string& text);

// The CSS and the JavaScript of every page.
extern const char* const page_style;
extern const char* const page_script;

}  // namespace regard
