#include "config/yaml_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/docs.h"
#include "config/field.h"

namespace regard {
namespace {

constexpr int max_depth = 64;
constexpr int max_values = 100'000;

// Throws ConfigError at the first parser event beyond the limits.
class EventLimits : public YAML::EventHandler {
 public:
  explicit EventLimits(const std::string& name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      // At the same position, the parser has found an empty document and does not advance.
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

// A line that begins with a key, in a list also after `- `.
struct KeyLine {
  std::size_t column = 0;  // of the key, from 0
  std::string_view key;
  std::string_view rest;  // after the colon
};

std::optional<KeyLine> key_line(std::string_view line) {
  auto begin = line.find_first_not_of(' ');
  while (begin < line.size() && line.substr(begin).starts_with("- ")) {
    begin = line.find_first_not_of(' ', begin + 1);
  }
  if (begin >= line.size() || !is_letter_byte(line[begin])) return std::nullopt;
  auto end = begin;
  while (end < line.size() && (is_letter_byte(line[end]) || is_digit_byte(line[end]) ||
                               line[end] == '_' || line[end] == '-')) {
    ++end;
  }
  if (end == line.size() || line[end] != ':') return std::nullopt;
  return KeyLine{begin, line.substr(begin, end - begin), line.substr(end + 1)};
}

// True if regard has this key, such as data.train.src for each entry of the list data.train.
bool is_known_key(const std::string& full_key) {
  return std::ranges::any_of(
      all_keys(), [&](const auto& key) { return replace_all(key, ".0.", ".") == full_key; });
}

// Throws ConfigError if the line, or the line with text above it, has a known key and no blank
// after the colon: the parser may notice this only on the next line.
void reject_missing_blank(const std::vector<std::string_view>& lines, std::size_t at,
                          const std::string& name) {
  for (auto line = at + 1; line-- > 0;) {
    const auto slip = missing_blank(lines[line]);
    if (!slip.empty()) throw ConfigError("{}:{}: {}", name, line + 1, slip);
    const auto begin = lines[line].find_first_not_of(" \t\r");
    const bool has_text = begin != std::string_view::npos && lines[line][begin] != '#';
    if (line < at && has_text) return;
  }
}

// Throws ConfigError if the line has a known key of a section that is open there, in another column
// than the section's last key.
void reject_column(const std::vector<std::string_view>& lines, std::size_t at,
                   const std::string& name) {
  struct OpenKey {
    KeyLine key;
    std::size_t line = 0;
  };
  const auto here = key_line(lines[at]);
  if (!here) return;
  std::vector<OpenKey> open_keys;  // the last key of each open section, the innermost first
  for (auto line = at; line-- > 0;) {
    const auto key = key_line(lines[line]);
    if (!key || (!open_keys.empty() && key->column >= open_keys.back().key.column)) continue;
    open_keys.push_back({*key, line});
  }
  const OpenKey* sibling = nullptr;
  std::string section;
  for (const auto& above : std::views::reverse(open_keys)) {
    if (is_known_key(join_key(section, here->key))) {
      if (sibling != nullptr || above.key.column == here->column) return;  // not certain
      sibling = &above;
    }
    section = join_key(section, above.key.key);
  }
  if (sibling == nullptr) return;
  throw ConfigError(
      "{}:{}: found `{}` in column {} and `{}` in column {} on line {}; the keys of a section must "
      "begin in the same column",
      name, at + 1, here->key, here->column + 1, sibling->key.key, sibling->key.column + 1,
      sibling->line + 1);
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
      // dump() throws if a string is not UTF-8.
      static_cast<void>(Json(std::string(text.substr(0, end))).dump());
    } catch (const Json::type_error&) {
      throw ConfigError("{}:{}: not UTF-8", name, line);
    }
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string missing_blank(std::string_view text) {
  const auto found = key_line(text);
  if (!found || found->rest.empty() || is_space_byte(found->rest[0])) return "";
  const auto is_name = [&](std::string_view key) {
    return key.substr(key.rfind('.') + 1) == found->key;
  };
  if (std::ranges::none_of(all_keys(), is_name)) return "";  // such as C: in a path
  constexpr std::size_t max_bytes = 100;
  const auto value = found->rest.substr(0, found->rest.find_first_of(" \t\r\n"));
  return fmt::format("a blank must follow the colon in `{}:{}`", found->key,
                     value.size() > max_bytes ? "…" : value);
}

std::string parse_fault(const YAML::Exception& error) {
  const bool is_alias = error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR;
  return error.msg + (is_alias ? "; put a text that begins with * in quotes" : "");
}

YAML::Node load_yaml(std::string_view yaml, const std::string& name) {
  check_size(yaml, name);
  check_utf8(yaml, name);
  const std::string text(yaml);
  try {
    check_events(text, name);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const auto lines = split(text, '\n');
    const auto line = static_cast<std::size_t>(error.mark.line);
    const bool has_line = line < lines.size();
    const bool has_tab = has_line && lines[line].find('\t') != std::string_view::npos;
    if (has_line && !has_tab) {
      reject_missing_blank(lines, line, name);
      reject_column(lines, line, name);
    }
    throw ConfigError("{}:{}:{}: not YAML: {}{}", name, error.mark.line + 1, error.mark.column + 1,
                      parse_fault(error),
                      has_tab ? "; the line has a tab, and YAML is indented with spaces" : "");
  }
}

namespace {

// Returns the value of a full key, such as "data.src.lang", or nullopt.
std::optional<YAML::Node> value_at(const YAML::Node& root, std::string_view key) {
  YAML::Node node = root;
  for (const auto name : split(key, '.')) {
    if (!node.IsMap()) return std::nullopt;
    // The operator of a non-const node, and an assignment to a node, would change the tree.
    const YAML::Node child = std::as_const(node)[std::string(name)];
    if (!child) return std::nullopt;
    node.reset(child);
  }
  return node;
}

std::ptrdiff_t count_keys(const YAML::Node& root, std::initializer_list<std::string_view> keys) {
  return std::ranges::count_if(keys, [&](auto key) { return value_at(root, key).has_value(); });
}

// Requires a typical key of JoeyNMT besides data.src or data.trg, because an invalid configuration
// of regard may contain data.src or data.trg.
bool is_joeynmt(const YAML::Node& root) {
  if (value_at(root, "joeynmt_version")) return true;
  if (count_keys(root, {"data.src", "data.trg"}) == 0) return false;
  return count_keys(root, {"data.src.lang",
                           "data.trg.lang",
                           "data.src.level",
                           "data.trg.level",
                           "data.level",
                           "data.dataset_type",
                           "data.max_sent_length",
                           "model.encoder.type",
                           "model.encoder.rnn_type",
                           "model.encoder.num_layers",
                           "model.encoder.embeddings",
                           "model.decoder.type",
                           "model.decoder.rnn_type",
                           "model.decoder.embeddings",
                           "model.tied_softmax",
                           "training.validation_freq",
                           "training.logging_freq",
                           "training.print_valid_sents",
                           "training.batch_multiplier",
                           "training.use_cuda"}) > 0;
}

bool is_opennmt(const YAML::Node& root) {
  const auto data = value_at(root, "data");
  const bool has_corpora =
      data && data->IsMap() && std::ranges::any_of(*data, [](const auto& corpus) {
        return count_keys(corpus.second, {"path_src", "path_tgt"}) > 0;
      });
  return has_corpora || count_keys(root, {"src_vocab", "tgt_vocab", "save_model", "save_data",
                                          "train_steps", "encoder_type", "rnn_size"}) > 1;
}

bool is_marian(const YAML::Node& root) {
  return count_keys(root, {"train-sets", "valid-sets", "vocabs", "mini-batch", "mini-batch-fit",
                           "disp-freq", "valid-freq", "valid-metrics", "dim-emb", "dim-rnn",
                           "enc-depth", "learn-rate", "after-epochs", "after-batches"}) > 1;
}

}  // namespace

std::optional<ForeignTrainer> trainer_of(const YAML::Node& root) {
  if (is_joeynmt(root)) return ForeignTrainer::joeynmt;
  if (is_opennmt(root)) return ForeignTrainer::opennmt;
  if (is_marian(root)) return ForeignTrainer::marian;
  return std::nullopt;
}

void reject_foreign_configuration(const YAML::Node& root, const std::string& name) {
  const auto trainer = trainer_of(root);
  if (!trainer) return;
  throw ConfigError(
      "{}: found a configuration of {}, expected one of regard; convert it: `regard config convert "
      "{} -o regard.yaml`",
      name, enum_name(*trainer), shell_word(name));
}

void require_joeynmt(const YAML::Node& root, const std::string& name) {
  for (const std::string section : {"data", "model", "training"}) {
    if (const auto found = value_at(root, section); found && found->IsMap()) continue;
    throw ConfigError(
        "{}: no section `{}`; expected a configuration of JoeyNMT (sections data, model, training, "
        "testing)",
        name, section);
  }
  const auto src = value_at(root, "data.src"), trg = value_at(root, "data.trg");
  if (!src && !trg) {
    throw ConfigError(
        "{}: no sections `data.src` and `data.trg`; expected a configuration of JoeyNMT", name);
  }
  for (const auto& [key, side] : {std::pair{"src", src}, std::pair{"trg", trg}}) {
    if (!side || !side->IsScalar()) continue;
    throw ConfigError(
        "{}:{}: data.{}: found `{}` (the format of JoeyNMT 1), expected a section with `lang` (the "
        "format of JoeyNMT 2); migrate the file first, see JoeyNMT's documentation",
        name, side->Mark().line + 1, key, side->Scalar());
  }
}

}  // namespace regard
