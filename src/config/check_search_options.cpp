#include "config/contradictions.h"

namespace regard {

void check_search_options(const TestingOptions& o, Contradictions& problems) {
  if (o.min_output_length >= o.max_output_length) {
    problems.add(
        "testing.min_output_length is {}, but testing.max_output_length, </s> counted, is {}: "
        "wanted less",
        o.min_output_length, o.max_output_length);
  }
}

}  // namespace regard
