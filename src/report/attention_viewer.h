// One sentence's attention to look through in a page (report/page.h): its words in two lines, the
// matrix, and controls that go from target word to target word and from map to map (head by head,
// layer by layer). The word in hand shades what it looked at.
#pragma once

#include <string>
#include <vector>

#include "report/alignment_picture.h"

namespace regard {

// Each matrix of the picture is a map, under its caption; the first is the one shown without
// scripts. `notes`, one a target word or none, are told where the pointer stands. Throws as
// alignment_svg() does.
std::string attention_viewer(const AttentionPicture& picture,
                             const std::vector<std::string>& notes = {});

}  // namespace regard
