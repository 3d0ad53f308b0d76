#include "translation/html_segments.h"

#include <gumbo.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::array inline_tags = {
    GUMBO_TAG_A,      GUMBO_TAG_ABBR,   GUMBO_TAG_ACRONYM,  GUMBO_TAG_B,       GUMBO_TAG_BDI,
    GUMBO_TAG_BDO,    GUMBO_TAG_BIG,    GUMBO_TAG_CITE,     GUMBO_TAG_CODE,    GUMBO_TAG_DATA,
    GUMBO_TAG_DEL,    GUMBO_TAG_DFN,    GUMBO_TAG_EM,       GUMBO_TAG_FONT,    GUMBO_TAG_I,
    GUMBO_TAG_IMG,    GUMBO_TAG_INPUT,  GUMBO_TAG_INS,      GUMBO_TAG_KBD,     GUMBO_TAG_MARK,
    GUMBO_TAG_NOBR,   GUMBO_TAG_Q,      GUMBO_TAG_S,        GUMBO_TAG_SAMP,    GUMBO_TAG_SMALL,
    GUMBO_TAG_SPAN,   GUMBO_TAG_STRIKE, GUMBO_TAG_STRONG,   GUMBO_TAG_SUB,     GUMBO_TAG_SUP,
    GUMBO_TAG_TIME,   GUMBO_TAG_TT,     GUMBO_TAG_U,        GUMBO_TAG_VAR,     GUMBO_TAG_WBR,
    GUMBO_TAG_IFRAME, GUMBO_TAG_OBJECT, GUMBO_TAG_AUDIO,    GUMBO_TAG_VIDEO,   GUMBO_TAG_CANVAS,
    GUMBO_TAG_SCRIPT, GUMBO_TAG_STYLE,  GUMBO_TAG_TEMPLATE, GUMBO_TAG_TEXTAREA};
// Their content is no text to translate.
constexpr std::array opaque_tags = {
    GUMBO_TAG_CODE,      GUMBO_TAG_KBD,      GUMBO_TAG_SAMP,    GUMBO_TAG_VAR,
    GUMBO_TAG_PRE,       GUMBO_TAG_SCRIPT,   GUMBO_TAG_STYLE,   GUMBO_TAG_TEXTAREA,
    GUMBO_TAG_IFRAME,    GUMBO_TAG_OBJECT,   GUMBO_TAG_AUDIO,   GUMBO_TAG_VIDEO,
    GUMBO_TAG_CANVAS,    GUMBO_TAG_TEMPLATE, GUMBO_TAG_XMP,     GUMBO_TAG_LISTING,
    GUMBO_TAG_PLAINTEXT, GUMBO_TAG_NOEMBED,  GUMBO_TAG_NOFRAMES};

template <std::size_t n>
bool has_tag(const std::array<GumboTag, n>& tags, GumboTag tag) {
  return std::ranges::find(tags, tag) != tags.end();
}

// The memory of a parsed tree. gumbo_destroy_output() recurses once per level of the document.
class ParsedHtml {
 public:
  explicit ParsedHtml(std::string_view text) {
    auto options = kGumboDefaultOptions;
    options.allocator = [](void* self, std::size_t size) {
      void* block = std::malloc(std::max<std::size_t>(size, 1));
      static_cast<ParsedHtml*>(self)->blocks_.insert(block);
      return block;
    };
    options.deallocator = [](void* self, void* block) {
      if (block == nullptr) return;
      static_cast<ParsedHtml*>(self)->blocks_.erase(block);
      std::free(block);
    };
    options.userdata = this;
    options.max_errors = 0;
    document_ = gumbo_parse_with_options(&options, text.data(), text.size())->document;
  }
  ~ParsedHtml() {
    for (auto* block : blocks_) std::free(block);
  }
  ParsedHtml(const ParsedHtml&) = delete;
  ParsedHtml& operator=(const ParsedHtml&) = delete;

  const GumboNode* document() const { return document_; }

 private:
  std::unordered_set<void*> blocks_;
  const GumboNode* document_;
};

bool is_element(const GumboNode& node) {
  return node.type == GUMBO_NODE_ELEMENT || node.type == GUMBO_NODE_TEMPLATE;
}

// Calls visit(node) for a node and its descendants in the order of the tree, without those of nodes
// for which it returns false.
template <typename Visit>
void walk(const GumboNode* root, const Visit& visit) {
  std::vector<const GumboNode*> open = {root};
  while (!open.empty()) {
    const auto* node = open.back();
    open.pop_back();
    if (!visit(*node)) continue;
    const GumboVector* children = nullptr;
    if (node->type == GUMBO_NODE_DOCUMENT) children = &node->v.document.children;
    if (is_element(*node)) children = &node->v.element.children;
    for (auto i = children == nullptr ? 0 : children->length; i > 0; --i) {
      open.push_back(static_cast<const GumboNode*>(children->data[i - 1]));
    }
  }
}

// Returns text with its entities decoded.
std::string decoded(std::string_view text) {
  if (text.find('&') == std::string_view::npos) return std::string(text);
  const auto page = "<title>" + std::string(text);
  std::string result;
  walk(ParsedHtml(page).document(), [&](const GumboNode& node) {
    if (node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE) {
      result += node.v.text.text;
    }
    return true;
  });
  return result;
}

// A piece of the source.
struct Piece {
  enum class Kind { text, open, close, single, verbatim, boundary };
  Kind kind;
  std::size_t begin;
  std::size_t end;
  std::string_view name = {};  // of a tag
};

class PieceFinder {
 public:
  explicit PieceFinder(std::string_view source) : source_(source) {}

  // Returns pieces that do not overlap, in the order of the source.
  std::vector<Piece> find() {
    walk(ParsedHtml(source_).document(), [this](const GumboNode& node) { return add(node); });
    std::ranges::stable_sort(pieces_, [](const Piece& a, const Piece& b) {
      return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
    });
    std::vector<Piece> result;
    std::size_t end = 0;
    for (auto& piece : pieces_) {
      piece.end = std::min(piece.end, source_.size());
      if (piece.begin < end) continue;
      // A text ends before the next piece.
      result.push_back(piece);
      const auto next = &piece == &pieces_.back() ? source_.size() : (&piece + 1)->begin;
      if (piece.kind == Piece::Kind::text) result.back().end = std::min(piece.end, next);
      end = result.back().end;
    }
    return result;
  }

 private:
  // The names of tags outlive the tree: they are those of the parser.
  void add(Piece::Kind kind, const GumboStringPiece& bytes, std::string_view name = {}) {
    if (bytes.length == 0 || bytes.data == nullptr) return;
    const auto begin = static_cast<std::size_t>(bytes.data - source_.data());
    if (begin >= source_.size()) return;
    pieces_.push_back({kind, begin, begin + bytes.length, name});
  }

  // Returns true if the children of the node are to be added.
  bool add(const GumboNode& node) {
    switch (node.type) {
      case GUMBO_NODE_DOCUMENT:
        return true;
      case GUMBO_NODE_TEXT:
      case GUMBO_NODE_WHITESPACE:
      case GUMBO_NODE_CDATA:
        add(Piece::Kind::text, node.v.text.original_text);
        return false;
      case GUMBO_NODE_COMMENT:
        add(Piece::Kind::single, node.v.text.original_text);
        return false;
      default:
        return add_element(node);
    }
  }

  bool add_element(const GumboNode& node) {
    const auto& element = node.v.element;
    const bool is_inline = has_tag(inline_tags, element.tag) ||
                           element.tag_namespace != GUMBO_NAMESPACE_HTML ||
                           element.tag == GUMBO_TAG_UNKNOWN;
    if (is_opaque(element)) {
      if (element.original_tag.length == 0) return true;
      const auto* begin = element.original_tag.data;
      const auto kind = !is_inline ? Piece::Kind::boundary
                        : element.tag == GUMBO_TAG_SCRIPT || element.tag == GUMBO_TAG_STYLE ||
                                element.tag == GUMBO_TAG_TEMPLATE
                            ? Piece::Kind::single
                            : Piece::Kind::verbatim;
      add(kind, {begin, static_cast<std::size_t>(end_of(node) - begin)});
      return false;
    }
    if (!is_inline) {
      add(Piece::Kind::boundary, element.original_tag);
      add(Piece::Kind::boundary, element.original_end_tag);
      return true;
    }
    const std::string_view name = gumbo_normalized_tagname(element.tag);
    const bool is_void = name == "img" || name == "input" || name == "wbr";
    add(is_void ? Piece::Kind::single : Piece::Kind::open, element.original_tag, name);
    add(Piece::Kind::close, element.original_end_tag, name);
    return true;
  }

  static bool is_opaque(const GumboElement& element) {
    if (element.tag_namespace != GUMBO_NAMESPACE_HTML) return true;
    if (has_tag(opaque_tags, element.tag)) return true;
    const auto* translate = gumbo_get_attribute(&element.attributes, "translate");
    if (translate != nullptr) return lower_ascii(translate->value) == "no";
    const auto* classes = gumbo_get_attribute(&element.attributes, "class");
    return classes != nullptr &&
           std::ranges::count(split_at_ascii_space(classes->value), "notranslate") > 0;
  }

  // Returns the end of an element in the source.
  static const char* end_of(const GumboNode& root) {
    const char* end = nullptr;
    const auto extend = [&end](const GumboStringPiece& bytes) {
      if (bytes.data != nullptr) end = std::max(end, bytes.data + bytes.length);
    };
    walk(&root, [&](const GumboNode& node) {
      if (is_element(node)) {
        extend(node.v.element.original_tag);
        extend(node.v.element.original_end_tag);
      } else {
        extend(node.v.text.original_text);
      }
      return true;
    });
    return end;
  }

  std::string_view source_;
  std::vector<Piece> pieces_;
};

// Makes segments of the pieces between two boundaries.
class SegmentMaker {
 public:
  SegmentMaker(std::string_view source, const MarkupKinds& markup,
               const std::vector<std::string>& symbols)
      : source_(source), markup_(markup), symbols_(symbols) {}

  // `kind` of bytes between pieces that the parser ignores is single.
  void add(const Piece& piece) {
    if (piece.begin > read_) split_text({Piece::Kind::text, read_, piece.begin});
    read_ = piece.end;
    if (piece.kind == Piece::Kind::boundary) {
      end_run();
    } else if (piece.kind == Piece::Kind::text) {
      split_text(piece);
    } else {
      run_.push_back(piece);
    }
  }

  std::vector<Segment> finish() {
    if (read_ < source_.size()) split_text({Piece::Kind::text, read_, source_.size()});
    end_run();
    if (segments_.empty()) add_segment();
    segments_.back().after += source_.substr(copied_);
    return std::move(segments_);
  }

 private:
  std::string_view bytes(const Piece& piece) const {
    return source_.substr(piece.begin, piece.end - piece.begin);
  }

  // Separates the tags in a text that the parser ignored, and the doctype.
  void split_text(Piece text) {
    for (auto at = text.begin; at < text.end; ++at) {
      const auto next = at + 1 < text.end ? source_[at + 1] : ' ';
      const bool is_tag =
          source_[at] == '<' && (is_letter_byte(next) || next == '/' || next == '!' || next == '?');
      if (!is_tag) continue;
      const auto end = source_.substr(0, text.end).find('>', at);
      if (at > text.begin) run_.push_back({Piece::Kind::text, text.begin, at});
      text.begin = end == std::string_view::npos ? text.end : end + 1;
      run_.push_back({Piece::Kind::single, at, text.begin});
      at = text.begin - 1;
    }
    if (text.begin < text.end) run_.push_back(text);
  }

  Segment& add_segment() {
    auto& segment = segments_.emplace_back();
    segment.kind = TextFormat::Kind::html;
    segment.line.is_html = true;
    segment.number = line_;
    return segment;
  }

  void end_run() {
    auto run = std::exchange(run_, {});
    const auto has_words = [&](const Piece& piece) {
      return piece.kind == Piece::Kind::text && has_letter(decoded(bytes(piece)));
    };
    if (std::ranges::none_of(run, has_words)) return;
    // Tags and blanks before and after the text are copied.
    const auto is_beside = [&](const Piece& piece) {
      return piece.kind == Piece::Kind::single ||
             (piece.kind == Piece::Kind::text && is_blank(bytes(piece)));
    };
    while (is_beside(run.back())) run.pop_back();
    std::size_t first = 0;
    while (is_beside(run[first])) ++first;
    if (run[first].kind == Piece::Kind::text) {
      while (is_space_byte(source_[run[first].begin])) ++run[first].begin;
    }
    if (run.back().kind == Piece::Kind::text) {
      while (is_space_byte(source_[run.back().end - 1])) --run.back().end;
    }
    const auto before = source_.substr(copied_, run[first].begin - copied_);
    line_ += std::ranges::count(before, '\n');
    auto& segment = add_segment();
    segment.before = before;
    MarkedLineBuilder line;
    for (auto i = first; i < run.size(); ++i) add_to(line, run[i]);
    segment.line = line.finish();
    segment.line.is_html = true;
    copied_ = run.back().end;
    line_ += std::ranges::count(source_.substr(run[first].begin, copied_ - run[first].begin), '\n');
  }

  void add_to(MarkedLineBuilder& line, const Piece& piece) {
    switch (piece.kind) {
      case Piece::Kind::text:
        take_out(one_line(decoded(bytes(piece))), markup_, symbols_, /*is_html=*/true, line);
        break;
      case Piece::Kind::open:
        line.add_mark(Mark::Kind::open, bytes(piece), piece.name);
        break;
      case Piece::Kind::close:
        line.add_mark(Mark::Kind::close, bytes(piece), piece.name);
        break;
      case Piece::Kind::verbatim:
        line.add_mark(Mark::Kind::text, bytes(piece));
        break;
      default:
        line.add_mark(Mark::Kind::single, bytes(piece));
    }
  }

  // Returns text with one space for each run of white space, also of those that break no line.
  static std::string one_line(std::string_view text) {
    std::string line;
    for (const auto point : code_points(text)) {
      const bool space = regard::is_space(decode_utf8(point).front());
      if (!space) {
        line += point;
      } else if (line.empty() || line.back() != ' ') {
        line += ' ';
      }
    }
    return line;
  }

  std::string_view source_;
  const MarkupKinds& markup_;
  const std::vector<std::string>& symbols_;
  std::vector<Piece> run_;
  std::vector<Segment> segments_;
  std::size_t read_ = 0;    // end of the last piece
  std::size_t copied_ = 0;  // end of the last segment
  std::int64_t line_ = 1;   // at copied_
};

}  // namespace

std::vector<Segment> html_segments(const std::string& document, MarkupKinds markup,
                                   const std::vector<std::string>& symbols) {
  markup.tags = false;  // those of the document are known, and its text has none
  SegmentMaker segments(document, markup, symbols);
  for (const auto& piece : PieceFinder(document).find()) segments.add(piece);
  return segments.finish();
}

}  // namespace regard
