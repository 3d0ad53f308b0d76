// The ids that mean the same in every vocabulary of every model.
#pragma once

#include <cstdint>

namespace regard {

constexpr std::int32_t pad_id = 0;  // <pad>: fills up a batch
constexpr std::int32_t unk_id = 1;  // <unk>: what the vocabulary does not have
constexpr std::int32_t bos_id = 2;  // <s>: what the decoder is fed first
constexpr std::int32_t eos_id = 3;  // </s>: ends each sentence
constexpr std::int32_t special_count = 4;

// Where a position of the source is what a target says, p, counted from 0, is the token
// first_position_id + p; that of the source's </s> is eos_id, the one right before them.
constexpr std::int32_t first_position_id = special_count;
static_assert(first_position_id == eos_id + 1);

}  // namespace regard
