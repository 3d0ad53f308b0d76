// How a configuration of JoeyNMT's is carried over, section by section: joeynmt_data.cpp,
// joeynmt_model.cpp, joeynmt_training.cpp. Private to config/.
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
  // A number, a word or a flag, as it stands there: the check of what was made tells whether it
  // fits.
  void put(const std::string& key, const std::string& value);
  void put(const std::string& key, double value) { kept_[key] = to_yaml(value); }
  void put_whole(const std::string& key, double value);
  void put_text(const std::string& key, const std::string& value) { kept_[key] = to_yaml(value); }
  void put_flag(const std::string& key, bool value) { kept_[key] = to_yaml(value); }

  void carry(const std::string& from, const std::string& to, const std::string& otherwise) {
    put(to, joey_.take(from, otherwise));
  }

  // The larger of what both sides have, where regard has one value; the other is noted.
  struct Side {
    std::string key;
    double otherwise = 0;
  };
  double larger(const Side& src, const Side& trg);

  void top();
  void data();
  void tokenizer();
  void vocabulary(const std::string& level);
  void sentencepiece_models();
  void normalisation();
  void model();
  void side(const std::string& name);
  void recurrent(const std::string& name);
  void transformer(const std::string& name);
  void dropout();
  void tying();
  void training();
  void schedule();
  void validation();
  void testing();

  JoeyFile joey_;
  std::map<std::string, std::string> kept_;  // keys of regard, values in YAML
  bool transformer_decoder_ = false;
};

}  // namespace regard
