// Markup inside a line: what a translation must have as it is, and a model must not see.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// Lines with more marks have no pairs of tags, and each mark is placed by its position alone.
inline constexpr std::size_t most_marks = 1000;

// The kinds of markup that take_out() takes out of a line.
struct MarkupKinds {
  bool tags = false;          // <b>, </b>, <br/>, <!-- … -->
  bool placeholders = false;  // {name}, {{x}}, ${x}, %s, %1$d, %(name)s, $1
  bool urls = false;          // with e-mail addresses
  bool numbers = false;       // 12, -3.5, 1,000, 12:30; not with letters, as in 5km

  bool any() const { return tags || placeholders || urls || numbers; }
};

// Returns the kinds of --markup and --keep: `markup` is tags and placeholders, `keep` has names out
// of urls, numbers and placeholders. Throws ConfigError for another name.
MarkupKinds markup_kinds(bool markup, const std::vector<std::string>& keep);

// A tag, or a piece of text that the model does not see.
struct Mark {
  enum class Kind {
    open,    // with its end tag
    close,   // with its start tag
    single,  // a tag by itself, or without its partner; they keep their order
    text,
  };

  Kind kind = Kind::single;
  std::string bytes;
  std::size_t at = 0;       // byte in MarkedLine::text
  std::size_t partner = 0;  // of open and close: index of the other
  char32_t before = ' ';    // characters beside it that are no marks; a space at an end
  char32_t after = ' ';
  bool follows_mark = false;  // directly
};

// A line without its markup.
struct MarkedLine {
  std::string text;
  std::vector<Mark> marks = {};  // in the order of the line
  bool is_html = false;          // put_back() writes &, < and > of the text as entities
};

// Makes a MarkedLine from its pieces. Where a mark stands between two spaces, one of them remains;
// after a word or a mark of punctuation and before a word, a single tag becomes a space.
class MarkedLineBuilder {
 public:
  void add_text(std::string_view text) { text_ += text; }
  // `name` pairs tags.
  void add_mark(Mark::Kind kind, std::string_view bytes, std::string_view name = {});
  MarkedLine finish();

 private:
  void pair_tags();

  std::string text_;  // all pieces of text
  std::vector<Mark> marks_;
  std::vector<std::string> names_;  // of the marks
};

// Adds a text with its markup to a line, the bytes of what is taken out as HTML if `is_html`. Tags
// that are symbols of the model stay in the text.
void take_out(std::string_view text, const MarkupKinds& kinds,
              const std::vector<std::string>& symbols, bool is_html, MarkedLineBuilder& line);
// Takes the markup out of a line.
MarkedLine take_out(std::string_view line, const MarkupKinds& kinds,
                    const std::vector<std::string>& symbols = {});

// Returns the text with &, < and > as entities.
std::string escape_html(std::string_view text);

// Return the character at `at`, and the one that ends before it; a space at an end of the text.
char32_t character_at(std::string_view text, std::size_t at);
char32_t character_before(std::string_view text, std::size_t at);
// Letters and numbers of all scripts.
bool is_letter_or_number(char32_t c);
// Punctuation that follows a word without a space.
bool is_closing_mark(char32_t c);

}  // namespace regard
