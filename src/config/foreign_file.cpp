#include "config/foreign_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/strings.h"

namespace regard {
namespace {

// Returns the value of a full key, such as "data.src.lang", or nullopt.
std::optional<YAML::Node> value_at(const YAML::Node& root, std::string_view key) {
  YAML::Node node = root;
  for (const auto name : split(key, '.')) {
    if (!node.IsMap()) return std::nullopt;
    const YAML::Node child = std::as_const(node)[std::string(name)];
    if (!child) return std::nullopt;
    node.reset(child);
  }
  return node;
}

std::ptrdiff_t count_keys(const YAML::Node& root, std::initializer_list<std::string_view> keys) {
  return std::ranges::count_if(keys, [&](auto key) { return value_at(root, key).has_value(); });
}

// Requires a typical key of JoeyNMT besides data.src or data.trg, because an invalid configuration
// of regard may contain data.src or data.trg.
bool is_joeynmt(const YAML::Node& root) {
  if (value_at(root, "joeynmt_version")) return true;
  if (count_keys(root, {"data.src", "data.trg"}) == 0) return false;
  return count_keys(root, {"data.src.lang",
                           "data.trg.lang",
                           "data.src.level",
                           "data.trg.level",
                           "data.level",
                           "data.dataset_type",
                           "data.max_sent_length",
                           "model.encoder.type",
                           "model.encoder.rnn_type",
                           "model.encoder.num_layers",
                           "model.encoder.embeddings",
                           "model.decoder.type",
                           "model.decoder.rnn_type",
                           "model.decoder.embeddings",
                           "model.tied_softmax",
                           "training.validation_freq",
                           "training.logging_freq",
                           "training.print_valid_sents",
                           "training.batch_multiplier",
                           "training.use_cuda"}) > 0;
}

bool is_opennmt(const YAML::Node& root) {
  const auto data = value_at(root, "data");
  const bool has_corpora =
      data && data->IsMap() && std::ranges::any_of(*data, [](const auto& corpus) {
        return count_keys(corpus.second, {"path_src", "path_tgt"}) > 0;
      });
  return has_corpora || count_keys(root, {"src_vocab", "tgt_vocab", "save_model", "save_data",
                                          "train_steps", "encoder_type", "rnn_size"}) > 1;
}

bool is_marian(const YAML::Node& root) {
  return count_keys(root, {"train-sets", "valid-sets", "vocabs", "mini-batch", "mini-batch-fit",
                           "disp-freq", "valid-freq", "dim-emb", "after-epochs"}) > 1;
}

}  // namespace

void reject_foreign_configuration(const YAML::Node& root, const std::string& name) {
  if (is_joeynmt(root)) {
    throw ConfigError(
        "{0}: found a configuration of JoeyNMT, expected one of regard; convert it: `regard config "
        "convert {0} -o regard.yaml`",
        name);
  }
  const std::string program = is_opennmt(root) ? "OpenNMT-py" : is_marian(root) ? "Marian" : "";
  if (program.empty()) return;
  throw ConfigError(
      "{}: found a configuration of {}, expected one of regard; create one from the text files: "
      "`regard config init SOURCE TARGET`",
      name, program);
}

void require_joeynmt(const YAML::Node& root, const std::string& name) {
  for (const std::string section : {"data", "model", "training"}) {
    if (const auto found = value_at(root, section); found && found->IsMap()) continue;
    throw ConfigError(
        "{}: no section `{}`; expected a configuration of JoeyNMT (sections data, model, training, "
        "testing)",
        name, section);
  }
  const auto src = value_at(root, "data.src"), trg = value_at(root, "data.trg");
  if (!src && !trg) {
    throw ConfigError(
        "{}: no sections `data.src` and `data.trg`; expected a configuration of JoeyNMT", name);
  }
  for (const auto& [key, side] : {std::pair{"src", src}, std::pair{"trg", trg}}) {
    if (!side || !side->IsScalar()) continue;
    throw ConfigError(
        "{}:{}: data.{}: found `{}` (the format of JoeyNMT 1), expected a section with `lang` (the "
        "format of JoeyNMT 2); migrate the file first, see JoeyNMT's documentation",
        name, side->Mark().line + 1, key, side->Scalar());
  }
}

}  // namespace regard
