// Example for tests that draw attention: "They watch ." with "Ils regardent".
#pragma once

#include <string>
#include <vector>

#include "report/alignment_picture.h"

namespace regard {

inline AttentionPicture example_picture(std::vector<AttentionMatrix> matrices) {
  return {"", {"They", "watch", "."}, {"Ils", "regardent"}, std::move(matrices)};
}

}  // namespace regard
