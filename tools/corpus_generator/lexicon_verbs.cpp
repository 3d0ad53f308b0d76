// Verbs: English "base third-person -ing past participle" and preposition; French infinitive,
// present, future stem and participle ("" if regular in -er); auxiliary, aspect, frame; kinds
// of its subjects and objects; French preposition.
#include "lexicon.h"

namespace regard::corpus {
namespace {

constexpr auto avoir = Auxiliary::avoir;
constexpr auto etre = Auxiliary::etre;
constexpr auto reflexive = Auxiliary::reflexive;
constexpr auto activity = Aspect::activity;
constexpr auto event = Aspect::event;
constexpr auto state = Aspect::state;
using enum Frame;

// clang-format off
constexpr Verb verb_table[] = {
    // Intransitive.
    {"sleep sleeps sleeping slept slept", "", "dormir", "dors dors dort dormons dormez dorment", "", "dormi", avoir, activity, intransitive, animate, 0},
    {"run runs running ran run", "", "courir", "cours cours court courons courez courent", "courr", "couru", avoir, activity, intransitive, animate, 0},
    {"work works working worked worked", "", "travailler", "", "", "", avoir, activity, intransitive, person, 0},
    {"dance dances dancing danced danced", "", "danser", "", "", "", avoir, activity, intransitive, person, 0},
    {"laugh laughs laughing laughed laughed", "", "rire", "ris ris rit rions riez rient", "", "ri", avoir, activity, intransitive, person, 0},
    {"cry cries crying cried cried", "", "pleurer", "", "", "", avoir, activity, intransitive, person, 0},
    {"travel travels travelling travelled travelled", "", "voyager", "", "", "", avoir, activity, intransitive, person, 0},
    {"walk walks walking walked walked", "", "promener", "promène promènes promène promenons promenez promènent", "promèner", "", reflexive, activity, intransitive, animate, 0},
    {"rest rests resting rested rested", "", "reposer", "", "", "", reflexive, activity, intransitive, animate, 0},
    {"stop stops stopping stopped stopped", "", "arrêter", "", "", "", reflexive, event, intransitive, animate | vehicle, 0},
    {"fall falls falling fell fallen", "", "tomber", "", "", "", etre, event, intransitive, animate | thing, 0},
    {"leave leaves leaving left left", "", "partir", "pars pars part partons partez partent", "", "parti", etre, activity, intransitive, animate | vehicle, 0},
    {"stay stays staying stayed stayed", "", "rester", "", "", "", etre, activity, intransitive, animate, 0},
    // To and from places.
    {"go goes going went gone", "to", "aller", "vais vas va allons allez vont", "ir", "", etre, activity, transitive, animate | vehicle, place, "à"},
    {"come comes coming came come", "from", "venir", "viens viens vient venons venez viennent", "viendr", "venu", etre, activity, transitive, animate, place, "de"},
    {"arrive arrives arriving arrived arrived", "at", "arriver", "", "", "", etre, event, optional, animate | vehicle, place, "à"},
    {"return returns returning returned returned", "to", "retourner", "", "", "", etre, event, transitive, animate, place, "à"},
    {"visit visits visiting visited visited", "", "visiter", "", "", "", avoir, activity, transitive, person, place},
    // With an optional object.
    {"watch watches watching watched watched", "", "regarder", "", "", "", avoir, activity, optional, animate, animate | vehicle | show},
    {"eat eats eating ate eaten", "", "manger", "", "", "", avoir, activity, optional, animate, food},
    {"drink drinks drinking drank drunk", "", "boire", "bois bois boit buvons buvez boivent", "", "bu", avoir, activity, optional, animate, drink},
    {"read reads reading read read", "", "lire", "lis lis lit lisons lisez lisent", "", "lu", avoir, activity, optional, person, text},
    {"write writes writing wrote written", "", "écrire", "écris écris écrit écrivons écrivez écrivent", "", "écrit", avoir, activity, optional, person, text},
    {"sing sings singing sang sung", "", "chanter", "", "", "", avoir, activity, optional, person, sound},
    {"wait waits waiting waited waited", "for", "attendre", "attends attends attend attendons attendez attendent", "", "attendu", avoir, activity, optional, person, person | vehicle},
    {"listen listens listening listened listened", "to", "écouter", "", "", "", avoir, activity, transitive, animate, person | sound},
    // With an object.
    {"look looks looking looked looked", "for", "chercher", "", "", "", avoir, activity, transitive, animate, animate | thing | text},
    {"buy buys buying bought bought", "", "acheter", "achète achètes achète achetons achetez achètent", "achèter", "", avoir, activity, transitive, person, food | drink | text | thing | vehicle},
    {"sell sells selling sold sold", "", "vendre", "vends vends vend vendons vendez vendent", "", "vendu", avoir, activity, transitive, person, food | drink | text | thing | vehicle},
    {"carry carries carrying carried carried", "", "porter", "", "", "", avoir, activity, transitive, person, thing | text},
    {"wash washes washing washed washed", "", "laver", "", "", "", avoir, activity, transitive, person, animal | vehicle},
    {"draw draws drawing drew drawn", "", "dessiner", "", "", "", avoir, activity, transitive, person, animate | thing | place},
    {"prepare prepares preparing prepared prepared", "", "préparer", "", "", "", avoir, activity, transitive, person, food | drink},
    {"cut cuts cutting cut cut", "", "couper", "", "", "", avoir, activity, transitive, person, food},
    {"open opens opening opened opened", "", "ouvrir", "ouvre ouvres ouvre ouvrons ouvrez ouvrent", "", "ouvert", avoir, activity, transitive, person, opening},
    {"close closes closing closed closed", "", "fermer", "", "", "", avoir, activity, transitive, person, opening},
    {"follow follows following followed followed", "", "suivre", "suis suis suit suivons suivez suivent", "", "suivi", avoir, activity, transitive, animate, animate | vehicle},
    {"help helps helping helped helped", "", "aider", "", "", "", avoir, activity, transitive, person, person},
    {"drive drives driving drove driven", "", "conduire", "conduis conduis conduit conduisons conduisez conduisent", "", "conduit", avoir, activity, transitive, person, vehicle},
    {"repair repairs repairing repaired repaired", "", "réparer", "", "", "", avoir, activity, transitive, person, vehicle | opening},
    {"learn learns learning learned learned", "", "apprendre", "apprends apprends apprend apprenons apprenez apprennent", "", "appris", avoir, activity, transitive, person, matter},
    {"dream dreams dreaming dreamed dreamed", "of", "rêver", "", "", "", avoir, activity, transitive, person, person | vehicle | place, "de"},
    {"see sees seeing saw seen", "", "voir", "vois vois voit voyons voyez voient", "verr", "vu", avoir, event, transitive, animate, visible | show},
    {"find finds finding found found", "", "trouver", "", "", "", avoir, event, transitive, animate, animate | thing | text | food},
    {"lose loses losing lost lost", "", "perdre", "perds perds perd perdons perdez perdent", "", "perdu", avoir, event, transitive, person, thing | text | animal},
    {"forget forgets forgetting forgot forgotten", "", "oublier", "", "", "", avoir, event, transitive, person, person | thing | text | matter},
    {"take takes taking took taken", "", "prendre", "prends prends prend prenons prenez prennent", "", "pris", avoir, event, transitive, person, thing | text | food | vehicle},
    {"choose chooses choosing chose chosen", "", "choisir", "choisis choisis choisit choisissons choisissez choisissent", "", "choisi", avoir, event, transitive, person, thing | text | food | vehicle},
    {"hear hears hearing heard heard", "", "entendre", "entends entends entend entendons entendez entendent", "", "entendu", avoir, event, transitive, animate, animate | vehicle | sound},
    {"meet meets meeting met met", "", "rencontrer", "", "", "", avoir, event, transitive, person, person},
    {"understand understands understanding understood understood", "", "comprendre", "comprends comprends comprend comprenons comprenez comprennent", "", "compris", avoir, event, transitive, person, person | matter},
    {"love loves loving loved loved", "", "aimer", "", "", "", avoir, state, transitive, animate, person | animal | food | drink | place | sound | show},
    {"know knows knowing knew known", "", "connaître", "connais connais connaît connaissons connaissez connaissent", "", "connu", avoir, state, transitive, person, person | place | sound | show},
    {"have has having had had", "", "avoir", "ai as a avons avez ont", "aur", "eu", avoir, state, transitive, person, animal | thing | vehicle | text},
    {"hate hates hating hated hated", "", "détester", "", "", "", avoir, state, transitive, animate, person | animal | food | drink | place | show},
    // To a person.
    {"speak speaks speaking spoke spoken", "to", "parler", "", "", "", avoir, activity, dative, person, person, "à"},
    {"answer answers answering answered answered", "", "répondre", "réponds réponds répond répondons répondez répondent", "", "répondu", avoir, event, dative, person, person, "à"},
    {"obey obeys obeying obeyed obeyed", "", "obéir", "obéis obéis obéit obéissons obéissez obéissent", "", "obéi", avoir, event, dative, animate, person, "à"},
    {"give gives giving gave given", "", "donner", "", "", "", avoir, activity, giving, person, thing | text | food | drink | animal},
    {"show shows showing showed shown", "", "montrer", "", "", "", avoir, activity, giving, person, thing | text | vehicle | animal},
    {"send sends sending sent sent", "", "envoyer", "envoie envoies envoie envoyons envoyez envoient", "enverr", "", avoir, activity, giving, person, thing | text},
    {"bring brings bringing brought brought", "", "apporter", "", "", "", avoir, activity, giving, person, thing | text | food | drink},
    // With a that-clause.
    {"say says saying said said", "that", "dire", "dis dis dit disons dites disent", "", "dit", avoir, event, saying, person, 0},
    {"think thinks thinking thought thought", "that", "penser", "", "", "", avoir, state, saying, person, 0},
    {"know knows knowing knew known", "that", "savoir", "sais sais sait savons savez savent", "saur", "su", avoir, state, saying, person, 0},
    {"hope hopes hoping hoped hoped", "that", "espérer", "espère espères espère espérons espérez espèrent", "", "", avoir, state, saying, person, 0},
    // With an infinitive.
    {"can can - could -", "", "pouvoir", "peux peux peut pouvons pouvez peuvent", "pourr", "pu", avoir, state, modal, animate, 0},
    {"must must - - -", "", "devoir", "dois dois doit devons devez doivent", "devr", "dû", avoir, state, modal, animate, 0},
    {"want wants wanting wanted wanted", "to", "vouloir", "veux veux veut voulons voulez veulent", "voudr", "voulu", avoir, state, modal, animate, 0},
    {"like likes liking liked liked", "to", "aimer", "", "", "", avoir, state, modal, animate, 0},
    {"be is being was been", "", "être", "suis es est sommes êtes sont", "ser", "été", avoir, state, copula, ~0u, 0},
};
// clang-format on

}  // namespace

std::span<const Verb> verbs() {
  return verb_table;
}

}  // namespace regard::corpus
