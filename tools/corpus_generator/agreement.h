// Sentence pairs that test the agreement of subject and verb at a distance (Linzen, Dupoux,
// Goldberg 2016; Sennrich 2017): "The dogs that the old woman knew slept ." has the translation
// "Les chiens que la vieille femme connaissait ont dormi ." The English verb, in the past, does not
// show the number; the French one does, and the noun nearest to it may have the other number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phrase.h"

namespace regard::corpus {

struct AgreementPair {
  Sentence sentence;
  std::vector<std::string> wrong;  // the French with the verb in the other number
  std::size_t words = 0;           // English words of the relative clause; 0: there is none
  bool is_attracted = false;       // the subject of the relative clause has the other number
};

// The numbers of words for which there are pairs: a relative clause that shows the number of the
// antecedent nowhere has at least three, "that she knew".
inline constexpr std::size_t agreement_distances[] = {0, 3, 4, 5, 6, 7, 8};

// Returns n distinct pairs for each number of words, in this order.
std::vector<AgreementPair> agreement_pairs(std::size_t n, std::uint64_t seed);

// Writes DIR/agreement.{en,fr}, DIR/agreement_wrong.fr, and DIR/agreement.tsv: the number of words
// and 1 if the pair is attracted, else 0. Throws EnvironmentError.
void write(const std::vector<AgreementPair>& pairs, const std::string& directory);

}  // namespace regard::corpus
