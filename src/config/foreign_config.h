// The parts that the conversions of configurations of other trainers share. Private to config/.
#pragma once

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/convert.h"
#include "config/scalar.h"

namespace regard {

// The values of a configuration. Tracks which values were read.
class ForeignConfig {
 public:
  // Throws ConfigError with `name` and the line if the text is not YAML.
  ForeignConfig(std::string_view text, std::string name);

  // Returns all keys, sorted.
  std::vector<std::string> keys() const;
  bool has(const std::string& key) const { return values_.contains(key); }

  // Returns the value of a full key, such as "model.encoder.type", and marks it as read. Joins the
  // entries of a list by ", ". Returns nullopt if the key is missing or null.
  std::optional<std::string> take(const std::string& key);
  // The functions below return `fallback` if the key is missing or null.
  std::string take(const std::string& key, const std::string& fallback);
  std::string take_lower(const std::string& key, const std::string& fallback);
  // Accepts the booleans of Python and YAML. Adds a note and returns `fallback` for other text.
  bool take_flag(const std::string& key, bool fallback);
  // Adds a note and returns `fallback` if the value is not a number.
  double take_number(const std::string& key, double fallback);
  // Marks a key as read, so that note_unread() does not report it.
  void mark_read(const std::string& key) { take(key); }

  // Adds a note about a key, if the file has it. The same note twice is one.
  void note(const std::string& key, const std::string& text);
  struct Unsupported {
    std::string reason;        // the text of the note; empty: no note
    std::string neutral = {};  // the value that needs no note
  };
  // Adds a note for each value that was not read. `unsupported` maps prefixes of keys to the texts
  // of notes; the longest matching prefix counts.
  void note_unread(const std::map<std::string, Unsupported>& unsupported);
  // Returns the notes in the order of the file's lines.
  std::vector<std::string> notes() const;

 private:
  struct Value {
    std::string text;
    int line = 0;  // from 1
    bool is_null = false;
    bool is_read = false;
  };
  std::string location_and_value(const std::string& key) const;

  std::string name_;
  std::map<std::string, Value> values_;
  std::vector<std::pair<int, std::string>> notes_;  // with their lines
};

// The options of regard that a conversion stores, and the configuration that it reads.
class ForeignConversion {
 protected:
  ForeignConversion(std::string_view text, const std::string& name)
      : file_(text, name), name_(name) {}

  // Returns the stored options as YAML, with the notes as comments. Adds a note for each value that
  // was not read (ForeignConfig::note_unread()), and one if regard would reject the result.
  Converted finish(const std::map<std::string, ForeignConfig::Unsupported>& unsupported);

  // The put functions store a value for a key of regard. This one stores a number, word or flag as
  // written in the other file; the check of the converted configuration reports wrong values.
  void put(const std::string& key, const std::string& value);
  void put(const std::string& key, double value) { converted_[key] = to_yaml(value); }
  void put_integer(const std::string& key, double value);
  void put_text(const std::string& key, const std::string& value) {
    converted_[key] = to_yaml(value);
  }
  void put_flag(const std::string& key, bool value) { converted_[key] = to_yaml(value); }

  void copy_value(const std::string& from, const std::string& to, const std::string& fallback) {
    put(to, file_.take(from, fallback));
  }
  // Stores nothing if the file does not have the key.
  void copy(const std::string& from, const std::string& to) {
    if (const auto value = file_.take(from)) put(to, *value);
  }

  // Stores which of both embeddings and the output layer share their weights. Adds a note to `key`
  // if only the embeddings do.
  void put_tied(bool embeddings, bool output, const std::string& key);

  // Returns the larger of the values for source and target, for options that regard has only once.
  // Adds a note about the smaller value.
  struct Side {
    std::string key;
    double fallback = 0;
  };
  double take_larger(const Side& src, const Side& trg);

  // Returns the first of the keys that the file has, or the fallback.
  std::string first(std::initializer_list<const char*> keys, const std::string& fallback) {
    for (const auto* key : keys) {
      if (file_.has(key)) return file_.take(key, fallback);
    }
    return fallback;
  }
  double first_number(std::initializer_list<const char*> keys, double fallback) {
    for (const auto* key : keys) {
      if (file_.has(key)) return file_.take_number(key, fallback);
    }
    return fallback;
  }
  void put_both(const std::string& key, const std::string& value) {
    put("model.encoder." + key, value);
    put("model.decoder." + key, value);
  }
  void put_dropout(double states, double attention, double readout) {
    put("model.dropout.embeddings", states);
    put("model.dropout.states", states);
    if (attention > 0) put("model.dropout.attention", attention);
    put("model.dropout.readout", readout);
  }
  // A rate that rises to its peak in `warmup` steps, then falls with the square root of the step.
  void put_inverse_square_root(double peak, double warmup) {
    put("training.scheduling", "inverse_square_root");
    put_integer("training.warmup_steps", warmup);
    put("training.learning_rate", std::round(peak * 1e7) / 1e7);
  }
  void put_optimizer(const std::string& key, const std::string& name) {
    const bool is_known = name == "adam" || name == "adamw" || name == "sgd" || name == "adadelta";
    if (!is_known) file_.note(key, "regard has adam, adamw, sgd and adadelta; adam is used");
    put("training.optimizer", is_known ? name : "adam");
  }
  // Returns the entries of a list, as take() joins them.
  std::vector<std::string> entries(const std::string& key) {
    std::vector<std::string> found;
    const auto text = file_.take(key, "");
    for (auto entry : split(text, ',')) {
      while (entry.starts_with(' ')) entry.remove_prefix(1);
      while (entry.ends_with(' ')) entry.remove_suffix(1);
      if (!entry.empty()) found.emplace_back(entry);
    }
    return found;
  }

  ForeignConfig file_;
  std::map<std::string, std::string> converted_;  // keys of regard with their YAML values

 private:
  std::string name_;
};

// Texts of notes.
inline constexpr auto own_vocabulary =
    "regard trains its vocabulary; data.tokenizer.src_file and trg_file name existing "
    "SentencePiece "
    "models";

// Returns the number at the beginning of a text, such as "5000u", "10e", "1e-4" or "0.1, 0.2"; 0 if
// there is none.
inline double leading_number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::isfinite(value) ? value : 0;
}

// Throws ConfigError with `name` and the line if the text is not YAML or not a configuration of
// JoeyNMT 2.
Converted convert_joeynmt(std::string_view text, const std::string& name);
Converted convert_opennmt(std::string_view text, const std::string& name);
Converted convert_marian(std::string_view text, const std::string& name);
// The text is a command, or the options of one.
Converted convert_fairseq(std::string_view text, const std::string& name);
bool is_fairseq_command(std::string_view text);

}  // namespace regard
