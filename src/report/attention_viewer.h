// An interactive view of one sentence's attention for a page (report/page.h): the words in two
// lines, the matrix, and controls to select a target word and a map (a head or a layer). The
// selected word highlights the words that it attends to.
#pragma once

#include <string>
#include <vector>

#include "report/alignment_picture.h"

namespace regard {

// Each matrix of the picture is a map, named by its caption. Without scripts the first one is
// shown. `notes`, one per target word or none, are tooltips. Throws the errors of alignment_svg().
std::string attention_viewer(const AttentionPicture& picture,
                             const std::vector<std::string>& notes = {});

}  // namespace regard
