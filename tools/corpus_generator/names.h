// Random names and numbers, equal in both languages, which a closed vocabulary cannot contain. A
// part of them, selected by a hash, is never in training.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "phrase.h"

namespace regard::corpus {

enum class NameSplit { training, unseen };

// Returns a name such as "Belomar" or "Tiguda". Only names of women end in a.
std::string random_name(bool feminine, NameSplit split, Random& random);
// Returns a number from 11 to 9999 in digits.
std::string random_number(NameSplit split, Random& random);

// Replaces each name and number of the sentence, consistently in both languages, by one of `split`.
// Returns nullopt if the sentence has none, or if the French has another form ("d'Anna").
std::optional<Sentence> replace_names(const Sentence& sentence, NameSplit split, Random& random);

}  // namespace regard::corpus
