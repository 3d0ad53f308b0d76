// The HTML page of `translate --report`: attention and search of each sentence.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "report/alignment_picture.h"
#include "translation/explanation.h"

namespace regard {

// Returns one matrix [target tokens, source tokens] for each of these that the model has:
// - the distribution of a pointer, with the chosen positions;
// - the distribution of hard attention with the chosen positions, or the weights of soft attention
//   (their mean over the heads of the last layer);
// - the weights of each head of each layer;
// - the copy distribution of a copying output.
std::vector<AttentionMatrix> attention_maps(const Explanation& explanation,
                                            const ModelOptions& options);

// Returns HTML with source and translation, the attention of the best hypothesis, also the
// self-attention of encoder and decoder, its word alignment, the n-best list, and the search tree
// if the search was asked for it (SearchRequest::want_tree). A note replaces self-attention that
// takes more than `room` bytes. The translation must have a hypothesis.
std::string sentence_html(const LoadedModel& model, const std::string& line,
                          const Translation& translation, WeightScale scale = WeightScale::absolute,
                          std::size_t room = std::numeric_limits<std::size_t>::max());

// Writes the page with the first 50 sentences. It shows self-attention up to a size of 16 MB.
class ReportOutput {
 public:
  // `model` must outlive this object. Throws the errors of OutputFile.
  ReportOutput(const std::string& path, const LoadedModel& model, WeightScale scale);

  // Must be called for every line in order, because it counts the lines.
  void add(const std::string& line, const Translation& translation);
  void commit();

 private:
  OutputFile file_;
  const LoadedModel& model_;
  WeightScale scale_;
  std::size_t lines_ = 0;
  std::size_t sentences_ = 0;  // lines with a translation
  std::string body_;
};

}  // namespace regard
