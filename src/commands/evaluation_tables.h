// The tables of an evaluation, whatever format they are printed in.
#pragma once

#include <string>
#include <vector>

#include "commands/evaluation.h"
#include "report/table.h"

namespace regard {

// A row a system, a column a metric: "37.0 (37.0 ± 1.1) (p = 0.0010)*", with a star where p is
// below 0.05, as sacreBLEU has it; perplexity and alignment error rate where a model was asked.
Table score_table(const Evaluation& evaluation);
// By length and by frequency, each where asked for; the systems beside each other.
std::vector<Table> bucket_tables(const Evaluation& evaluation);

// "11–20", "21+"
std::string name_of(const LengthBucket& bucket);
std::string name_of(const FrequencyBucket& bucket);

}  // namespace regard
