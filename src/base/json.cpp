#include "base/json.h"

#include <stdexcept>
#include <vector>

namespace regard {
namespace {

constexpr int deepest = 64;
constexpr int most_keys = 1000;

// Looks at the parser's events; throws std::length_error.
class Limits {
 public:
  using Event = Json::parse_event_t;

  void note(int depth, Event event) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= deepest) throw std::length_error("it nests deeper than 64 levels");
      keys_.resize(static_cast<std::size_t>(depth) + 2);
      keys_.back() = 0;
    }
    if (event == Event::key && ++keys_[static_cast<std::size_t>(depth)] > most_keys) {
      throw std::length_error("an object in it has more than 1000 keys");
    }
  }

 private:
  std::vector<int> keys_;  // of the object that is open at each depth
};

}  // namespace

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json parse_json(const std::string& text, std::string* fault) {
  Limits limits;
  try {
    return Json::parse(text, [&](int depth, Limits::Event event, Json&) {
      limits.note(depth, event);
      return true;
    });
  } catch (const Json::exception& error) {
    if (fault != nullptr) *fault = error.what();
  } catch (const std::length_error& error) {
    if (fault != nullptr) *fault = error.what();
  }
  return Json(Json::value_t::discarded);
}

}  // namespace regard
