// "They watch ." with "Ils regardent", for the tests of what draws attention.
#pragma once

#include <string>
#include <vector>

#include "report/alignment_picture.h"

namespace regard {

inline AttentionPicture example_picture(std::vector<AttentionMatrix> matrices) {
  return {"", {"They", "watch", "."}, {"Ils", "regardent"}, std::move(matrices)};
}

}  // namespace regard
