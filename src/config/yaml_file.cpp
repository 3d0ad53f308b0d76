#include "config/yaml_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

#include "base/error.h"
#include "base/json.h"

namespace regard {
namespace {

constexpr int max_depth = 64;
constexpr int max_values = 100'000;

class EventLimits : public YAML::EventHandler {
 public:
  explicit EventLimits(const std::string& name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      reject(mark, mark.pos > start_ ? "found a second document, expected one"
                                     : "not YAML: unexpected start of a document");
    }
    start_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  [[noreturn]] void reject(const YAML::Mark& mark, const char* problem) const {
    throw ConfigError("{}:{}: {}", name_, mark.line + 1, problem);
  }
  void count(const YAML::Mark& mark) {
    if (++values_ > max_values)
      reject(mark, "found more than 100000 values, too many for a configuration");
  }
  void open(const YAML::Mark& mark) {
    count(mark);
    if (++depth_ > max_depth)
      reject(mark, "nests deeper than 64 levels, too deep for a configuration");
  }

  const std::string& name_;
  int documents_ = 0;
  int start_ = 0;  // offset of the document in the text
  int depth_ = 0;
  int values_ = 0;
};

void check_size(std::string_view yaml, const std::string& name) {
  if (yaml.size() <= max_yaml_bytes) return;
  throw ConfigError("{}: found {} bytes, expected a configuration of at most {}", name, yaml.size(),
                    max_yaml_bytes);
}

void check_events(const std::string& text, const std::string& name) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  EventLimits limits(name);
  while (parser.HandleNextDocument(limits)) continue;
}

}  // namespace

void check_utf8(std::string_view text, const std::string& name) {
  for (std::size_t line = 1;; ++line) {
    const std::size_t end = text.find('\n');
    try {
      static_cast<void>(Json(std::string(text.substr(0, end))).dump());
    } catch (const Json::type_error&) {
      throw ConfigError("{}:{}: not UTF-8", name, line);
    }
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

YAML::Node load_yaml(std::string_view yaml, const std::string& name) {
  check_size(yaml, name);
  check_utf8(yaml, name);
  const std::string text(yaml);
  try {
    check_events(text, name);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw ConfigError("{}:{}:{}: not YAML: {}", name, error.mark.line + 1, error.mark.column + 1,
                      error.msg);
  }
}

}  // namespace regard
