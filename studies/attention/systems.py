"""The systems to compare, and the tasks."""

from cells import BUNDLED, SELF_ATTENTION, TRANSFORMER, System, multi30k, of_side


def attention(kind, *settings, name=None, remark="", query=None):
    """Returns the system with this model.attention.kind, these other keys of model.attention, and this query."""
    keys = tuple(f"model.attention.{setting}" for setting in (f"kind={kind}", *settings))
    if query:
        keys += (f"model.decoder.query={query}",)
    return System(name or kind, keys, remark)


SIZE = "size=256"  # for the kinds that have this option

# The query is that of the paper, which `auto` selects.
SYSTEMS = [
    attention("none"),
    attention("additive", SIZE),
    attention("concat", SIZE),
    attention("dot", query="new"),
    attention("scaled_dot", query="new"),
    attention("general", query="new"),
    attention("cosine"),
    attention("location", query="new"),
    attention("local_m", "window=5", remark="general, D = 5"),
    attention("local_p", "window=5", remark="general, D = 5"),
    attention("hard", "estimator=gumbel", remark="straight-through Gumbel"),
    attention(
        "hard",
        "estimator=reinforce",
        "anneal_steps={half}",
        name="hard_reinforce",
        remark="REINFORCE, soft attention over the first half",
    ),
    attention("ntm"),
    attention("multi_head", SIZE, "heads=4", remark="4 heads", query="new"),
    attention("coverage", SIZE),
    attention("monotonic", SIZE),
    attention("location_aware", SIZE),
    System(
        "transformer_encoder",
        (*of_side("encoder", *SELF_ATTENTION), "model.attention.size=256"),
        "self-attention instead of the recurrent encoder, additive attention",
    ),
    System("transformer", TRANSFORMER, "self-attention on both sides"),
]


def variant(kind, name, *settings):
    """Returns the system `kind` with these settings more or in place of its own."""
    of = next(system for system in SYSTEMS if system.name == kind)
    keys = [setting.split("=")[0] for setting in settings]
    kept = tuple(old for old in of.settings if old.split("=")[0] not in keys)
    return System(f"{kind}_{name}", kept + settings, name, variant_of=kind)


LAST = "model.decoder.query=last"
NEW = "model.decoder.query=new"
FEEDING = "model.decoder.input_feeding=true"

# The other query of each kind, and input feeding, which passes the context on if the query is the new state.
VARIANTS = [
    variant("additive", "new", NEW),
    variant("concat", "last", LAST),
    variant("dot", "last", LAST),
    variant("scaled_dot", "last", LAST),
    variant("general", "last", LAST),
    variant("cosine", "new", NEW),
    variant("location", "last", LAST),
    variant("local_m", "last", LAST),
    variant("local_p", "last", LAST),
    variant("hard", "new", NEW),
    variant("ntm", "new", NEW),
    variant("multi_head", "last", LAST),
    variant("coverage", "new", NEW),
    variant("monotonic", "new", NEW),
    variant("concat", "feeding", FEEDING),
    variant("dot", "feeding", FEEDING),
    variant("general", "feeding", FEEDING),
    variant("hard", "annealed", "model.attention.anneal_steps={half}"),
    variant("hard", "half_temperature", "model.attention.temperature=0.5"),
    variant("hard_reinforce", "at_once", "model.attention.anneal_steps=0"),
]


# In the order of training: the whole table once, then the second seeds.
TASKS = [multi30k("de", "en", 42), BUNDLED, multi30k("en", "de", 42), multi30k("de", "en", 43)]
