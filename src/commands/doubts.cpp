#include "commands/doubts.h"

#include "base/counted.h"
#include "base/log.h"

namespace regard {

void Doubts::look_at(const Translation& translation) {
  if (translation.hypotheses.empty()) return;
  const auto length = static_cast<std::int64_t>(translation.source_tokens.size()) - 1;
  ++sentences_;
  too_long_ += length > options_.data.max_length;
  cut_off_ += !translation.hypotheses[0].finished;
}

void Doubts::log() const {
  if (too_long_ > 0) {
    log::warning("longer than anything in training (data.max_length, {}): {} of {}",
                 counted(options_.data.max_length, "token"), too_long_,
                 counted(sentences_, "sentence"));
  }
  if (cut_off_ > 0) {
    log::warning(
        "cut off at the greatest length (--max-output-length, --max-output-ratio): {} of {}",
        cut_off_, counted(sentences_, "translation"));
  }
}

}  // namespace regard
