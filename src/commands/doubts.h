// What a user should hear of once, at the end: lines longer than a model knows, translations cut
// off.
#pragma once

#include <cstdint>

#include "config/options.h"
#include "translation/translator.h"

namespace regard {

class Doubts {
 public:
  // The model's options must outlive this.
  explicit Doubts(const Options& options) : options_(options) {}

  void look_at(const Translation& translation);
  void log() const;

 private:
  const Options& options_;
  std::int64_t sentences_ = 0;
  std::int64_t too_long_ = 0;
  std::int64_t cut_off_ = 0;
};

}  // namespace regard
