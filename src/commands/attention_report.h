// What attention and search made of a sentence, for people to look through in a page.
#pragma once

#include <string>
#include <vector>

#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "report/alignment_picture.h"
#include "translation/explanation.h"

namespace regard {

// The weights of the whole target, each kind as what it is: where a pointer points and how surely;
// what hard attention chose, and how probable each position was; a mean and its heads, layer by
// layer; with a copying output, what was copied from where. None without attention.
std::vector<AttentionMatrix> attention_maps(const Explanation& explanation,
                                            const ModelOptions& options);

// Source and translation, the attention of the best hypothesis and its links between words, the
// n-best list, and the tree of the search where it was kept.
std::string sentence_html(const ReadyModel& model, const std::string& line,
                          const Translation& translation,
                          WeightScale scale = WeightScale::absolute);

// The page of `translate --report`: the first sentences, as many as a page bears (50).
class ReportOutput {
 public:
  ReportOutput(const std::string& path, const ReadyModel& model, WeightScale scale);

  void add(const std::string& line, const Translation& translation);
  void commit();

 private:
  OutputFile file_;
  const ReadyModel& model_;
  WeightScale scale_;
  std::size_t lines_ = 0;
  std::size_t shown_ = 0;
  std::string body_;
};

}  // namespace regard
