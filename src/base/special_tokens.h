// Token ids that are the same in every vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace regard {

constexpr std::int32_t pad_id = 0;  // <pad>: padding of a batch
constexpr std::int32_t unk_id = 1;  // <unk>: a token outside the vocabulary
constexpr std::int32_t bos_id = 2;  // <s>: the first decoder input
constexpr std::int32_t eos_id = 3;  // </s>: end of sentence
constexpr std::int32_t special_count = 4;
constexpr std::array<std::string_view, special_count> special_names = {"<pad>", "<unk>", "<s>",
                                                                       "</s>"};

// The target tokens of a pointer network are source positions: position p (0-based) has the id
// first_position_id + p. The last position, the source's </s>, has eos_id instead. The outputs are
// therefore <pad> <unk> <s> </s> 0 1 2 …
constexpr std::int32_t first_position_id = special_count;
static_assert(first_position_id == eos_id + 1);

}  // namespace regard
