// Names and numbers without end, alike in both languages: what a closed vocabulary cannot hold.
//
// A hash sets a share of them aside: those are never in training.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "phrase.h"

namespace regard::corpus {

enum class Share { training, unseen };

// "Belomar", "Tiguda": names of women end in a, those of men and places do not.
std::string open_name(bool feminine, Share share, Random& random);
// 11 to 9999, in digits.
std::string open_number(Share share, Random& random);

// The sentence with each of its names and numbers replaced by one of the share, the same wherever
// it stands. Nothing where it has none, or where French has one in another form ("d'Anna").
std::optional<Sentence> renamed(const Sentence& sentence, Share share, Random& random);

}  // namespace regard::corpus
