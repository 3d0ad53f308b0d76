// Shows the attention of one sentence on a page (report/page.h): as lines between words, and as an
// interactive matrix.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/alignment_picture.h"

namespace regard {

// Two columns of words, source left and target right. A thick pale line joins two words, with their
// weight as its opacity (weights below 0.05 have none); a thin solid line shows a link.
struct AlignmentLines {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::vector<std::vector<float>> weights;                 // [target][source]; may be empty
  std::vector<std::pair<std::size_t, std::size_t>> links;  // (source word, target word), from 0
};

// Returns an <svg> element for a page (report/page.h). Throws std::invalid_argument if the weights
// do not match the words or a link is to a word that does not exist.
std::string alignment_lines(const AlignmentLines& lines);

// Returns the HTML of an interactive view for a page: the words in two lines, the matrix, and
// controls to select a target word and a map (a head or a layer). The selected word highlights the
// words that it attends to.
//
// Each matrix of the picture is a map, named by its caption. Without scripts the page shows the
// first map. `notes` are the tooltips of the target words: one per word, or empty. Returns "" if
// the picture has no matrix. Throws the errors of alignment_svg().
std::string attention_viewer(const AttentionPicture& picture,
                             const std::vector<std::string>& notes = {});

// One kind of attention of a sentence, such as the self-attention of the encoder.
struct AttentionView {
  std::string name;
  AttentionPicture picture;
  std::vector<std::string> notes = {};  // as for attention_viewer()
};

// Returns the attention viewers of several kinds, and a control to select one. Without scripts the
// page shows all, each below its name. One view has no name. Throws the errors of alignment_svg().
std::string attention_viewers(const std::vector<AttentionView>& views);

}  // namespace regard
