#include "base/json.h"

#include <stdexcept>
#include <vector>

namespace regard {
namespace {

constexpr int max_json_depth = 64;
constexpr int max_keys = 1000;

// Forwards the SAX events of nlohmann's parser to a JsonVisitor.
class SaxEvents {
 public:
  explicit SaxEvents(JsonVisitor& visitor) : visitor_(visitor) {}

  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(Json::number_integer_t) { return value(); }
  bool number_unsigned(Json::number_unsigned_t) { return value(); }
  bool number_float(Json::number_float_t, const std::string&) { return value(); }
  bool string(std::string&) { return value(); }
  bool binary(Json::binary_t&) { return value(); }
  bool start_object(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    visitor_.key(depth_, name);
    return true;
  }
  template <typename Fault>
  bool parse_error(std::size_t, const std::string&, const Fault& fault) {
    throw fault;
  }

 private:
  bool open() {
    visitor_.open(depth_++);
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  bool value() {
    visitor_.value();
    return true;
  }

  JsonVisitor& visitor_;
  int depth_ = 0;
};

// Throws std::length_error if the text exceeds the limits of parse_json().
class LimitChecker : public JsonVisitor {
 public:
  void open(int depth) override {
    if (depth >= max_json_depth) throw std::length_error("nested deeper than 64 levels");
    // The keys of an object at `depth` have depth + 1.
    keys_.resize(static_cast<std::size_t>(depth) + 2);
    keys_.back() = 0;
  }
  void key(int depth, const std::string& /*name*/) override {
    if (++keys_[static_cast<std::size_t>(depth)] > max_keys) {
      throw std::length_error("an object with more than 1000 keys");
    }
  }

 private:
  std::vector<int> keys_;  // for each depth of a key, the number of keys in the open object
};

}  // namespace

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

void visit_json(const std::string& text, JsonVisitor& visitor) {
  SaxEvents events(visitor);
  Json::sax_parse(text, &events);
}

std::string fault_of(const Json::exception& error) {
  const std::string text = error.what();  // "[json.exception.parse_error.101] parse error at …"
  return text.substr(text.find(' ') + 1);
}

Json parse_json(const std::string& text, std::string* fault) {
  LimitChecker limits;
  try {
    visit_json(text, limits);
    return Json::parse(text);
  } catch (const Json::exception& error) {
    if (fault != nullptr) *fault = fault_of(error);
  } catch (const std::length_error& error) {
    if (fault != nullptr) *fault = error.what();
  }
  return Json(Json::value_t::discarded);
}

}  // namespace regard
