"""Computes a model in plain PyTorch, one sentence at a time.

It follows the equations and the tensor names of docs/python.md, not the source of regard: nothing here is
batched, padded, cached or fused. Letters: S source and T target positions, E embedding, D hidden,
C = 2 D width of an encoder state, K gates.
"""

import math

import torch


class Unsupported(Exception):
    """Raised for a configuration that this file does not implement."""


def require(section, **values):
    """Raises Unsupported unless each option of the section has one of these values."""
    for key, known in values.items():
        if section[key] not in known:
            raise Unsupported(f"found {key}: {section[key]}, expected one of: {', '.join(map(str, known))}")


class Tensors:
    """The tensors whose names begin with a prefix: tensors.of("decoder.").linear("W_y", y) computes
    W_y y + b with the tensors decoder.W_y.weight and decoder.W_y.bias."""

    def __init__(self, tensors, prefix=""):
        self.tensors = tensors
        self.prefix = prefix

    def of(self, prefix):
        return Tensors(self.tensors, self.prefix + prefix)

    def __contains__(self, name):
        return self.prefix + name in self.tensors

    def __getitem__(self, name):
        return self.tensors[self.prefix + name]

    def linear(self, name, x):
        y = x @ self[name + ".weight"].T
        return y + self[name + ".bias"] if name + ".bias" in self else y

    def norm(self, name, x):
        """Layer normalisation if the model has it, else the identity."""
        if name + ".g" not in self:
            return x
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return self[name + ".g"] * centred / (variance + 1e-5).sqrt() + self[name + ".b"]


# Recurrent cells. `x` is W x + b of all gates [K D]; `state` is the state of the previous step; g is the
# direction: 0 forward, 1 backward. They return the new state, for an LSTM [h c].


def gru(cell, g, x, state):
    D = state.shape[0]
    U = cell["U"][g]  # [D, 3 D]
    r, z = torch.sigmoid(x[: 2 * D] + state @ U[:, : 2 * D]).chunk(2)
    if "b_U" in cell:  # reset_gate: after
        new = torch.tanh(x[2 * D :] + r * (state @ U[:, 2 * D :] + cell["b_U"][g, 0]))
    else:
        new = torch.tanh(x[2 * D :] + (r * state) @ U[:, 2 * D :])
    return z * state + (1 - z) * new


def lstm(cell, g, x, state):
    h, c = state.chunk(2)
    i, f, o, new = (x + h @ cell["U"][g]).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(new)
    return torch.cat([torch.sigmoid(o) * torch.tanh(c), c])


def simple(cell, g, x, state):
    return torch.tanh(x + state @ cell["U"][g])


CELLS = {"gru": gru, "lstm": lstm, "tanh": simple}


def state_size(kind, D):
    return 2 * D if kind == "lstm" else D


def run(kind, cell, g, inputs):
    """Runs all steps of direction g from the zero state: inputs [S, I] -> hidden states [S, D]."""
    D = cell["U"].shape[1]  # U [directions, D, K D]
    state = torch.zeros(state_size(kind, D))
    states = []
    for x in inputs @ cell["W"][g] + cell["b"][g]:
        state = CELLS[kind](cell, g, x, state)
        states.append(state[:D])
    return torch.stack(states)


def recurrent_encoder(options, tensors, embedded):
    """Embedded source [S, E] -> states h [S, C], last state [C]."""
    require(options, self_attention_layers=[0])
    x = embedded
    for l in range(options["layers"]):
        cell = tensors.of(f"layer{l}.")
        below = tensors.norm(f"stack.norm{l}", x) if l > 0 else x
        sides = [run(options["cell"], cell, 0, below)]
        if options["bidirectional"]:
            sides.append(run(options["cell"], cell, 1, below.flip(0)).flip(0))
        y = torch.cat(sides, -1)
        x = x + y if options["residual"] and l > 0 else y
    x = tensors.norm(f"stack.norm{options['layers']}", x)
    D = options["hidden_size"]
    return x, torch.cat([x[-1, :D], x[0, D:]])


def first_states(options, tensors, h, last):
    """Yields the first state of each layer of the decoder."""
    kind = options["initial_state"]
    size = state_size(options["cell"], options["hidden_size"])
    for l in range(options["layers"]):
        if kind == "zero":
            yield torch.zeros(size)
        elif kind == "last":
            yield torch.cat([last, torch.zeros(size - last.shape[0])])
        else:
            yield torch.tanh(tensors.linear(f"bridges.{l}", h.mean(0) if kind == "mean" else last))


def recurrent_decoder(options, tensors, embedded, h, last):
    """Embedded history [T, E] -> readouts [T, R]; additive attention with the previous state as query."""
    require(options, query=["auto", "last"], input_feeding=[False])
    step = CELLS[options["cell"]]
    D = options["hidden_size"]
    states = list(first_states(options, tensors, h, last))
    keys = tensors.linear("attention.U", h)  # [S, A]
    readouts = []
    for y in embedded:
        query = tensors.linear("attention.W", states[0][:D])
        e = torch.tanh(query + keys) @ tensors["attention.v"]  # [S]
        c = torch.softmax(e, 0) @ h
        s = None
        for l in range(options["layers"]):
            cell = tensors.of(f"layer{l}.")
            below = tensors.norm(f"stack.norm{l}", s) if l > 0 else y
            x = below @ cell["W"][0] + cell["b"][0, 0]
            states[l] = step(cell, 0, x + tensors.linear("C", c) if l == 0 else x, states[l])
            s = s + states[l][:D] if options["residual"] and l > 0 else states[l][:D]
        s = tensors.norm(f"stack.norm{options['layers']}", s)
        readouts.append(
            torch.tanh(tensors.linear("W_y", y) + tensors.linear("W_s", s) + tensors.linear("W_c", c))
        )
    return torch.stack(readouts)


# The Transformer.


def positions(options, tensors, n, D):
    kind = options["position"]
    if kind in ("none", "rotary"):
        return 0
    if kind == "learned":
        return tensors["positions.p"][:n]
    return sinusoids(n, D).float()


def sinusoids(n, D):
    """Returns sin(t / 10000^(2i/D)) at 2i and its cosine at 2i + 1: [n, D]."""
    t = torch.arange(n, dtype=torch.double).unsqueeze(1)
    i = torch.arange((D + 1) // 2, dtype=torch.double)
    angle = t / 10000 ** (2 * i / D)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :D]


def rotate(x):
    """Rotary positions: rotates each pair of numbers of x [T, d] by the angles of its row."""
    angles = sinusoids(*x.shape).float().unflatten(1, (-1, 2))
    pairs = x.unflatten(1, (-1, 2))
    sin, cos = angles.unbind(2)
    a, b = pairs.unbind(2)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(1)


def attention(tensors, heads, x, z, causal=False, rotary=False):
    """Multi-head attention with queries from x [T, D], keys and values from z [S, C]."""
    q = tensors.linear("W_Q", x)
    k, v = tensors.linear("W_KV", z).chunk(2, -1)
    mixed = []
    for q_h, k_h, v_h in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1)):
        if rotary:
            q_h, k_h = rotate(q_h), rotate(k_h)
        scores = q_h @ k_h.T / math.sqrt(q_h.shape[1])  # [T, S]
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)
        mixed.append(torch.softmax(scores, -1) @ v_h)
    return tensors.linear("W_O", torch.cat(mixed, -1))


def feed_forward(tensors, x):
    return tensors.linear("W_2", torch.relu(tensors.linear("W_1", x)))


def residual(options, tensors, norm, x, sublayer):
    """Adds the output of a sub-layer to its input, with layer normalisation before or after."""
    if options["norm"] == "pre":
        return x + sublayer(tensors.norm(norm, x))
    return tensors.norm(norm, x + sublayer(x))


def is_rotary(options):
    return options["position"] == "rotary"


def transformer_encoder(options, tensors, x):
    heads = options["heads"]
    for l in range(options["layers"]):
        layer = tensors.of(f"layer{l}.")
        own = layer.of("attention.")
        x = residual(
            options, layer, "attention_norm", x, lambda z: attention(own, heads, z, z, rotary=is_rotary(options))
        )
        inner = layer.of("feed_forward.")
        x = residual(options, layer, "feed_forward_norm", x, lambda z: feed_forward(inner, z))
    x = tensors.norm("norm", x)
    return x, x.mean(0)


def transformer_decoder(options, tensors, x, h, _last):
    heads = options["heads"]
    for l in range(options["layers"]):
        layer = tensors.of(f"layer{l}.")
        own, other = layer.of("self_attention."), layer.of("source_attention.")
        inner = layer.of("feed_forward.")
        x = residual(
            options,
            layer,
            "self_attention_norm",
            x,
            lambda z: attention(own, heads, z, z, causal=True, rotary=is_rotary(options)),
        )
        x = residual(options, layer, "source_attention_norm", x, lambda z: attention(other, heads, z, h))
        x = residual(options, layer, "feed_forward_norm", x, lambda z: feed_forward(inner, z))
    return tensors.norm("norm", x)


ENCODERS = {"recurrent": recurrent_encoder, "transformer": transformer_encoder}
DECODERS = {"recurrent": recurrent_decoder, "transformer": transformer_decoder}


def embed(options, tensors, table, ids):
    """Token ids -> embeddings [S, E]; with positions for a Transformer."""
    x = table[ids]  # [S, E]
    if options["kind"] == "recurrent":
        return x
    if "projection.weight" in tensors:
        x = tensors.linear("projection", x)
    return x * math.sqrt(x.shape[1]) + positions(options, tensors, *x.shape)


def logits(options, tensors, source, target):
    """Source ids and target ids, both with </s> -> logits [T, V]; step t has read target[:t]."""
    options = options["model"]
    encoder, decoder = options["encoder"], options["decoder"]
    require(encoder, numbers=[0])
    require(options["output"], kind=["vocabulary"])
    if decoder["kind"] == "recurrent":
        require(options["attention"], kind=["additive"])
    all_tensors = Tensors(tensors)
    embedding = tensors["source_embedding"]
    h, last = ENCODERS[encoder["kind"]](
        encoder,
        all_tensors.of("encoder."),
        embed(encoder, all_tensors.of("source_input."), embedding, source),
    )
    embedding = tensors.get("target_embedding", embedding)
    history = [2, *target[:-1]]  # <s> y_1 … y_{T-1}
    readouts = DECODERS[decoder["kind"]](
        decoder,
        all_tensors.of("decoder."),
        embed(decoder, all_tensors.of("target_input."), embedding, history),
        h,
        last,
    )
    return readouts @ tensors.get("output_weight", embedding).T + tensors["output_bias"]
