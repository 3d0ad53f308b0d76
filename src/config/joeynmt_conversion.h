// Reads a configuration of JoeyNMT and converts its sections. Private to config/. joeynmt.cpp
// defines JoeyFile and the helpers of Conversion, joeynmt_conversion.cpp the conversion of each
// section.
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
  // The functions below return `fallback` if the key is missing or null.
  std::string take(const std::string& key, const std::string& fallback);
  std::string take_lower(const std::string& key, const std::string& fallback);
  // Accepts the booleans of Python and YAML. Adds a note and returns `fallback` for other text.
  bool take_flag(const std::string& key, bool fallback);
  // Adds a note and returns `fallback` if the value is not a number.
  double take_number(const std::string& key, double fallback);
  // Marks a key as read, so that note_unread() does not report it.
  void mark_read(const std::string& key) { take(key); }

  // Adds a note about a key, if the file has it.
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

// Converts a configuration section by section.
class Conversion {
 public:
  Conversion(std::string_view text, const std::string& name) : joey_(text, name) {}

  Converted run();

 private:
  // The put functions store a value for a key of regard. This one stores a number, word or flag as
  // written in JoeyNMT's file; the check of the converted configuration reports wrong values.
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

  // Returns the larger of the values for source and target, for options that regard has only once.
  // Adds a note about the smaller value.
  struct Side {
    std::string key;
    double fallback = 0;
  };
  double take_larger(const Side& src, const Side& trg);

  // Each function converts one section or topic. `name` is "encoder" or "decoder"; `level` is
  // JoeyNMT's data.src.level: bpe, word or char.
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
