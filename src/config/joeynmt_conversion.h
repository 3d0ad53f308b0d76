// Converts the sections of a configuration of JoeyNMT 2 (Kreutzer, Bastings, Riezler 2019). Private
// to config/.
#pragma once

#include <string>
#include <string_view>

#include "config/foreign_config.h"

namespace regard {

// Converts a configuration section by section.
class JoeyConversion : private ForeignConversion {
 public:
  // Throws ConfigError unless the text is a configuration of JoeyNMT 2.
  JoeyConversion(std::string_view text, const std::string& name);

  Converted run();

 private:
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

  bool transformer_decoder_ = false;
};

}  // namespace regard
