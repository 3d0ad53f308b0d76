#include "config/convert.h"

#include <algorithm>
#include <initializer_list>

#include "config/foreign_config.h"

namespace regard {

Converted convert_configuration(std::string_view text, const std::string& name) {
  if (is_fairseq_command(text)) return convert_fairseq(text, name);
  const ForeignConfig file(text, name);
  const auto keys = file.keys();
  const auto has_any = [&](std::initializer_list<const char*> known) {
    return std::ranges::any_of(known, [&](const char* key) { return file.has(key); });
  };
  if (has_any({"train-sets", "dim-emb", "valid-freq", "mini-batch"})) {
    return convert_marian(text, name);
  }
  const bool has_paths =
      std::ranges::any_of(keys, [](const auto& key) { return key.ends_with(".path_src"); });
  if (has_paths || has_any({"save_model", "encoder_type", "rnn_size", "train_steps"})) {
    return convert_opennmt(text, name);
  }
  return convert_joeynmt(text, name);
}

}  // namespace regard
