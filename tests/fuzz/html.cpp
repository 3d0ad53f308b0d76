// HTML documents: translation/html_segments.h.
#include "translation/html_segments.h"

#include "tests/fuzz/target.h"
#include "text/unicode.h"
#include "translation/mark_placement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const std::string document(fuzz::as_text(data, size));
  if (first_invalid_utf8(document) != document.npos || size > 10000) return 0;
  const auto segments = html_segments(document, {.placeholders = true, .urls = true}, {});
  fuzz::check(!segments.empty(), "a document has a segment");
  std::size_t at = 0;
  for (const auto& segment : segments) {
    const auto before = document.find(segment.before, at);
    fuzz::check(before != document.npos, "bytes between texts are those of the document");
    at = before + segment.before.size();
    for (const auto& mark : segment.line.marks) {
      if (mark.kind == Mark::Kind::text) continue;  // may be escaped
      const auto found = document.find(mark.bytes, at);
      fuzz::check(found != document.npos, "tags are those of the document, in its order");
      at = found + mark.bytes.size();
    }
    fuzz::check(first_invalid_utf8(segment.line.text) == std::string::npos, "a text is UTF-8");
    fuzz::check(segment.line.text.find('\n') == std::string::npos, "a text is one line");
    put_back(segment.line, {segment.line.text, {}, {}, nullptr});
  }
  fuzz::check(document.ends_with(segments.back().after), "the rest is that of the document");
  return 0;
}
