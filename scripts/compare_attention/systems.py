"""The systems to compare, and the tasks."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    settings: tuple  # key=value overrides of configs/attention_comparison.yaml; {half} is half of the steps
    remark: str = ""

    def settings_for(self, task):
        return tuple(setting.format(half=task.steps // 2) for setting in self.settings)

    @property
    def has_weights(self):
        return self.name != "none"


def attention(kind, *settings, name=None, remark=""):
    """Returns the system with this model.attention.kind and these other keys of model.attention."""
    keys = tuple(f"model.attention.{setting}" for setting in (f"kind={kind}", *settings))
    return System(name or kind, keys, remark)


def self_attention(side):
    """Returns the overrides that make the encoder or decoder a Transformer."""
    settings = ("kind=transformer", "hidden_size=128", "layers=3", "heads=4", "feed_forward_size=512")
    return tuple(f"model.{side}.{setting}" for setting in settings)


ENCODER = self_attention("encoder")
# Options that only a recurrent decoder reads are set to their defaults.
DECODER = (
    *self_attention("decoder"),
    "model.decoder.readout_size=512",
)

SIZE = "size=256"  # for the kinds that have this option

SYSTEMS = [
    attention("none"),
    attention("additive", SIZE),
    attention("concat", SIZE),
    attention("dot"),
    attention("scaled_dot"),
    attention("general"),
    System(
        "general_new",
        ("model.attention.kind=general", "model.decoder.query=new"),
        "query: the new state, as for `local_m`, `local_p` and `concat`",
    ),
    attention("cosine"),
    attention("location"),
    attention("local_m", "window=5", remark="general, D = 5"),
    attention("local_p", "window=5", remark="general, D = 5"),
    attention("hard", "anneal_steps={half}", remark="REINFORCE, soft attention over the first half"),
    attention(
        "hard", "estimator=gumbel", name="hard_gumbel", remark="straight-through Gumbel"
    ),
    attention("ntm"),
    attention("multi_head", SIZE, "heads=4", remark="4 heads"),
    attention("coverage", SIZE),
    attention("monotonic", SIZE),
    System(
        "transformer_encoder",
        (*ENCODER, "model.attention.size=256"),
        "self-attention instead of the recurrent encoder, additive attention",
    ),
    System("transformer", ENCODER + DECODER, "self-attention on both sides"),
]


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    source: str
    target: str
    train: str  # path without the language, as the next two
    dev: str
    test: str
    seed: int = 42
    steps: int = 3000  # as in configs/attention_comparison.yaml
    settings: tuple = ()

    def data(self, key):
        """Returns the paths of source and target for "train", "dev" or "test"."""
        stem = getattr(self, key)
        return f"{stem}.{self.source}", f"{stem}.{self.target}"


def multi30k(source, target, seed):
    stem = "data/multi30k/"
    return Task(
        f"{source}-{target}-{seed}",
        source,
        target,
        stem + "train",
        stem + "val",
        stem + "test_2016_flickr",
        seed,
    )


# The bundled corpus, whose generator knows the true alignments. No checkpoint is chosen by its validation.
BUNDLED = Task(
    "bundled",
    "en",
    "fr",
    "data/train",
    "data/dev",
    "data/test",
    steps=1500,
    settings=(
        "data.tokenizer.vocabulary_size=2000",
        "data.tokenizer.joint=false",
        "model.tied_embeddings=output",
        "training.max_steps=1500",
        "training.validation_every=1500",
        "training.warmup_steps=150",
        "training.label_smoothing=0",
    ),
)

# In the order of training: the whole table once, then the second seeds.
TASKS = [multi30k("de", "en", 42), BUNDLED, multi30k("en", "de", 42), multi30k("de", "en", 43)]
