// The library: loads a trained model once to translate and score any number of texts.
//
//   #include <regard/model.h>
//   const regard::Model model("runs/mine");
//   std::cout << model.translate({"They are watching ."})[0];
//
// A CMake project calls find_package(regard) and links regard::regard. This header includes only
// the standard library, not LibTorch.
//
// Expected errors are thrown as std::runtime_error whose what() says what is wrong, where, and what
// to do; error_kind.h tells their kinds. Warnings go to stderr. LibTorch's own threads are turned
// off for the whole process: a program that uses LibTorch too must create its first Model before
// its first tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regard {

// Constraints of a translation: its beginning, and phrases that it must and must not have.
struct LineConstraints {
  std::string prefix = {};
  std::vector<std::string> require = {};
  std::vector<std::string> ban = {};
};

// A term of the source language and its translations, one of which a translation must have where
// the term occurs (docs/decoding.md).
struct GlossaryTerm {
  std::string source;
  std::vector<std::string> targets;
};

struct LineOptions {
  std::vector<LineConstraints> constraints = {};  // none, one for all lines, or one for each line
  // A line of several sentences is translated sentence by sentence, and the translations are
  // joined; not if lines of the training text held several, nor for n-best lists, samples, mbr and
  // lines with constraints.
  bool whole_lines = false;  // split none
  // A line of more words is split into sentences, and longer sentences into parts of at most so
  // many. 0: sentences, as above.
  std::size_t split_length = 0;
  std::string glossary_file = {};           // of terms, for all lines; empty: none
  std::vector<GlossaryTerm> glossary = {};  // more of them
};

class __attribute__((visibility("default"))) Model {
 public:
  struct Hypothesis {
    std::string text;
    double log_probability;  // Σ ln P of its tokens
    double score;  // ranks hypotheses; with `mbr` the expected utility; score() sets it to
                   // log_probability
    std::vector<std::string> tokens;            // with </s> if it was reached
    std::vector<double> token_log_probability;  // one per token
    std::vector<std::vector<float>> attention;  // [tokens][source_tokens]; empty without attention
    // Pairs of a source word and the target word that attends to it, from 0; empty as `attention`.
    std::vector<std::pair<std::size_t, std::size_t>> alignment;
  };
  struct Translation {
    std::vector<std::string> source_tokens;  // with </s>
    std::vector<Hypothesis> hypotheses;      // best first; none for a blank line
  };
  // The weights of heads: [layer][head][i][j] is the weight with which position i attends to j.
  using HeadWeights = std::vector<std::vector<std::vector<std::vector<float>>>>;
  struct SelfAttention {
    std::vector<std::string> source_tokens;   // S tokens, with </s>
    std::vector<std::string> decoder_inputs;  // T tokens: <s> and the target
    HeadWeights encoder;  // [layers][heads][S][S]; empty if the encoder has no self-attention
    HeadWeights decoder;  // [layers][heads][T][T], 0 for j > i; empty as for the encoder
  };

  // The mean of an ensemble: `log_linear` of log-probabilities, or `linear` of probabilities.
  struct Ensemble {
    std::string mean = "log_linear";
    std::vector<double> weights;  // one for each model, above 0; empty: equal
  };

  // Receives the number of finished lines, on any thread, one call at a time; also now and then
  // while no line is finished. It must not call the Model. If it throws, the call that it belongs
  // to ends and throws that exception: a translation after the decoding step in progress, another
  // call after its batches in progress.
  using Progress = std::function<void(std::size_t finished)>;

  // `folder`: a run folder (its best, else its last model) or a model folder. `device`: auto
  // (cuda:0 if available), cpu, cuda or cuda:N. `threads`: 0 for one per processor that this
  // process may use. `precision` of the factors of matrix products: fp32, bf16, int8, tf32, or
  // auto: bf16 on processors where it is faster, else fp32. int8 needs device cpu, tf32 a GPU, for
  // which it sets LibTorch's permission to compute in TF32, for the whole process. Otherwise cuDNN
  // uses it if LibTorch allows it, as it does unless the program says otherwise. `source_tag` and
  // `target_tag`: user symbols that select a direction of the model (docs/transfer.md), or empty.
  // Throws if the folder is not a model, or the device, precision or tag is not available.
  explicit Model(const std::string& folder, const std::string& device = "auto",
                 std::int64_t threads = 0, const std::string& precision = "auto",
                 const std::string& source_tag = "", const std::string& target_tag = "");
  // Several models with the same vocabularies, as an ensemble. Throws for models that differ.
  explicit Model(const std::vector<std::string>& folders, const Ensemble& ensemble,
                 const std::string& device = "auto", std::int64_t threads = 0,
                 const std::string& precision = "auto", const std::string& source_tag = "",
                 const std::string& target_tag = "");
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // Returns a model that translates and scores with these tags, in place of those of this one. Both
  // share the weights, the threads and the batches, and either may outlive the other. Throws if a
  // tag is not available.
  Model with_tags(const std::string& source_tag, const std::string& target_tag) const;

  // Returns the translation of each line; empty for a blank line. `search` overrides search
  // options, by the keys of section `search` in docs/configuration.md: {"beam_size=10",
  // "beam_alpha=0.6"}. The others keep their values in the model's configuration. Throws for an
  // unknown option, a line that is not UTF-8, and a line that the model cannot read; for
  // constraints with words that are not in the vocabulary, that contradict each other, or are too
  // many.
  //
  // The functions of a Model may be called from several threads. Translations that run at the same
  // time share the threads and the batches of the model, some lines of each in turn, unless their
  // option batch_size differs. Another call has the threads for itself, so it waits for the calls
  // before it, and the calls after it wait.
  std::vector<std::string> translate(const std::vector<std::string>& lines,
                                     const std::vector<std::string>& search = {},
                                     const Progress& progress = {},
                                     const LineOptions& options = {}) const;
  // Returns the n best translations with all details; one of a line that is split. Throws unless n
  // is from 1 to beam_size or, if samples > 0, to samples.
  std::vector<Translation> n_best(const std::vector<std::string>& lines, std::size_t n,
                                  const std::vector<std::string>& search = {},
                                  const Progress& progress = {},
                                  const LineOptions& options = {}) const;
  // Scores targets[i] as a translation of sources[i]. Returns one translation per pair, whose only
  // hypothesis is targets[i]. Throws if the sizes differ.
  std::vector<Translation> score(const std::vector<std::string>& sources,
                                 const std::vector<std::string>& targets,
                                 const Progress& progress = {}) const;
  // Returns the self-attention of the model for each pair of a source and a translation of it.
  // Empty for a blank source. Throws if the sizes differ.
  std::vector<SelfAttention> self_attention(const std::vector<std::string>& sources,
                                            const std::vector<std::string>& targets,
                                            const Progress& progress = {}) const;

 private:
  struct Parts;
  explicit Model(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace regard
