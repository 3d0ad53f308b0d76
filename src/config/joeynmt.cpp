#include "config/joeynmt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>

#include "base/error.h"
#include "base/split.h"
#include "config/check.h"
#include "config/joeynmt_conversion.h"
#include "config/reader.h"
#include "config/settings.h"

namespace regard {
namespace {

// Why a key is left, by how it begins. With the value that says what regard does anyway, or without
// a reason, it needs no note.
using Left = JoeyFile::Left;
const std::map<std::string, Left> reasons = {
    {"joeynmt_version", {}},
    {"fp16", {"regard computes in 32 bits", "false"}},
    {"num_workers", {"regard has `threads`", "0"}},
    {"data.test", {"give test files to `regard evaluate`"}},
    {"data.dataset_cfg", {"regard reads plain text files"}},
    {"data.sample_", {"regard reads all of the text; data.train.0.weight shows less of it", "-1"}},
    {"data.random_", {"regard reads all of the text; data.train.0.weight shows less of it", "-1"}},
    {"data.special_symbols.unk_token", {"regard's is <unk>", "<unk>"}},
    {"data.special_symbols.pad_token", {"regard's is <pad>", "<pad>"}},
    {"data.special_symbols.bos_token", {"regard's is <s>", "<s>"}},
    {"data.special_symbols.eos_token", {"regard's is </s>", "</s>"}},
    {"data.special_symbols.unk_id", {}},
    {"data.special_symbols.pad_id", {}},
    {"data.special_symbols.bos_id", {}},
    {"data.special_symbols.eos_id", {}},
    {"data.src.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.trg.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.src.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.trg.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.src.voc_file", {"regard makes sub-word vocabularies anew"}},
    {"data.trg.voc_file", {"regard makes sub-word vocabularies anew"}},
    {"model.initializer", {"regard's is Xavier, recurrent matrices orthogonal", "xavier_uniform"}},
    {"model.init_rnn_orthogonal", {"regard's recurrent matrices are orthogonal", "true"}},
    {"model.init_gain", {"regard's is 1", "1.0"}},
    {"model.init_weight", {"regard's initialisation is Xavier"}},
    {"model.bias_initializer", {"regard's begin at 0", "zeros"}},
    {"model.embed_init", {"regard's embeddings are drawn from a normal distribution", "normal"}},
    {"model.lstm_forget_gate", {"regard's begins at 1", "1."}},
    {"training.load_", {"`regard train --init-from` begins with a trained model of regard's"}},
    {"training.reset_", {"`regard train --init-from` begins anew in all of these", "false"}},
    {"training.overwrite", {"`regard train --fresh` starts over", "false"}},
    {"training.clip_grad_val", {"regard clips the norm: training.clip_grad_norm"}},
    {"training.normalization", {"regard's loss is the mean over target tokens", "tokens"}},
    {"testing.load_model", {"`regard translate -m` names the model"}},
    {"testing.n_best", {"`regard translate --n-best`", "1"}},
    {"testing.return_attention", {"`regard translate --alignments`", "false"}},
    {"testing.return_prob", {"`regard score` has log-probabilities", "none"}},
    {"testing.eval_metric", {"`regard evaluate --metrics`"}},
    {"testing.sacrebleu", {"`regard evaluate --tokenize` and the like"}},
};

// The keys, each with its value, as sections in sections, in the order of the documentation.
std::string nested_yaml(const std::map<std::string, std::string>& values) {
  std::string text;
  std::vector<std::string_view> before;
  const auto settings = all_settings();
  for (const auto& setting : settings) {
    const auto found = values.find(setting.key);
    if (found == values.end()) continue;
    const auto path = split(setting.key, '.');
    std::size_t shared = 0;
    while (shared < before.size() && before[shared] == path[shared]) ++shared;
    bool begins_entry = false;  // of a list, whose number is in the path
    for (auto depth = shared; depth < path.size(); ++depth) {
      if (path[depth] == "0") {
        begins_entry = true;
        continue;
      }
      const auto indent = std::string(2 * depth, ' ');
      const bool is_last = depth + 1 == path.size();
      text += begins_entry ? indent.substr(2) + "- " : indent;
      text += std::string(path[depth]) + (is_last ? ": " + found->second : ":") + "\n";
      begins_entry = false;
    }
    before = path;
    before.pop_back();
  }
  return text;
}

}  // namespace

void Conversion::put(const std::string& key, const std::string& value) {
  const bool is_word = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
  });
  kept_[key] = is_word ? value : to_yaml(value);
}

void Conversion::put_whole(const std::string& key, double value) {
  constexpr double most = 1e15;
  const bool is_whole = std::abs(value) <= most && std::trunc(value) == value;
  kept_[key] = is_whole ? to_yaml(static_cast<std::int64_t>(value)) : to_yaml(value);
}

double Conversion::larger(const Side& src, const Side& trg) {
  const auto of_src = joey_.take_number(src.key, src.otherwise);
  const auto of_trg = joey_.take_number(trg.key, trg.otherwise);
  const auto larger = std::max(of_src, of_trg);
  if (of_src != of_trg) {
    joey_.note(of_src < of_trg ? src.key : trg.key,
               fmt::format("regard has one for both sides, here {}", larger));
  }
  return larger;
}

Converted Conversion::run() {
  top();
  data();
  model();
  training();
  testing();
  joey_.note_left(reasons);
  return {nested_yaml(kept_), joey_.notes()};
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
    converted.notes.push_back(std::string("to be mended: ") + error.what());
  }
  auto comments = fmt::format("# Made of {} by `regard config convert`.\n", name);
  if (!converted.notes.empty()) comments += "# What was not carried over, or not quite:\n";
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
