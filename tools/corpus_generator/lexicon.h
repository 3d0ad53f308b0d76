// The lexicon of the corpus. To add a word, add a line to a table.
//
// The forms of a word are in one string, separated by spaces; form() returns one of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace regard::corpus {

// The kinds of a noun, which determine the verbs and adjectives that fit it. Bit flags.
enum Kind : unsigned {
  person = 1u << 0,
  animal = 1u << 1,
  food = 1u << 2,
  drink = 1u << 3,
  text = 1u << 4,      // can be read
  thing = 1u << 5,     // can be carried
  vehicle = 1u << 6,   // can be driven
  place = 1u << 7,     // one can go there
  inside = 1u << 8,    // one can be in it
  opening = 1u << 9,   // can be opened and closed
  surface = 1u << 10,  // things lie on it
  show = 1u << 11,     // can be watched
  sound = 1u << 12,    // can be listened to
  matter = 1u << 13,   // can be understood
  animate = person | animal,
  visible = person | animal | food | text | thing | vehicle | place,
};

struct Noun {
  const char* en;  // "man men"
  const char* fr;  // "homme hommes"
  bool feminine;
  unsigned kinds;
  bool mass = false;  // no plural and no "a": bread, water
};

struct Adjective {
  const char* en;
  const char* fr;  // "beau belle beaux belles", and "bel" if there is a form before vowels
  bool before;     // precedes its noun in French
  unsigned kinds;  // of the nouns that it can describe
};

enum class Auxiliary { avoir, etre, reflexive };
enum class Aspect {
  activity,  // "is eating"; "ate" is passé composé
  event,     // no progressive; "found" is passé composé
  state,     // no progressive; "knew" is imparfait
};
enum class Frame {
  intransitive,
  transitive,
  optional,  // with or without an object
  dative,    // the object is a person, in French with à: "il lui parle"
  giving,    // an object and a recipient
  saying,    // that + clause
  modal,     // an infinitive
  copula,    // an adjective
};

struct Verb {
  const char* en;              // "eat eats eating ate eaten"
  const char* en_preposition;  // before the object or infinitive: listen "to"
  const char* fr;              // infinitive, without "se"
  const char* present;         // six forms, or "" for a regular verb in -er
  const char* future;          // stem, or "" for the infinitive
  const char* participle;      // masculine singular, or "" for a regular verb in -er
  Auxiliary auxiliary;
  Aspect aspect;
  Frame frame;
  unsigned subjects;  // kinds
  unsigned objects;   // kinds; 0 without object
  const char* fr_preposition = "";
};

struct Pronoun {
  const char* en;  // subject, object
  const char* fr;  // subject, direct object, dative object
  int person;      // 1, 2, 3
  bool plural;
  bool feminine;
  unsigned kinds;
};

// The nouns that a determiner fits. Bit flags.
enum Number : unsigned { singular = 1, plural = 2, mass = 4 };

struct Determiner {
  const char* en;  // singular, and plural if it differs: "this these"
  // Masculine, feminine, plural, and masculine and feminine before vowels if they differ.
  const char* fr;
  unsigned numbers;
};

struct Name {
  const char* en;
  const char* fr;
  bool feminine;
  unsigned kinds;  // person, or place for a city
};

struct Preposition {
  const char* en;
  const char* fr;
  unsigned kinds;  // of the nouns that it takes
};

// The time of an event; adverbs of time list those that they fit. Bit flags.
enum Era : unsigned { now = 1, before = 2, later = 4 };

// A fixed expression. Each French word has the index of the English word that it translates:
// "last week" is "la/0 semaine/1 dernière/0".
struct Expression {
  const char* en;
  const char* fr;
  unsigned eras = now | before | later;
};

std::span<const Noun> nouns();
std::span<const Adjective> adjectives();
std::span<const Verb> verbs();
std::span<const Pronoun> pronouns();
std::span<const Determiner> determiners();
std::span<const Name> names();
std::span<const Preposition> prepositions();
std::span<const Expression> time_adverbs();
std::span<const Expression> manner_adverbs();
std::span<const Expression> frequency_adverbs();
std::span<const Expression> conjunctions();
// Stems of words with an aspirated h: "le hibou", not "l'hibou".
std::span<const std::string_view> aspirated_stems();

// Returns the index-th of the space-separated forms, or "" if there are fewer.
std::string form(std::string_view forms, int index);

// Find a word by its first English form. Throw std::out_of_range if it is not in the table.
const Noun& noun(std::string_view en);
const Adjective& adjective(std::string_view en);
const Verb& verb(std::string_view en, std::string_view fr = "");
const Pronoun& pronoun(std::string_view en);
const Determiner& determiner(std::string_view en);

}  // namespace regard::corpus
