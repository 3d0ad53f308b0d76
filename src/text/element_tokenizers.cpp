#include "text/element_tokenizers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/counted.h"
#include "base/error.h"
#include "text/utf8.h"
#include "text/vocabulary.h"
#include "text/words.h"

namespace regard {
namespace {

template <typename Number>
bool read(std::string_view text, Number& number) {
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

class NumbersTokenizer : public Tokenizer {
 public:
  explicit NumbersTokenizer(std::int64_t width) : width_(width) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    return std::vector<std::int32_t>(words(text).size(), special_count);
  }
  std::vector<float> numbers(std::string_view text) const override {
    std::vector<float> all;
    for (const std::string_view word : words(text)) {
      add(word, all);
      all.push_back(0);
    }
    all.insert(all.end(), static_cast<std::size_t>(width_), 0);
    all.push_back(1);
    return all;
  }
  std::vector<std::string> pieces(std::string_view text) const override {
    const auto found = words(text);
    return {found.begin(), found.end()};
  }
  bool reads_elements() const override { return true; }
  std::string decode(std::span<const std::int32_t> /*ids*/) const override { return {}; }
  std::string token(std::int32_t /*id*/) const override { return "#"; }
  std::int64_t size() const override { return special_count + 1; }
  std::string serialized() const override { return {}; }

 private:
  void add(std::string_view word, std::vector<float>& all) const {
    std::int64_t found = 0;
    for (std::size_t begin = 0; begin <= word.size(); ++found) {
      const std::size_t comma = std::min(word.find(',', begin), word.size());
      float number = 0;
      if (!read(word.substr(begin, comma - begin), number) || !std::isfinite(number)) {
        throw InputError("`{}` is no vector of numbers, as in 0.5,-2 (model.encoder.numbers)",
                         excerpt(word));
      }
      all.push_back(number);
      begin = comma + 1;
    }
    if (found != width_) {
      throw InputError("`{}` has {}, wanted {} (model.encoder.numbers)", excerpt(word),
                       counted(found, "number"), width_);
    }
  }

  std::int64_t width_;
};

class PositionsTokenizer : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const std::string_view word : words(text)) {
      std::int32_t position = 0;
      if (!read(word, position) || position < 0 ||
          position > std::numeric_limits<std::int32_t>::max() - first_position_id) {
        throw InputError("`{}` is no position of the source, a whole number counted from 0",
                         excerpt(word));
      }
      ids.push_back(first_position_id + position);
    }
    return ids;
  }
  bool reads_elements() const override { return true; }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id >= special_count) text += (text.empty() ? "" : " ") + token(id);
    }
    return text;
  }
  std::string token(std::int32_t id) const override {
    return id < special_count ? std::string(special_name(id))
                              : std::to_string(id - first_position_id);
  }
  std::int64_t size() const override { return special_count; }
  std::string serialized() const override { return {}; }
};

}  // namespace

std::unique_ptr<Tokenizer> make_numbers(std::int64_t width) {
  return std::make_unique<NumbersTokenizer>(width);
}

std::unique_ptr<Tokenizer> make_positions() {
  return std::make_unique<PositionsTokenizer>();
}

}  // namespace regard
