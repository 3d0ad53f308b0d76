// Converts the sections of a JoeyNMT configuration. Private to config/.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/joeynmt.h"
#include "config/joeynmt_file.h"
#include "config/scalar.h"

namespace regard {

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
