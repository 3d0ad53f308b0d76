// Converts commands of fairseq (Ott et al. 2019).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include "config/foreign_config.h"

namespace regard {
namespace {

// The architectures of fairseq with their widths.
struct FairseqArchitecture {
  const char* name;
  bool is_transformer;
  int width, feed_forward, heads, layers;
  double dropout;
};
constexpr FairseqArchitecture architectures[] = {
    {"transformer", true, 512, 2048, 8, 6, 0.1},
    {"transformer_tiny", true, 64, 64, 2, 2, 0.1},
    {"transformer_iwslt_de_en", true, 512, 1024, 4, 6, 0.1},
    {"transformer_wmt_en_de", true, 512, 2048, 8, 6, 0.1},
    {"transformer_vaswani_wmt_en_de_big", true, 1024, 4096, 16, 6, 0.3},
    {"transformer_wmt_en_de_big", true, 1024, 4096, 16, 6, 0.3},
    {"lstm", false, 512, 0, 0, 1, 0.1},
    {"lstm_wiseman_iwslt_de_en", false, 256, 0, 0, 1, 0.1},
};

// Returns the long name of an option, without dashes.
std::string long_name(std::string_view option) {
  if (option.starts_with("--")) return std::string(option.substr(2));
  option.remove_prefix(1);
  return option == "a"   ? "arch"
         : option == "s" ? "source-lang"
         : option == "t" ? "target-lang"
                         : std::string(option);
}

// True for "-a", not for "-1".
bool is_short_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
}

// Returns the options of a command, "--lr 5e-4 --share-all-embeddings", as YAML: each on the line
// that it has in the command. Of a list after an option, the first value counts. A repeated option
// is written twice, and ForeignConfig keeps the last value.
std::string command_as_yaml(std::string_view text) {
  std::string yaml = "{";
  std::string key;
  std::string values;
  std::size_t line_of_key = 0;
  std::size_t lines_written = 0;
  constexpr std::string_view quotes = "'\"";
  const auto end_option = [&] {
    if (key.empty()) return;
    if (!values.empty() && quotes.find(values.front()) != std::string_view::npos) {
      values = values.substr(1, values.size() < 2 ? 0 : values.size() - 2);
    }
    yaml.append(line_of_key - lines_written, '\n');
    lines_written = line_of_key;
    yaml += fmt::format("{}: {},", to_yaml(key), values.empty() ? "true" : to_yaml(values));
  };
  bool is_quoted = false;  // the value goes on: '(0.9, 0.98)'
  bool is_program = true;  // fairseq-train and its folder of data
  std::size_t line = 0;
  for (const auto of_line : split(text, '\n')) {
    std::istringstream stream{std::string(of_line)};
    for (std::string next; stream >> next;) {
      const std::string_view word = next;
      if (word == "\\") continue;
      if (word.starts_with("--") || (is_short_option(word) && !is_quoted)) {
        end_option();
        is_program = is_quoted = false;
        const auto equals = word.find('=');
        key = long_name(word.substr(0, equals));
        values = equals == std::string_view::npos ? "" : std::string(word.substr(equals + 1));
        line_of_key = line;
      } else if (is_program) {
        if (word.find("fairseq-train") == std::string_view::npos && key.empty()) {
          key = "data";
          values = next;
          line_of_key = line;
          end_option();
          key.clear();
        }
      } else if (values.empty() || is_quoted) {
        values += (values.empty() ? "" : " ") + next;
        is_quoted = quotes.find(values.front()) != std::string_view::npos &&
                    (values.size() < 2 || values.back() != values.front());
      }
    }
    ++line;
  }
  end_option();
  return yaml + "}";
}

class FairseqConversion : private ForeignConversion {
 public:
  FairseqConversion(std::string_view text, const std::string& name)
      : ForeignConversion(text, name) {}

  Converted run() {
    file_.note("data",
               "fairseq's binary data are not read; name text files in data.train and data.dev");
    file_.mark_read("data");
    for (const auto* side : {"source-lang", "target-lang"}) {
      const auto language =
          file_.take(side, std::string_view(side).starts_with("source") ? "src" : "trg");
      const std::string key = std::string_view(side).starts_with("source") ? "src" : "trg";
      put_text("data.train.0." + key, "train." + language);
      put_text("data.dev." + key, "valid." + language);
    }
    put("data.tokenizer.kind", "word");
    put("data.tokenizer.vocabulary_size", "10000000");
    model();
    training();
    return finish({{"task", {"regard translates", "translation"}},
                   {"criterion", {}},
                   {"fp16", {"regard has training.precision: bf16", "false"}},
                   {"bpe", {"regard has data.tokenizer.kind: bpe"}},
                   {"remove-bpe", {"translations are words already"}},
                   {"post-process", {"translations are words already"}},
                   {"scoring", {"`regard evaluate` computes sacreBLEU"}},
                   {"eval-bleu", {"training.early_stopping_metric: bleu"}},
                   {"no-epoch-checkpoints", {}},
                   {"no-progress-bar", {}},
                   {"save-interval", {}},
                   {"num-workers", {"regard has `threads`"}},
                   {"ddp-backend", {}},
                   {"log-format", {}},
                   {"tensorboard-logdir", {"training.tensorboard"}},
                   {"maximize-best-checkpoint-metric", {}},
                   {"warmup-init-lr", {"regard's rate rises from 0"}},
                   {"stop-min-lr", {"regard stops at a minimum rate only with plateau"}}});
  }

 private:
  void model() {
    const auto name = file_.take("arch", "transformer");
    const auto* found = std::ranges::find(architectures, name, &FairseqArchitecture::name);
    if (found == std::end(architectures)) {
      file_.note("arch", "not known here; the sizes are those of `transformer`");
      found = std::begin(architectures);
    }
    const auto& arch = *found;
    for (const std::string side : {"encoder", "decoder"}) {
      const auto to = "model." + side + ".";
      const auto width = file_.take_number(side + "-embed-dim", arch.width);
      put(to + "kind", arch.is_transformer ? "transformer" : "recurrent");
      put_integer(to + "layers", file_.take_number(side + "-layers", arch.layers));
      put_integer(to + "embedding_dim", width);
      put_integer(to + "hidden_size", arch.is_transformer
                                          ? width
                                          : file_.take_number(side + "-hidden-size", arch.width));
      if (!arch.is_transformer) continue;
      put_integer(to + "heads", file_.take_number(side + "-attention-heads", arch.heads));
      put_integer(to + "feed_forward_size",
                  file_.take_number(side + "-ffn-embed-dim", arch.feed_forward));
      put(to + "norm", file_.take_flag(side + "-normalize-before", false) ? "pre" : "post");
      if (file_.take_flag(side + "-learned-pos", false)) put(to + "position", "learned");
    }
    if (!arch.is_transformer) {
      put_both("cell", "lstm");
      put_flag("model.encoder.bidirectional", file_.take_flag("encoder-bidirectional", false));
      put("model.decoder.query", "new");
      put("model.decoder.initial_state", "bridge");
      put_flag("model.decoder.input_feeding", true);
      put("model.attention.kind", "general");
      put_integer("model.decoder.readout_size",
                  file_.take_number("decoder-out-embed-dim", arch.width));
    }
    const auto dropout = file_.take_number("dropout", arch.dropout);
    put_dropout(dropout, file_.take_number("attention-dropout", 0),
                arch.is_transformer ? 0 : dropout);
    const bool all = file_.take_flag("share-all-embeddings", false);
    put_tied(all, all || file_.take_flag("share-decoder-input-output-embed", false),
             "share-all-embeddings");
    if (file_.take_lower("activation-fn", "relu") != "relu")
      file_.note("activation-fn", "regard uses relu");
  }

  void training() {
    put_text("training.model_dir", file_.take("save-dir", "checkpoints"));
    copy("seed", "training.random_seed");
    if (const auto steps = file_.take_number("max-update", 0); steps > 0)
      put_integer("training.max_steps", steps);
    if (const auto hours = file_.take_number("stop-time-hours", 0); hours > 0)
      put("training.max_minutes", 60 * hours);
    if (const auto epochs = file_.take_number("max-epoch", 0); epochs > 0)
      put_integer("training.epochs", epochs);
    const auto tokens = file_.take_number("max-tokens", 0);
    put_integer("training.batch_size",
                tokens > 0 ? tokens : first_number({"batch-size", "max-sentences"}, 32));
    put("training.batch_type", tokens > 0 ? "token" : "sentence");
    if (const auto frequency = file_.take_number("update-freq", 1); frequency > 1)
      put_integer("training.gradient_accumulation", frequency);
    put_optimizer("optimizer", file_.take_lower("optimizer", "adam"));
    const auto betas = file_.take("adam-betas", "(0.9, 0.999)");
    const auto comma = betas.find(", ");
    if (betas.starts_with('(') && betas.ends_with(')') && comma != std::string::npos) {
      put("training.adam_beta1", betas.substr(1, comma - 1));
      put("training.adam_beta2", betas.substr(comma + 2, betas.size() - comma - 3));
    } else {
      file_.note("adam-betas", "expected (BETA1, BETA2)");
    }
    put("training.weight_decay", file_.take_number("weight-decay", 0));
    put("training.clip_grad_norm", file_.take_number("clip-norm", 0));
    put("training.label_smoothing", file_.take_number("label-smoothing", 0));
    const auto rate = file_.take_number("lr", 0.25);
    const auto schedule = file_.take_lower("lr-scheduler", "fixed");
    const bool is_inverse_sqrt = schedule == "inverse_sqrt";
    const auto warmup = file_.take_number("warmup-updates", is_inverse_sqrt ? 4000 : 0);
    if (is_inverse_sqrt) {
      put_inverse_square_root(rate, warmup);
    } else {
      put("training.learning_rate", rate);
      if (warmup > 0) put_integer("training.warmup_steps", warmup);
      if (schedule == "cosine") put("training.scheduling", "cosine");
      if (schedule != "fixed" && schedule != "cosine")
        file_.note("lr-scheduler", "constant is used");
    }
    if (const auto patience = file_.take_number("patience", -1); patience > 0)
      put_integer("training.patience", patience);
    const auto metric = file_.take_lower("best-checkpoint-metric", "loss");
    put("training.early_stopping_metric", metric == "bleu"  ? "bleu"
                                          : metric == "ppl" ? "perplexity"
                                                            : "loss");
    put("training.validation_unit", "epochs");
    put("training.validation_every", "1");
    copy("log-interval", "training.logging_every");
    copy("beam", "search.beam_size");
    if (const auto penalty = file_.take("lenpen")) {
      put("search.beam_alpha", *penalty);
      put("search.length_penalty", "power");
    }
    for (const auto* key : {"max-source-positions", "max-target-positions"}) {
      if (const auto longest = file_.take_number(key, 0); longest > 0)
        put_integer("data.max_length", longest);
    }
  }
};

}  // namespace

bool is_fairseq_command(std::string_view text) {
  return text.find("fairseq-train") != std::string_view::npos ||
         (text.find("--arch") != std::string_view::npos &&
          text.find("--task") != std::string_view::npos);
}

Converted convert_fairseq(std::string_view text, const std::string& name) {
  return FairseqConversion(command_as_yaml(text), name).run();
}

}  // namespace regard
