// Reads the units of a translation memory (TMX 1.4b) with libxml2, without a network, without files
// that the document names, and without the entities that it defines. A field is the text of a
// <seg>, its name the language of the <tuv>. Codes of another format are left out with their text
// (bpt, ept, it, ph, ut); other elements, such as <hi>, leave their text.
#include <libxml/xmlreader.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/byte_stream.h"
#include "data/line_reader.h"
#include "data/record_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::array<std::string_view, 5> code_elements = {"bpt", "ept", "it", "ph", "ut"};
constexpr std::int64_t max_node_line = 65535;  // libxml2 stores no larger number in a node

std::string_view view_of(const xmlChar* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

void ignore_xml_fault(void* /*context*/, const char* /*format*/, ...) {}

// Keeps libxml2 from reporting faults of an encoding on standard error, which it does whatever
// handler its reader has.
class QuietLibxml2 {
 public:
  QuietLibxml2() : handler_(xmlGenericError), context_(xmlGenericErrorContext) {
    xmlSetGenericErrorFunc(nullptr, &ignore_xml_fault);
  }
  ~QuietLibxml2() { xmlSetGenericErrorFunc(context_, handler_); }
  QuietLibxml2(const QuietLibxml2&) = delete;
  QuietLibxml2& operator=(const QuietLibxml2&) = delete;

 private:
  xmlGenericErrorFunc handler_;
  void* context_;
};

class TmxReader : public RecordReader {
 public:
  explicit TmxReader(const std::string& file) : bytes_(file) {}
  ~TmxReader() override;

  bool next(std::vector<RecordField>& fields) override;
  std::int64_t line() const override { return line_; }
  void hash_into(Sha256& hash) override { bytes_.hash_into(hash); }

 private:
  static int read_bytes(void* self, char* to, int size);
  void open();
  bool read_node();
  void begin_element(std::vector<RecordField>& fields);
  void begin_variant(std::vector<RecordField>& fields);
  void add_text(std::vector<RecordField>& fields);
  std::int64_t line_of_node() const;

  ByteStream bytes_;
  xmlTextReaderPtr reader_ = nullptr;  // null before the first unit
  std::exception_ptr error_;           // of bytes_
  std::string fault_;                  // of the XML
  std::int64_t fault_line_ = 0;
  std::int64_t line_ = 0;
  bool in_unit_ = false;
  bool in_segment_ = false;
  int code_depth_ = -1;  // of the code in which the node is; -1: in none
};

TmxReader::~TmxReader() {
  if (reader_ != nullptr) xmlFreeTextReader(reader_);
}

int TmxReader::read_bytes(void* self, char* to, int size) {
  auto& reader = *static_cast<TmxReader*>(self);
  try {
    return static_cast<int>(reader.bytes_.read(to, static_cast<std::size_t>(size)));
  } catch (...) {
    reader.error_ = std::current_exception();
    return -1;
  }
}

void TmxReader::open() {
  reader_ = xmlReaderForIO(&read_bytes, nullptr, this, nullptr, nullptr,
                           XML_PARSE_NONET | XML_PARSE_BIG_LINES);
  if (reader_ == nullptr) throw std::bad_alloc();
  const auto handler = [](void* self, const char* message, xmlParserSeverities severity,
                          xmlTextReaderLocatorPtr locator) {
    auto& reader = *static_cast<TmxReader*>(self);
    const bool is_warning =
        severity == XML_PARSER_SEVERITY_WARNING || severity == XML_PARSER_SEVERITY_VALIDITY_WARNING;
    if (is_warning || !reader.fault_.empty()) return;
    reader.fault_ = message;
    reader.fault_line_ = xmlTextReaderLocatorLineNumber(locator);
  };
  xmlTextReaderSetErrorHandler(reader_, handler, this);
}

bool TmxReader::read_node() {
  const int result = xmlTextReaderRead(reader_);
  if (error_) std::rethrow_exception(error_);
  if (result == 1 && fault_.empty()) return true;
  if (result != 0 || !fault_.empty()) {
    while (!fault_.empty() && fault_.back() == '\n') fault_.pop_back();
    throw InputError("{}:{}: found broken XML ({}), expected TMX; mend or export the file again",
                     bytes_.name(), std::max<std::int64_t>(fault_line_, 1),
                     excerpt(fault_.empty() ? "no reason" : fault_));
  }
  return false;
}

bool TmxReader::next(std::vector<RecordField>& fields) {
  static const bool initialised = (xmlInitParser(), true);  // once, as threads open files
  static_cast<void>(initialised);
  const QuietLibxml2 quiet;
  if (reader_ == nullptr) open();
  fields.clear();
  while (read_node()) {
    const auto name = view_of(xmlTextReaderConstLocalName(reader_));
    switch (xmlTextReaderNodeType(reader_)) {
      case XML_READER_TYPE_ELEMENT:
        begin_element(fields);
        if (name == "tu" && xmlTextReaderIsEmptyElement(reader_) == 1) return true;
        break;
      case XML_READER_TYPE_END_ELEMENT:
        if (xmlTextReaderDepth(reader_) == code_depth_) code_depth_ = -1;
        if (name == "seg") in_segment_ = false;
        if (name == "tu") {
          in_unit_ = false;
          return true;
        }
        break;
      case XML_READER_TYPE_ENTITY_REFERENCE:
        if (!in_segment_) break;
        throw InputError(
            "{}:{}: found the entity &{};, expected text; write the text that it means",
            bytes_.name(), line_of_node(), name);
      default:
        add_text(fields);
    }
  }
  for (char rest[1024]; bytes_.read(rest, sizeof rest) > 0;) continue;  // for the hash
  return false;
}

void TmxReader::begin_element(std::vector<RecordField>& fields) {
  const auto name = view_of(xmlTextReaderConstLocalName(reader_));
  const auto depth = xmlTextReaderDepth(reader_);
  if (depth == 0 && name != "tmx") {
    throw InputError("{}:{}: found the element <{}>, expected <tmx>; export the file as TMX",
                     bytes_.name(), line_of_node(), excerpt(name));
  }
  const bool is_empty = xmlTextReaderIsEmptyElement(reader_) == 1;
  if (name == "tu") {
    line_ = line_of_node();
    in_unit_ = !is_empty;
    in_segment_ = false;
  } else if (name == "tuv" && in_unit_) {
    begin_variant(fields);
  } else if (name == "seg" && !fields.empty()) {
    in_segment_ = !is_empty;
    code_depth_ = -1;
  } else if (in_segment_ && code_depth_ < 0 && !is_empty &&
             std::ranges::count(code_elements, name) > 0) {
    code_depth_ = depth;
  }
}

void TmxReader::begin_variant(std::vector<RecordField>& fields) {
  auto& field = fields.emplace_back();
  for (const auto* attribute : {"xml:lang", "lang"}) {
    auto* value = xmlTextReaderGetAttribute(reader_, reinterpret_cast<const xmlChar*>(attribute));
    if (value == nullptr) continue;
    field.name = view_of(value);
    xmlFree(value);
    return;
  }
  throw InputError("{}:{}: found a <tuv> without a language, expected xml:lang=\"…\"; add it",
                   bytes_.name(), line_of_node());
}

void TmxReader::add_text(std::vector<RecordField>& fields) {
  if (!in_segment_ || code_depth_ >= 0) return;
  const auto type = xmlTextReaderNodeType(reader_);
  if (type != XML_READER_TYPE_TEXT && type != XML_READER_TYPE_CDATA &&
      type != XML_READER_TYPE_WHITESPACE && type != XML_READER_TYPE_SIGNIFICANT_WHITESPACE) {
    return;
  }
  auto& text = fields.back().text;
  append_text(text, view_of(xmlTextReaderConstValue(reader_)));
  if (text.size() <= max_line_bytes) return;
  throw InputError("{}:{}: found a segment of more than {} bytes, expected one sentence; split it",
                   bytes_.name(), line_of_node(), max_line_bytes);
}

std::int64_t TmxReader::line_of_node() const {
  const std::int64_t line = xmlGetLineNo(xmlTextReaderCurrentNode(reader_));
  return line > 0 && line != max_node_line ? line : xmlTextReaderGetParserLineNumber(reader_);
}

}  // namespace

std::unique_ptr<RecordReader> open_tmx(const std::string& file) {
  return std::make_unique<TmxReader>(file);
}

}  // namespace regard
