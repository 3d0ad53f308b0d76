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
  if (o.samples > 0 && o.beam_groups > 1) {
    problems.add("testing.beam_groups is {}, but testing.samples is {}: samples have no beam",
                 o.beam_groups, o.samples);
  }
}

// An option that nobody reads is a mistake.
void check_readers(const TestingOptions& o, Contradictions& problems) {
  const TestingOptions defaults;
  const auto unread = [&](auto TestingOptions::*key, const std::string& name) {
    if (o.*key == defaults.*key) return;
    problems.add("testing.{}: found {}, but testing.samples is 0: only samples heed it", name,
                 o.*key);
  };
  if (o.samples == 0) {
    unread(&TestingOptions::temperature, "temperature");
    unread(&TestingOptions::top_k, "top_k");
    unread(&TestingOptions::top_p, "top_p");
    unread(&TestingOptions::seed, "seed");
  }
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
