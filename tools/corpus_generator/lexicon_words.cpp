// Adjectives, determiners, pronouns, names, prepositions, adverbs, conjunctions; and the lookup
// functions.
#include <sstream>
#include <stdexcept>

#include "lexicon.h"

namespace regard::corpus {
namespace {

constexpr unsigned any = person | animal | food | drink | text | thing | vehicle | place | inside |
                         opening | surface | show | sound | matter;
constexpr unsigned made = text | thing | vehicle | place | opening | show | sound;
constexpr unsigned solid = thing | vehicle | opening;

constexpr Adjective adjective_table[] = {
    // Before their noun.
    {"small", "petit petite petits petites", true, animate | solid | place | text},
    {"big", "grand grande grands grandes", true, animate | solid | place},
    {"beautiful", "beau belle beaux belles bel", true, animate | made},
    {"new", "nouveau nouvelle nouveaux nouvelles nouvel", true, made | matter},
    {"old", "vieux vieille vieux vieilles vieil", true, animate | made},
    {"young", "jeune jeune jeunes jeunes", true, animate},
    {"good", "bon bonne bons bonnes", true, food | drink | text | show | sound | matter},
    {"bad", "mauvais mauvaise mauvais mauvaises", true, food | text | show | matter},
    {"pretty", "joli jolie jolis jolies", true, thing | place | sound},
    // After their noun.
    {"red", "rouge rouge rouges rouges", false, solid},
    {"green", "vert verte verts vertes", false, solid},
    {"blue", "bleu bleue bleus bleues", false, solid},
    {"black", "noir noire noirs noires", false, solid | animal},
    {"white", "blanc blanche blancs blanches", false, solid | animal},
    {"happy", "heureux heureuse heureux heureuses", false, animate},
    {"sad", "triste triste tristes tristes", false, animate | text | show | sound},
    {"tired", "fatigué fatiguée fatigués fatiguées", false, animate},
    {"rich", "riche riche riches riches", false, person},
    {"strong", "fort forte forts fortes", false, animate},
    {"intelligent", "intelligent intelligente intelligents intelligentes", false, animate},
    {"curious", "curieux curieuse curieux curieuses", false, animate},
    {"dangerous", "dangereux dangereuse dangereux dangereuses", false, animal | vehicle | place},
    {"famous", "célèbre célèbre célèbres célèbres", false, person | text | place | show | sound},
    {"honest", "honnête honnête honnêtes honnêtes", false, person},
    {"French", "français française français françaises", false, person | made | food},
    {"Italian", "italien italienne italiens italiennes", false, person | made | food},
    {"expensive", "cher chère chers chères", false, food | drink | solid},
    {"heavy", "lourd lourde lourds lourdes", false, solid},
    {"broken", "cassé cassée cassés cassées", false, solid},
    {"interesting", "intéressant intéressante intéressants intéressantes", false,
     text | show | matter | place},
    {"strange", "étrange étrange étranges étranges", false, any},
    {"difficult", "difficile difficile difficiles difficiles", false, matter},
    {"easy", "facile facile faciles faciles", false, matter},
    {"hot", "chaud chaude chauds chaudes", false, food | drink},
    {"cold", "froid froide froids froides", false, food | drink},
    {"delicious", "délicieux délicieuse délicieux délicieuses", false, food | drink},
    {"modern", "moderne moderne modernes modernes", false, vehicle | place},
    {"quiet", "tranquille tranquille tranquilles tranquilles", false, place | inside},
};

constexpr unsigned all_numbers = singular | plural | mass;

constexpr Determiner determiner_table[] = {
    {"the", "le la les", all_numbers},
    {"a", "un une -", singular},
    {"some", "- - des", plural | mass},
    {"this these", "ce cette ces cet cette", all_numbers},
    {"that those", "ce cette ces cet cette", all_numbers},
    {"my", "mon ma mes mon mon", all_numbers},
    {"your", "votre votre vos", all_numbers},
    {"his", "son sa ses son son", all_numbers},
    {"her", "son sa ses son son", all_numbers},
    {"our", "notre notre nos", all_numbers},
    {"their", "leur leur leurs", all_numbers},
    {"every", "chaque chaque -", singular},
    {"all", "- - -", plural},  // "all the": tous les, toutes les
    {"many", "- - beaucoup", plural},
    {"several", "- - plusieurs", plural},
    {"two", "- - deux", plural},
    {"three", "- - trois", plural},
    {"four", "- - quatre", plural},
    {"five", "- - cinq", plural},
    {"eight", "- - huit", plural},
    {"ten", "- - dix", plural},
};

constexpr unsigned not_person = any & ~person;

constexpr Pronoun pronoun_table[] = {
    {"I me", "je me me", 1, false, false, person},
    {"you you", "vous vous vous", 2, true, false, person},
    {"he him", "il le lui", 3, false, false, person},
    {"she her", "elle la lui", 3, false, true, person},
    {"it it", "il le -", 3, false, false, not_person},
    {"we us", "nous nous nous", 1, true, false, person},
    {"they them", "ils les leur", 3, true, false, any},
};

constexpr Name name_table[] = {
    {"Paul", "Paul", false, person},  {"Marie", "Marie", true, person},
    {"Anna", "Anna", true, person},   {"Thomas", "Thomas", false, person},
    {"Julie", "Julie", true, person}, {"Louis", "Louis", false, person},
    {"Paris", "Paris", false, place}, {"London", "Londres", false, place},
    {"Rome", "Rome", false, place},
};

constexpr Preposition preposition_table[] = {
    {"in", "dans", inside},
    {"on", "sur", surface},
    {"under", "sous", surface},
    {"behind", "derrière", place | vehicle | surface},
    {"in front of", "devant", place | vehicle},
    {"near", "près de", place | vehicle | opening | surface},
    {"with", "avec", person},
};

constexpr Expression time_table[] = {
    {"today", "aujourd'hui/0"},
    {"now", "maintenant/0", now},
    {"every day", "tous/0 les/0 jours/1", now},
    {"in the evening", "le/1 soir/2", now},
    {"yesterday", "hier/0", before},
    {"last week", "la/0 semaine/1 dernière/0", before},
    {"tomorrow", "demain/0", later},
    {"next week", "la/0 semaine/1 prochaine/0", later},
};

constexpr Expression manner_table[] = {
    {"slowly", "lentement/0"},
    {"quickly", "rapidement/0"},
    {"quietly", "tranquillement/0"},
    {"here", "ici/0"},
};

constexpr Expression frequency_table[] = {
    {"often", "souvent/0"},
    {"always", "toujours/0"},
    {"sometimes", "parfois/0"},
    {"rarely", "rarement/0"},
};

constexpr Expression conjunction_table[] = {
    {"and", "et/0"},
    {"but", "mais/0"},
    {"because", "parce/0 que/0"},
    {"when", "quand/0", now | before},
    {"if", "si/0", now},
    {"while", "pendant/0 que/0", now | before},
};

constexpr std::string_view aspirated_table[] = {"hache", "haut", "héros", "hibou", "huit"};

template <typename Row>
const Row& find(std::span<const Row> rows, std::string_view en) {
  for (const Row& row : rows)
    if (form(row.en, 0) == en) return row;
  throw std::out_of_range("no such word in the lexicon: " + std::string(en));
}

}  // namespace

std::span<const Adjective> adjectives() {
  return adjective_table;
}
std::span<const Determiner> determiners() {
  return determiner_table;
}
std::span<const Pronoun> pronouns() {
  return pronoun_table;
}
std::span<const Name> names() {
  return name_table;
}
std::span<const Preposition> prepositions() {
  return preposition_table;
}
std::span<const Expression> time_adverbs() {
  return time_table;
}
std::span<const Expression> manner_adverbs() {
  return manner_table;
}
std::span<const Expression> frequency_adverbs() {
  return frequency_table;
}
std::span<const Expression> conjunctions() {
  return conjunction_table;
}
std::span<const std::string_view> aspirated_stems() {
  return aspirated_table;
}

std::string form(std::string_view forms, int index) {
  std::istringstream words{std::string(forms)};
  std::string word;
  for (int i = 0; i <= index; ++i)
    if (!(words >> word)) return "";
  return word;
}

const Noun& noun(std::string_view en) {
  return find(nouns(), en);
}
const Adjective& adjective(std::string_view en) {
  return find(adjectives(), en);
}
const Pronoun& pronoun(std::string_view en) {
  return find(pronouns(), en);
}
const Determiner& determiner(std::string_view en) {
  return find(determiners(), en);
}

const Verb& verb(std::string_view en, std::string_view fr) {
  if (fr.empty()) return find(verbs(), en);
  for (const Verb& row : verbs())
    if (form(row.en, 0) == en && row.fr == fr) return row;
  throw std::out_of_range("no such verb in the lexicon: " + std::string(en));
}

}  // namespace regard::corpus
