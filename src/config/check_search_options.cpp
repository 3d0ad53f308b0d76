#include "config/contradictions.h"

namespace regard {
namespace {

void check_groups(const TestingOptions& o, Contradictions& problems) {
  if (o.beam_size % o.beam_groups != 0) {
    problems.add(
        "testing.beam_groups is {}, but testing.beam_size is {}: wanted a divisor, as the groups "
        "share the hypotheses",
        o.beam_groups, o.beam_size);
  }
}

// An option that nobody reads is a mistake.
void check_readers(const TestingOptions& o, Contradictions& problems) {
  const TestingOptions defaults;
  if (o.beam_groups == 1 && o.diversity != defaults.diversity) {
    problems.add("testing.diversity: found {}, but testing.beam_groups is 1: one beam has none",
                 o.diversity);
  }
}

}  // namespace

void check_search_options(const TestingOptions& o, Contradictions& problems) {
  if (o.min_output_length >= o.max_output_length) {
    problems.add(
        "testing.min_output_length is {}, but testing.max_output_length, </s> counted, is {}: "
        "wanted less",
        o.min_output_length, o.max_output_length);
  }
  check_groups(o, problems);
  check_readers(o, problems);
}

}  // namespace regard
