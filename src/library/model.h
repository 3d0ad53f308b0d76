// The library: a trained model, loaded once and asked as often as you like.
//
//   #include <regard/model.h>
//   const regard::Model model("runs/mine");
//   std::cout << model.translate({"They are watching ."})[0];
//
// A CMake project says find_package(regard) and links regard::regard. This header needs the
// standard library alone; LibTorch is behind it.
//
// What is foreseen to fail is thrown as a std::runtime_error whose what() is a sentence: what is
// wrong, where, and what to do. Warnings go to stderr. LibTorch's own threads are turned off, for
// the whole process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regard {

class __attribute__((visibility("default"))) Model {
 public:
  struct Hypothesis {
    std::string text;
    double log_probability;                     // Σ ln P of its tokens
    double score;                               // what the search ranks by
    std::vector<std::string> tokens;            // with </s> where it was reached
    std::vector<double> token_log_probability;  // of each token; in what score() returns
    std::vector<std::vector<float>> attention;  // [tokens][source_tokens], where the model has it
  };
  struct Translation {
    std::vector<std::string> source_tokens;  // with </s>
    std::vector<Hypothesis> hypotheses;      // best first; none for a blank line
  };

  // `folder`: a run folder (its best model, else its last) or a model folder. `device`: auto
  // (cuda:0 where there is one), cpu, cuda or cuda:N. `threads`: 0 is one for each processor
  // that this process may use.
  explicit Model(const std::string& folder, const std::string& device = "auto",
                 std::int64_t threads = 0);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // Text i translates line i; that of a blank line is empty. `search` changes how, by the keys of
  // the section `testing` of docs/configuration.md: {"beam_size=10", "beam_alpha=0.6"}; all others
  // are as in the model's configuration. One call at a time: each uses all of the threads.
  std::vector<std::string> translate(const std::vector<std::string>& lines,
                                     const std::vector<std::string>& search = {}) const;
  // All that is known of the n best; at most beam_size of them, or samples.
  std::vector<Translation> n_best(const std::vector<std::string>& lines, std::size_t n,
                                  const std::vector<std::string>& search = {}) const;
  // How probable the model finds targets[i] as a translation of sources[i]: its one hypothesis.
  std::vector<Translation> score(const std::vector<std::string>& sources,
                                 const std::vector<std::string>& targets) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace regard
