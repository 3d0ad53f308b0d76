#include "agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/random.h"
#include "clause.h"

namespace regard::corpus {
namespace {

// Draws pairs; of the class Grammar it needs no state.
class Pairs {
 public:
  explicit Pairs(std::uint64_t seed) : random_(seed, 2) {}

  // Draws a pair whose relative clause has some number of words.
  AgreementPair draw(bool has_clause) {
    const Noun& subject =
        pick(nouns(), [](const Noun& n) { return (n.kinds & animate) && !n.mass; });
    const bool plural = random_.below(2) == 0;
    // The past of these verbs is the passé composé with avoir: only its auxiliary shows the number.
    const Verb& verb = pick(verbs(), [&](const Verb& v) {
      const bool bare = v.frame == Frame::intransitive || v.frame == Frame::optional;
      return bare && v.aspect != Aspect::state && v.auxiliary == Auxiliary::avoir &&
             (v.subjects & subject.kinds) && form(v.en, 0) != form(v.en, 3);
    });
    Draft draft;
    AgreementPair pair;
    NounPhrase antecedent = noun_phrase({&determiner("the"), {}, &subject, plural}, draft);
    if (has_clause) {
      const Phrase relative = relative_clause(antecedent, subject, pair.is_attracted, draft);
      pair.words = relative.en.size();
      antecedent.words += relative;
    }
    ClauseSpec spec{.subject = antecedent, .verb = &verb, .time = Time::past};
    Draft other = draft;
    pair.sentence = finish(clause(spec, draft), ".", draft);
    spec.subject.agreement.plural = !plural;
    pair.wrong = finish(clause(spec, other), ".", other).fr;
    return pair;
  }

 private:
  template <typename Row, typename Fits>
  const Row& pick(std::span<const Row> rows, Fits fits) {
    std::vector<const Row*> fitting;
    for (const Row& row : rows) {
      if (fits(row)) fitting.push_back(&row);
    }
    if (fitting.empty()) throw std::logic_error("agreement: no row of the lexicon fits");
    return *fitting[random_.below(fitting.size())];
  }
  bool chance(int percent) { return static_cast<int>(random_.below(100)) < percent; }

  NounPhrase described(const Noun& noun, bool plural, Draft& draft) {
    NounSpec spec{&determiner("the"), {}, &noun, plural};
    const auto fits = [&](const Adjective& a) { return (a.kinds & noun.kinds) && a.before; };
    const auto all = adjectives();
    if (chance(50) && std::any_of(all.begin(), all.end(), fits)) {
      spec.adjectives.push_back(&pick(all, fits));
    }
    return noun_phrase(spec, draft);
  }

  // "that the old woman knew in the garden": the imparfait of a state agrees with its own subject,
  // and with nothing else.
  Phrase relative_clause(const NounPhrase& antecedent, const Noun& noun, bool& is_attracted,
                         Draft& draft) {
    const Verb& verb = pick(verbs(), [&](const Verb& v) {
      return v.frame == Frame::transitive && v.aspect == Aspect::state &&
             (v.objects & noun.kinds) && form(v.en, 0) != "have";
    });
    ClauseSpec spec{};
    spec.verb = &verb;
    spec.time = Time::past;
    if (chance(30)) {
      spec.subject = noun_phrase(
          pick(pronouns(), [](const Pronoun& p) { return p.person == 3 && (p.kinds & person); }),
          draft);
    } else {
      const Noun& other =
          pick(nouns(), [](const Noun& n) { return (n.kinds & person) && !n.mass; });
      spec.subject = described(other, chance(50), draft);
    }
    is_attracted = spec.subject.agreement.plural != antecedent.agreement.plural;
    spec.antecedent = antecedent;
    if (chance(50)) {
      const Preposition& preposition = pick(prepositions(), [](const Preposition& p) {
        return std::string_view(p.en).find(' ') == std::string_view::npos;
      });
      const Noun& place =
          pick(nouns(), [&](const Noun& n) { return (n.kinds & preposition.kinds) && !n.mass; });
      spec.tail = translate(preposition.en, preposition.fr, draft);
      spec.tail += noun_phrase({&determiner("the"), {}, &place, false}, draft).words;
    }
    return clause(spec, draft);
  }

  Random random_;
};

}  // namespace

std::vector<AgreementPair> agreement_pairs(std::size_t n, std::uint64_t seed) {
  Pairs pairs(seed);
  std::vector<AgreementPair> all;
  std::set<std::string> seen;
  for (const auto words : agreement_distances) {
    constexpr std::size_t max_draws = 10000;  // for each pair
    std::size_t found = 0;
    for (std::size_t draws = 0; found < n; ++draws) {
      if (draws == n * max_draws) {
        throw EnvironmentError(
            "found only {} distinct pairs with relative clauses of {} words, "
            "expected {}; ask for fewer",
            found, words, n);
      }
      auto pair = pairs.draw(words > 0);
      if (pair.words != words || !seen.insert(line(pair.sentence.en)).second) continue;
      all.push_back(std::move(pair));
      ++found;
    }
  }
  return all;
}

void write(const std::vector<AgreementPair>& pairs, const std::string& directory) {
  const std::filesystem::path folder(directory);
  const auto write_lines = [&](const char* name, const auto& text) {
    std::ofstream file(folder / name, std::ios::binary);
    for (const auto& pair : pairs) file << text(pair) << '\n';
    file.flush();
    if (!file) throw EnvironmentError("{}: cannot be written", (folder / name).string());
  };
  write_lines("agreement.en", [](const auto& pair) { return line(pair.sentence.en); });
  write_lines("agreement.fr", [](const auto& pair) { return line(pair.sentence.fr); });
  write_lines("agreement_wrong.fr", [](const auto& pair) { return line(pair.wrong); });
  write_lines("agreement.tsv", [](const auto& pair) {
    return fmt::format("{}\t{}", pair.words, pair.is_attracted ? 1 : 0);
  });
}

}  // namespace regard::corpus
