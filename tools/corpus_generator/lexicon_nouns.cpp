// Nouns: English singular and plural, French singular and plural, feminine or not, kinds.
#include "lexicon.h"

namespace regard::corpus {
namespace {

constexpr bool m = false;
constexpr bool f = true;

constexpr Noun noun_table[] = {
    // Persons.
    {"man men", "homme hommes", m, person},
    {"woman women", "femme femmes", f, person},
    {"boy boys", "garçon garçons", m, person},
    {"girl girls", "fille filles", f, person},
    {"child children", "enfant enfants", m, person},
    {"teacher teachers", "professeur professeurs", m, person},
    {"student students", "étudiant étudiants", m, person},
    {"doctor doctors", "médecin médecins", m, person},
    {"friend friends", "ami amis", m, person},
    {"neighbour neighbours", "voisin voisins", m, person},
    {"king kings", "roi rois", m, person},
    {"queen queens", "reine reines", f, person},
    {"farmer farmers", "fermier fermiers", m, person},
    {"mother mothers", "mère mères", f, person},
    {"father fathers", "père pères", m, person},
    {"brother brothers", "frère frères", m, person},
    {"sister sisters", "sœur sœurs", f, person},
    {"uncle uncles", "oncle oncles", m, person},
    {"aunt aunts", "tante tantes", f, person},
    {"artist artists", "artiste artistes", m, person},
    {"nurse nurses", "infirmière infirmières", f, person},
    {"hero heroes", "héros héros", m, person},
    {"actress actresses", "actrice actrices", f, person},
    // Animals.
    {"dog dogs", "chien chiens", m, animal},
    {"cat cats", "chat chats", m, animal},
    {"horse horses", "cheval chevaux", m, animal},
    {"bird birds", "oiseau oiseaux", m, animal},
    {"cow cows", "vache vaches", f, animal},
    {"rabbit rabbits", "lapin lapins", m, animal},
    {"mouse mice", "souris souris", f, animal},
    {"owl owls", "hibou hiboux", m, animal},
    {"elephant elephants", "éléphant éléphants", m, animal},
    {"wolf wolves", "loup loups", m, animal},
    // Food and drink.
    {"apple apples", "pomme pommes", f, food},
    {"cake cakes", "gâteau gâteaux", m, food},
    {"orange oranges", "orange oranges", f, food},
    {"egg eggs", "œuf œufs", m, food},
    {"sandwich sandwiches", "sandwich sandwichs", m, food},
    {"tomato tomatoes", "tomate tomates", f, food},
    {"bread -", "pain -", m, food, true},
    {"cheese -", "fromage -", m, food, true},
    {"soup -", "soupe -", f, food, true},
    {"meat -", "viande -", f, food, true},
    {"water -", "eau -", f, drink, true},
    {"milk -", "lait -", m, drink, true},
    {"coffee -", "café -", m, drink, true},
    {"tea -", "thé -", m, drink, true},
    // Things to read.
    {"book books", "livre livres", m, text},
    {"letter letters", "lettre lettres", f, text},
    {"newspaper newspapers", "journal journaux", m, text},
    {"story stories", "histoire histoires", f, text | matter},
    {"poem poems", "poème poèmes", m, text | matter},
    // Things.
    {"key keys", "clé clés", f, thing},
    {"bag bags", "sac sacs", m, thing | opening},
    {"hat hats", "chapeau chapeaux", m, thing},
    {"coat coats", "manteau manteaux", m, thing},
    {"dress dresses", "robe robes", f, thing},
    {"chair chairs", "chaise chaises", f, thing | surface},
    {"table tables", "table tables", f, thing | surface},
    {"bottle bottles", "bouteille bouteilles", f, thing | opening},
    {"box boxes", "boîte boîtes", f, thing | opening | surface},
    {"knife knives", "couteau couteaux", m, thing},
    {"axe axes", "hache haches", f, thing},
    {"umbrella umbrellas", "parapluie parapluies", m, thing | opening},
    {"flower flowers", "fleur fleurs", f, thing},
    {"clock clocks", "horloge horloges", f, thing},
    {"painting paintings", "tableau tableaux", m, thing},
    {"lamp lamps", "lampe lampes", f, thing},
    {"door doors", "porte portes", f, opening},
    {"window windows", "fenêtre fenêtres", f, opening},
    // Vehicles.
    {"car cars", "voiture voitures", f, vehicle},
    {"bus buses", "bus bus", m, vehicle},
    {"train trains", "train trains", m, vehicle},
    {"boat boats", "bateau bateaux", m, vehicle},
    {"plane planes", "avion avions", m, vehicle},
    // Places.
    {"house houses", "maison maisons", f, place | inside},
    {"garden gardens", "jardin jardins", m, place | inside},
    {"school schools", "école écoles", f, place | inside},
    {"market markets", "marché marchés", m, place},
    {"hotel hotels", "hôtel hôtels", m, place | inside},
    {"church churches", "église églises", f, place | inside},
    {"hospital hospitals", "hôpital hôpitaux", m, place | inside},
    {"street streets", "rue rues", f, inside},
    {"park parks", "parc parcs", m, place | inside},
    {"kitchen kitchens", "cuisine cuisines", f, inside},
    {"village villages", "village villages", m, place | inside},
    {"city cities", "ville villes", f, place | inside},
    {"forest forests", "forêt forêts", f, place | inside},
    {"beach beaches", "plage plages", f, place},
    {"station stations", "gare gares", f, place | inside},
    {"bridge bridges", "pont ponts", m, surface},
    {"restaurant restaurants", "restaurant restaurants", m, place | inside},
    {"castle castles", "château châteaux", m, place | inside},
    {"museum museums", "musée musées", m, place | inside},
    // Things to watch, to hear, to think.
    {"film films", "film films", m, show},
    {"song songs", "chanson chansons", f, sound | matter},
    {"music -", "musique -", f, sound, true},
    {"idea ideas", "idée idées", f, matter},
    {"question questions", "question questions", f, matter},
    {"problem problems", "problème problèmes", m, matter},
    {"lesson lessons", "leçon leçons", f, matter},
};

}  // namespace

std::span<const Noun> nouns() {
  return noun_table;
}

}  // namespace regard::corpus
