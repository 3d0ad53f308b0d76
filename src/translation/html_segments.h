// The texts of an HTML document, parsed by Gumbo.
//
// A segment is the text of a block with its inline elements, whose tags are marks (text/markup.h),
// up to a <br>. Its white space is that of a line. Copied without a change: everything between the
// segments; script, style, code, pre, textarea, svg and their like; elements with translate="no" or
// of class notranslate; comments; attributes; text without a letter. Tags that the parser ignores
// or moves stay where they are in the text.
#pragma once

#include <string>
#include <vector>

#include "translation/text_format.h"

namespace regard {

// Returns the segments of a document of well-formed UTF-8, at least one. Their bytes in the order
// are the document, if each is written with its own text. `markup` is taken out of the text in
// addition to the tags.
std::vector<Segment> html_segments(const std::string& document, MarkupKinds markup,
                                   const std::vector<std::string>& symbols);

}  // namespace regard
