"""Compares changes of both recipes after 2,500 and 2,000 steps, one seed, scored on the validation pair."""

import pages
from cells import machines, of_both_sides
from trainings import Compared

AVERAGED = (
    "training.scheduling=inverse_square_root",
    "training.moving_average=0.999",
    "training.learning_rate=0.002",
    "training.warmup_steps=800",
)
MULTI_HEAD = "model.attention.kind=multi_head"


# Name, label and settings. Those with "+" add to averaged weights.
RECURRENT = (
    ("recipe", "`multi30k_fast`", ()),
    ("two_layers", "two layers on each side, with residual connections and layer normalisation",
     (*of_both_sides("layers=2"), *of_both_sides("residual=true"), *of_both_sides("layer_norm=true"))),
    ("self_attention", "two layers of self-attention on top of the encoder",
     ("model.encoder.self_attention_layers=2", "model.encoder.heads=4")),
    ("averaged", "averaged weights, and the rate high to the end", AVERAGED),
    ("multi_head", "+ multi-head attention", (*AVERAGED, MULTI_HEAD)),
    ("multi_head_512", "+ multi-head attention, hidden size 512",
     (*AVERAGED, MULTI_HEAD, *of_both_sides("hidden_size=512"), "model.attention.size=512")),
    ("query_new", "+ `query: new`", (*AVERAGED, "model.decoder.query=new")),
    ("query_between", "+ `query: between`", (*AVERAGED, "model.decoder.query=between")),
)  # fmt: skip


# The recipe of the Transformer with the small batches of the recurrent one. Those with "+" add to less dropout.
SMALL_BATCHES = (
    "training.batch_size=800",
    "training.learning_rate=0.003",
    "training.warmup_steps=1000",
)
LESS_DROPOUT = (*SMALL_BATCHES, "model.dropout.embeddings=0.1", "model.dropout.states=0.1")
WIDE = (
    *of_both_sides("embedding_dim=256", "hidden_size=256", "feed_forward_size=512", "layers=3"),
    "training.learning_rate=0.002",
)
ROTARY = of_both_sides("position=rotary")
TRANSFORMER = (
    ("transformer", "`multi30k_transformer` in batches of 800 tokens", SMALL_BATCHES),
    ("transformer_less_dropout", "dropout 0.1 instead of 0.3", LESS_DROPOUT),
    ("transformer_wide", "+ twice the width, three layers instead of four, learning rate 0.002 instead of 0.003",
     (*LESS_DROPOUT, *WIDE)),
    ("transformer_rotary", "+ rotary positions", (*LESS_DROPOUT, *ROTARY)),
    ("transformer_rotary_wide", "+ both", (*LESS_DROPOUT, *WIDE, *ROTARY)),
)  # fmt: skip
# The configuration, the steps and the changes of each table.
TABLES = {
    "changes": ("multi30k_fast", 2500, RECURRENT),
    "transformer_changes": ("multi30k_transformer", 2000, TRANSFORMER),
}


def trainings(study, table):
    """Returns the trainings of a table by label."""
    config, steps, changes = TABLES[table]
    return {
        label: Compared(study, f"changes/{name}", config, own=(f"training.max_steps={steps}", *settings))
        for name, label, settings in changes
    }


def table(by_label):
    """Returns the table of the trainings that were measured."""
    measured = {label: training.result() for label, training in by_label.items()}
    rows = [
        [label, f"**{row['bleu']:.2f}**", f"{row['chrf']:.2f}", f"{row['loss']:.4f}"]
        for label, row in measured.items()
        if row
    ]
    text = pages.table(["change", "BLEU", "chrF2", "loss"], rows) + f"\nMachine: {machines(measured.values())}.\n"
    return text if rows else None
