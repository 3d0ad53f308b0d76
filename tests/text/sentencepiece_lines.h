// Lines for SentencePiece's own trainer, to train models with other settings than regard's.
#pragma once

#include <sentencepiece_trainer.h>

#include <string>
#include <vector>

#include "tests/text/lines.h"

namespace regard {

class SentencePieceLines : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_ = syllables(100);
  std::size_t next_ = 0;
};

}  // namespace regard
