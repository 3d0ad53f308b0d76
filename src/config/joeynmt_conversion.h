// Reads a configuration of JoeyNMT and converts its sections. Private to config/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/joeynmt.h"
#include "config/scalar.h"

namespace regard {

// The values of a JoeyNMT configuration. Tracks which values were read.
class JoeyFile {
 public:
  // Throws ConfigError as convert_joeynmt() does.
  JoeyFile(std::string_view text, std::string name);

  // Returns the value of a full key, such as "model.encoder.type", and marks it as read. Joins the
  // entries of a list by ", ". Returns nullopt if the key is missing or null.
  std::optional<std::string> take(const std::string& key);
  std::string take(const std::string& key, const std::string& fallback);
  std::string take_lower(const std::string& key, const std::string& fallback);
  // Accepts the booleans of Python and YAML.
  bool take_flag(const std::string& key, bool fallback);
  double take_number(const std::string& key, double fallback);

  // Adds a note about a key, if the file has it.
  void note(const std::string& key, const std::string& text);
  struct Unsupported {
    std::string reason;        // empty: no note
    std::string neutral = {};  // the value that needs no note
  };
  // Adds a note for each value that was not read. `unsupported` maps prefixes of keys to reasons;
  // the last matching prefix counts.
  void note_unread(const std::map<std::string, Unsupported>& unsupported);
  // Returns the notes in the order of the file's lines.
  std::vector<std::string> notes() const;

 private:
  struct Value {
    std::string text;
    int line = 0;
    bool is_null = false;
    bool is_read = false;
  };
  std::string location_and_value(const std::string& key) const;

  std::string name_;
  std::map<std::string, Value> values_;
  std::vector<std::pair<int, std::string>> notes_;
};

// Converts a configuration section by section.
class Conversion {
 public:
  Conversion(std::string_view text, const std::string& name) : joey_(text, name) {}

  Converted run();

 private:
  // Stores a number, word or flag as written. The check of the converted configuration reports
  // wrong values.
  void put(const std::string& key, const std::string& value);
  void put(const std::string& key, double value) { converted_[key] = to_yaml(value); }
  void put_integer(const std::string& key, double value);
  void put_text(const std::string& key, const std::string& value) {
    converted_[key] = to_yaml(value);
  }
  void put_flag(const std::string& key, bool value) { converted_[key] = to_yaml(value); }

  void copy_value(const std::string& from, const std::string& to, const std::string& fallback) {
    put(to, joey_.take(from, fallback));
  }

  // Returns the larger value of both sides, for keys that regard has once. Notes the other value.
  struct Side {
    std::string key;
    double fallback = 0;
  };
  double take_larger(const Side& src, const Side& trg);

  void top();
  void data();
  void tokenizer();
  void vocabulary(const std::string& level);
  void sentencepiece_models();
  void normalisation();
  void model();
  void convert_layers(const std::string& name);
  void recurrent(const std::string& name);
  void transformer(const std::string& name);
  void dropout();
  void tying();
  void training();
  void schedule();
  void validation();
  void testing();

  JoeyFile joey_;
  std::map<std::string, std::string> converted_;  // keys of regard with their YAML values
  bool transformer_decoder_ = false;
};

}  // namespace regard
