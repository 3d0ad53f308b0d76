#include "config/joeynmt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "config/joeynmt_conversion.h"
#include "config/keys.h"
#include "config/reader.h"

namespace regard {
namespace {

// Unsupported keys, by prefix: the reason for the note and the value that needs no note, because
// regard does the same. A key without a reason never needs a note.
using Unsupported = JoeyFile::Unsupported;
const std::map<std::string, Unsupported> unsupported_keys = {
    {"joeynmt_version", {}},
    {"fp16", {"regard computes in 32 bits", "false"}},
    {"num_workers", {"regard has `threads`", "0"}},
    {"data.test", {"pass test files to `regard evaluate`"}},
    {"data.dataset_cfg", {"regard reads plain text files"}},
    {"data.sample_", {"regard reads the whole text; data.train.0.weight uses less of it", "-1"}},
    {"data.random_", {"regard reads the whole text; data.train.0.weight uses less of it", "-1"}},
    {"data.special_symbols.unk_token", {"regard uses <unk>", "<unk>"}},
    {"data.special_symbols.pad_token", {"regard uses <pad>", "<pad>"}},
    {"data.special_symbols.bos_token", {"regard uses <s>", "<s>"}},
    {"data.special_symbols.eos_token", {"regard uses </s>", "</s>"}},
    {"data.special_symbols.unk_id", {}},
    {"data.special_symbols.pad_id", {}},
    {"data.special_symbols.bos_id", {}},
    {"data.special_symbols.eos_id", {}},
    {"data.src.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.trg.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.src.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.trg.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.src.voc_file", {"regard trains new sub-word vocabularies"}},
    {"data.trg.voc_file", {"regard trains new sub-word vocabularies"}},
    {"model.initializer",
     {"regard uses Xavier, and orthogonal recurrent matrices", "xavier_uniform"}},
    {"model.init_rnn_orthogonal", {"regard initialises recurrent matrices as orthogonal", "true"}},
    {"model.init_gain", {"regard uses 1", "1.0"}},
    {"model.init_weight", {"regard uses Xavier initialisation"}},
    {"model.bias_initializer", {"regard initialises biases to 0", "zeros"}},
    {"model.embed_init", {"regard initialises embeddings from a normal distribution", "normal"}},
    {"model.lstm_forget_gate", {"regard initialises it to 1", "1."}},
    {"training.load_", {"`regard train --init-from` starts from a model trained by regard"}},
    {"training.reset_", {"`regard train --init-from` resets all of these", "false"}},
    {"training.overwrite", {"`regard train --fresh` starts over", "false"}},
    {"training.clip_grad_val", {"regard clips the norm: training.clip_grad_norm"}},
    {"training.normalization", {"regard's loss is the mean over target tokens", "tokens"}},
    {"testing.load_model", {"`regard translate -m` names the model"}},
    {"testing.n_best", {"`regard translate --n-best`", "1"}},
    {"testing.return_attention", {"`regard translate --alignments`", "false"}},
    {"testing.return_prob", {"`regard score` has log-probabilities", "none"}},
    {"testing.eval_metric", {"`regard evaluate --metrics`"}},
    {"testing.sacrebleu", {"see `regard evaluate --tokenize` and its other options"}},
};

// Writes keys and values as nested sections, in the order of the documentation.
std::string nested_yaml(const std::map<std::string, std::string>& values) {
  std::string text;
  std::vector<std::string_view> open_sections;
  const auto settings = all_settings();
  for (const auto& setting : settings) {
    const auto value = values.find(setting.key);
    if (value == values.end()) continue;
    const auto path = split(setting.key, '.');
    std::size_t shared = 0;
    while (shared < open_sections.size() && open_sections[shared] == path[shared]) ++shared;
    bool begins_entry = false;  // the path has the index of a list entry
    for (auto depth = shared; depth < path.size(); ++depth) {
      if (path[depth] == "0") {
        begins_entry = true;
        continue;
      }
      const auto indent = std::string(2 * depth, ' ');
      const bool is_last = depth + 1 == path.size();
      text += begins_entry ? indent.substr(2) + "- " : indent;
      text += std::string(path[depth]) + (is_last ? ": " + value->second : ":") + "\n";
      begins_entry = false;
    }
    open_sections = path;
    open_sections.pop_back();
  }
  return text;
}

}  // namespace

void Conversion::put(const std::string& key, const std::string& value) {
  const bool is_word = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
  });
  converted_[key] = is_word ? value : to_yaml(value);
}

void Conversion::put_integer(const std::string& key, double value) {
  constexpr double max_exact = 1e15;
  const bool is_whole = std::abs(value) <= max_exact && std::trunc(value) == value;
  converted_[key] = is_whole ? to_yaml(static_cast<std::int64_t>(value)) : to_yaml(value);
}

double Conversion::take_larger(const Side& src, const Side& trg) {
  const auto src_value = joey_.take_number(src.key, src.fallback);
  const auto trg_value = joey_.take_number(trg.key, trg.fallback);
  const auto larger = std::max(src_value, trg_value);
  if (src_value != trg_value) {
    joey_.note(src_value < trg_value ? src.key : trg.key,
               fmt::format("regard has one value for both sides, here {}", larger));
  }
  return larger;
}

Converted Conversion::run() {
  top();
  data();
  model();
  training();
  testing();
  joey_.note_unread(unsupported_keys);
  return {nested_yaml(converted_), joey_.notes()};
}

void Conversion::top() {
  put_text("name", joey_.take("name", "model"));
  const bool cuda = joey_.take_flag("use_cuda", joey_.take_flag("training.use_cuda", true));
  put("device", cuda ? "auto" : "cpu");
}

Converted convert_joeynmt(std::string_view text, const std::string& name) {
  auto converted = Conversion(text, name).run();
  try {
    check_training_options(parse_options(converted.yaml, "converted"));
  } catch (const ConfigError& error) {
    converted.notes.push_back(std::string("to be fixed: ") + error.what());
  }
  auto comments = fmt::format("# Converted from {} by `regard config convert`.\n", name);
  if (!converted.notes.empty()) comments += "# Keys that were not converted, or not exactly:\n";
  for (auto note : converted.notes) {
    for (std::size_t at = 0; (at = note.find('\n', at)) != std::string::npos; at += 3) {
      note.replace(at, 1, "\n#   ");
    }
    comments += "#   " + note + "\n";
  }
  converted.yaml = comments + converted.yaml;
  return converted;
}

}  // namespace regard
