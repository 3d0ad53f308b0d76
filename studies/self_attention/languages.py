"""Finds nouns with their adjectives, and pronouns with their nouns, in English and French captions, by closed lists of
words. A sentence that the lists do not decide is skipped, not guessed at."""

MALE, FEMALE, PLURAL = "male", "female", "plural"


def _words(text, value=None):
    return set(text.split()) if value is None else dict.fromkeys(text.split(), value)


class Language:
    """The words of a language. `adjective_place` is the usual place of an adjective, 1 after the noun or -1 before it;
    `adjectives` stand there, `before` are those before the noun. `nouns` are people, with what they can be, and
    `pronouns` have what they can stand for."""

    def __init__(self, adjective_place, determiners, before, after, function_words, nouns, pronouns):
        self.adjective_place = adjective_place
        self.determiners = determiners
        self.before = before
        self.adjectives = after if adjective_place > 0 else before
        self.function_words = function_words | determiners
        self.nouns = nouns
        self.pronouns = pronouns

    def pronouns_with_nouns(self, words):
        """Returns pairs (pronoun, noun) of positions, where the sentence names exactly one person or group, before
        the pronoun and in agreement with it."""
        nouns = [i for i, word in enumerate(words) if word in self.nouns]
        if len(nouns) != 1:
            return []
        noun = nouns[0]
        kinds = self.nouns[words[noun]]
        return [(i, noun) for i, word in enumerate(words) if i > noun and self.pronouns.get(word, set()) & kinds]

    def nouns_in_phrases(self, words):
        """Returns (noun, neighbour, has_adjective) for the noun after each determiner: the positions of the noun and
        of the word where its adjective stands, and true if one does."""
        found = []
        for begin, word in enumerate(words):
            if word not in self.determiners:
                continue
            noun = begin + 1
            while noun < len(words) and words[noun] in self.before:
                noun += 1
            neighbour = noun + self.adjective_place
            if max(noun, neighbour) < len(words) and words[noun] not in self.function_words:
                found.append((noun, neighbour, words[neighbour] in self.adjectives))
        return found


ENGLISH = Language(
    adjective_place=-1,
    determiners=_words("a an the this that his her their its two three four five six some several many"),
    before=_words(
        """young old older elderly little small large big tall short long blond blonde dark bald black white red blue
        green yellow orange purple pink brown gray grey tan colorful bright light snowy wooden plastic metal leather
        brick sandy grassy rocky dirty wet busy crowded empty open asian happy smiling shirtless bearded beautiful
        pretty nice public outdoor other dirt striped plaid hooded"""
    ),
    after=set(),
    function_words=_words(
        """and or but with in on at of to from by for near into over under through while as is are was were be being
        has have who which , . ; : ! ? " ' - not up down out off along behind around across next between against
        during one"""
    ),
    nouns={
        **_words("man boy guy gentleman father son brother grandfather fireman policeman", {MALE}),
        **_words("woman girl lady mother daughter sister grandmother bride", {FEMALE}),
        **_words(
            """child kid baby toddler person player worker teenager skateboarder surfer biker cyclist rider skier
            snowboarder climber runner swimmer dancer musician singer guitarist drummer artist chef cook vendor
            student teacher officer soldier farmer athlete gymnast pitcher batter performer skater bicyclist hiker""",
            {MALE, FEMALE},
        ),
        **_words(
            """men women boys girls guys ladies people children kids babies players workers couple friends teenagers
            musicians students dancers adults soldiers""",
            {PLURAL},
        ),
    },
    pronouns={
        **_words("his he him himself", {MALE}),
        **_words("her she hers herself", {FEMALE}),
        **_words("their they them themselves", {PLURAL}),
    },
)

FRENCH = Language(
    adjective_place=1,
    determiners=_words("un une le la l' les des du ce cet cette ces son sa ses leur leurs deux trois quatre cinq"),
    before=_words("jeune jeunes petit petite petits petites grand grande grands grandes gros grosse vieux vieille"
                  " vieil beau belle bel beaux belles autre autres"),
    after=_words(
        """rouge rouges bleu bleue bleus bleues vert verte verts vertes jaune jaunes noir noire noirs noires blanc
        blanche blancs blanches orange rose roses violet violette gris grise marron brun brune brunes bruns blond
        blonde blonds blondes âgé âgée âgés âgées asiatique asiatiques chauve chauves public publique ouvert ouverte
        rayé rayée mouillé mouillée enneigé enneigée rocheux rocheuse boueux boueuse métallique coloré colorée
        colorés colorées sombre clair claire"""
    ),
    function_words=_words(
        """et ou mais avec dans sur à au aux de d' en par pour près sous vers est sont qui que qu' , . ; : ! ? " ' -
        ne pas se s' il elle ils elles chez entre contre derrière devant pendant tandis alors comme"""
    ),
    nouns={
        **_words("homme garçon monsieur père fils frère pompier policier joueur skateur surfeur cycliste", {MALE}),
        **_words("femme fille fillette dame mère sœur joueuse mariée", {FEMALE}),
        **_words("enfant bébé personne adolescent musicien chanteur guitariste artiste athlète travailleur ouvrier"
                 " étudiant nageur grimpeur coureur skieur danseur danseuse chanteuse", {MALE, FEMALE}),
        **_words("hommes femmes garçons filles enfants personnes gens joueurs adolescents amis couple ouvriers"
                 " musiciens étudiants adultes soldats", {PLURAL}),
    },
    pronouns={
        **_words("son sa ses", {MALE, FEMALE}),
        **_words("il lui-même", {MALE}),
        **_words("elle elle-même", {FEMALE}),
        **_words("leur leurs ils elles eux", {PLURAL}),
    },
)  # fmt: skip

LANGUAGES = {"en": ENGLISH, "fr": FRENCH}
