// The parts that a configuration may have, and which of them read a key. A field of an option
// struct names its readers once; the check for unused keys, help, documentation, schema and writer
// follow from it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

struct Options;
struct AttentionOptions;
enum class AttentionKind;

// A part of a model or of a training. `every`: every configuration has it. config/parts.cpp says
// when the others exist.
enum class Part {
  every,
  // model.kind
  translation,
  encoder,
  decoder,
  // model.encoder
  recurrent_encoder,
  sequence_encoder,
  convolutional_encoder,
  gru_encoder,
  one_direction,
  encoder_self_attention,
  encoder_positions,
  // model.decoder
  recurrent_decoder,
  transformer_decoder,
  gru_decoder,
  decoder_positions,
  // model.attention, model.output, model.dropout
  gumbel,
  reinforce,
  pointer,
  attention_weights,
  // data, training, search
  features,
  masking,
  hallucination,
  minimum_risk,
  samples,
  beam_groups,
};

// The readers of a key: a configuration that has all of `parts` and, if there are any `attentions`,
// one of these kinds as model.attention.kind, or as the model.attention.score of a kind with a
// content score. Others may set the key too if it is_lenient. What reads the section of the key is
// not repeated here.
struct Readers {
  std::array<Part, 3> parts{};
  std::uint32_t attentions = 0;  // a bit for each AttentionKind
  bool is_lenient = false;

  constexpr bool has(AttentionKind kind) const {
    return (attentions >> static_cast<unsigned>(kind) & 1) != 0;
  }
};

// Returns the readers for a field: only(Part::features, Part::recurrent_encoder), or
// only(AttentionKind::hard, Part::gumbel).
template <typename... All>
constexpr Readers only(All... all) {
  Readers readers;
  std::size_t count = 0;
  const auto add = [&](auto reader) {
    if constexpr (std::same_as<decltype(reader), Part>) {
      readers.parts.at(count++) = reader;
    } else {
      readers.attentions |= std::uint32_t{1} << static_cast<unsigned>(reader);
    }
  };
  (add(all), ...);
  return readers;
}
// As only(), but the key is no error for others.
template <typename... All>
constexpr Readers usually(All... all) {
  auto readers = only(all...);
  readers.is_lenient = true;
  return readers;
}

// True if the configuration has the part.
bool has_part(const Options& options, Part part);

// Returns why the configuration does not read a key of these readers, such as "only a recurrent
// encoder uses it", or "" if it reads the key.
std::string why_unread(const Options& options, const Readers& readers);

// As why_unread() is empty, for a key of model.attention whose section is read.
bool is_read(const AttentionOptions& options, const Readers& readers);

// Returns the help of a field, which begins with its readers: "gru: the reset gate …".
std::string full_help(const Readers& readers, std::string_view help);

// Sets each key that is an error in this configuration, because nothing reads it, to its default. A
// saved model may have others: the version that wrote it had other defaults.
void reset_unread(Options& options);

}  // namespace regard
