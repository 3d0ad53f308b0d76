#include <fmt/format.h>

#include <algorithm>

#include "config/joeynmt_conversion.h"

namespace regard {

void Conversion::side(const std::string& name) {
  const auto key = "model." + name + ".";
  const bool is_transformer =
      joey_.take_lower(key + "type", name == "encoder" ? "recurrent" : "transformer") ==
      "transformer";
  put(key + "kind", is_transformer ? "transformer" : "recurrent");
  if (const auto width = joey_.take(key + "embeddings.embedding_dim"))
    put(key + "embedding_dim", *width);
  if (const auto width = joey_.take(key + "hidden_size")) put(key + "hidden_size", *width);
  carry(key + "num_layers", key + "layers", "1");
  if (is_transformer) {
    transformer(name);
  } else {
    recurrent(name);
    joey_.take(key + "activation");  // JoeyNMT's recurrent layers have none either
    if (joey_.take_flag(key + "embeddings.scale", false)) {
      joey_.note(key + "embeddings.scale", "regard scales a Transformer's embeddings only");
    }
  }
  for (const auto& freeze : {key + "freeze", key + "embeddings.freeze"}) {
    if (joey_.take_flag(freeze, false)) joey_.note(freeze, "regard trains all of the model");
  }
  if (name == "decoder") transformer_decoder_ = is_transformer;
}

void Conversion::recurrent(const std::string& name) {
  const auto from = "model." + name + ".";
  carry(from + "rnn_type", from + "cell", "gru");
  if (name == "encoder") {
    put_flag(from + "bidirectional", joey_.take_flag(from + "bidirectional", true));
    return;
  }
  auto first = joey_.take_lower(from + "init_hidden", "bridge");
  if (first == "last" && kept_.contains("model.encoder.bidirectional") &&
      kept_.at("model.encoder.bidirectional") == "true") {
    joey_.note(from + "init_hidden", "regard's are the last states of both directions; a bridge");
    first = "bridge";
  }
  put(from + "initial_state", first);
  // JoeyNMT's decoder moves first and then looks, whichever score it has.
  put("model.decoder.query", "new");
  put_flag(from + "input_feeding", joey_.take_flag(from + "input_feeding", true));
  carry(from + "hidden_size", "model.decoder.readout_size", "1");
  const auto score = joey_.take_lower(from + "attention", "bahdanau");
  put("model.attention.kind", score == "luong" ? "general" : "additive");
  if (score != "luong") carry(from + "hidden_size", "model.attention.size", "1");
}

void Conversion::transformer(const std::string& name) {
  const auto key = "model." + name + ".";
  carry(key + "num_heads", key + "heads", "8");
  carry(key + "ff_size", key + "feed_forward_size", "2048");
  put(key + "norm", joey_.take_lower(key + "layer_norm", "post"));
  if (joey_.take_lower(key + "activation", "relu") != "relu") {
    joey_.note(key + "activation", "regard's is relu");
  }
  if (!joey_.take_flag(key + "embeddings.scale", false)) {
    joey_.note(key + "embeddings.scale",
               "regard's Transformer multiplies embeddings by the root of their width");
  }
}

void Conversion::dropout() {
  const auto encoder = joey_.take_number("model.encoder.dropout", 0);
  const auto decoder = joey_.take_number("model.decoder.dropout", 0);
  put("model.dropout.embeddings", larger({"model.encoder.embeddings.dropout", encoder},
                                         {"model.decoder.embeddings.dropout", decoder}));
  const auto states = larger({"model.encoder.dropout"}, {"model.decoder.dropout"});
  put("model.dropout.states", states);
  put("model.dropout.readout",
      transformer_decoder_ ? 0.0 : joey_.take_number("model.decoder.hidden_dropout", 0));
}

void Conversion::tying() {
  const bool embeddings = joey_.take_flag("model.tied_embeddings", false);
  const bool output = joey_.take_flag("model.tied_softmax", false);
  if (embeddings && output) {
    put_flag("data.tokenizer.joint", true);
    put("model.tied_embeddings", "all");
  } else if (output) {
    put("model.tied_embeddings", "output");
  } else if (embeddings) {
    joey_.note("model.tied_embeddings",
               "regard ties both embeddings only together with the output layer");
  }
  if (!output || transformer_decoder_) return;
  // The read-out is compared with embeddings then: it takes their width.
  carry("model.decoder.embeddings.embedding_dim", "model.decoder.readout_size", "1");
}

void Conversion::model() {
  side("encoder");
  side("decoder");
  dropout();
  tying();
}

}  // namespace regard
