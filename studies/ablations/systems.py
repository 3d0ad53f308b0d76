"""The systems to compare: each differs from another one in one part."""

from cells import ADDITIVE, BUNDLED, TRANSFORMER, System, multi30k, of_both_sides

TASKS = [multi30k("de", "en", 42), BUNDLED]

ONE_WAY = ("model.encoder.bidirectional=false", "model.encoder.hidden_size=256")
ON_TOP = ("model.encoder.heads=4", "model.encoder.feed_forward_size=512")
NONE = ("model.attention.kind=none",)
# Sutskever, Vinyals, Le 2014: stacked LSTMs that read in one direction; each decoder layer starts with the last state
# of the same encoder layer, and no step sees the source again.
SUTSKEVER = (
    *NONE,
    "model.attention.fixed_context=initial",
    *ONE_WAY,
    *of_both_sides("cell=lstm", "layers=2"),
    "model.decoder.initial_state=layers",
)


def attended(name, remark, *settings):
    return System(name, ADDITIVE + settings, remark)


# (title, systems): the parts of the table.
PARTS = [
    (
        "The recipe",
        [attended("gru", "GRU, both directions, one layer, additive attention, initial state by a bridge")],
    ),
    (
        "Cell",
        [
            attended("reset_after", "reset gate after the product, as in cuDNN", *of_both_sides("reset_gate=after")),
            attended("lstm", "LSTM", *of_both_sides("cell=lstm")),
            attended("tanh", "simple tanh cells", *of_both_sides("cell=tanh")),
        ],
    ),
    (
        "Direction of the encoder, with states as wide as those of both directions",
        [
            attended("left_to_right", "one direction", *ONE_WAY),
            attended("right_to_left", "one direction, from the end", *ONE_WAY, "model.encoder.reverse=true"),
        ],
    ),
    (
        "Layers of encoder and decoder",
        [
            *(attended(f"layers_{n}", f"{n} layers", *of_both_sides(f"layers={n}")) for n in (2, 3, 4)),
            attended(
                "layers_4_residual",
                "4 layers, residual connections and layer normalisation",
                *of_both_sides("layers=4", "residual=true", "layer_norm=true"),
            ),
        ],
    ),
    (
        "First state of the decoder",
        [
            attended("initial_mean", "from the mean of the encoder states", "model.decoder.initial_state=mean"),
            attended("initial_last", "the last states themselves", "model.decoder.initial_state=last"),
            attended("initial_zero", "zero", "model.decoder.initial_state=zero"),
        ],
    ),
    (
        "Self-attention on top of the recurrent encoder",
        [
            attended("on_top_1", "1 layer", "model.encoder.self_attention_layers=1", *ON_TOP),
            attended("on_top_2", "2 layers", "model.encoder.self_attention_layers=2", *ON_TOP),
            attended(
                "on_top_2_positions",
                "2 layers, sinusoidal positions",
                "model.encoder.self_attention_layers=2",
                *ON_TOP,
                "model.encoder.position=sinusoidal",
            ),
        ],
    ),
    (
        "Positions of a Transformer of three layers",
        [
            System("transformer", TRANSFORMER, "sinusoidal"),
            System("transformer_rotary", TRANSFORMER + of_both_sides("position=rotary"), "rotary"),
            System("transformer_learned", TRANSFORMER + of_both_sides("position=learned"), "learned"),
            System("transformer_no_positions", TRANSFORMER + of_both_sides("position=none"), "none"),
        ],
    ),
    (
        "Without attention",
        [
            System("none_last", NONE, "every step sees the last states of both directions"),
            System(
                "none_mean",
                (*NONE, "model.attention.fixed_context=mean"),
                "every step sees the mean of all states",
            ),
            System(
                "none_initial",
                (*NONE, "model.attention.fixed_context=initial"),
                "only the first state depends on the source",
            ),
            System("cho", (*NONE, *ONE_WAY), "one direction; every step sees the last state (Cho et al. 2014)"),
            System("sutskever", SUTSKEVER, "two LSTM layers, one direction; only the first states (Sutskever et al. 2014)"),
            System(
                "sutskever_reversed",
                (*SUTSKEVER, "model.encoder.reverse=true"),
                "the same, with the source reversed",
            ),
        ],
    ),
]

SYSTEMS = [system for _, systems in PARTS for system in systems]

# The systems of the tables by length and by distance.
COMPARED = ("cho", "none_last", "sutskever", "sutskever_reversed", "gru", "transformer")
