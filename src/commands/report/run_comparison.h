// Compares training runs: the options that differ, their best validations, the translations of the
// validation text that they share, and means over seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "commands/report/run_report.h"
#include "metrics/system_scores.h"
#include "report/table.h"

namespace regard {

struct ComparedRun {
  std::string name;                  // of the folder, or its path if two have the same name
  std::vector<std::string> values;   // of the options RunComparison::keys, as YAML
  std::optional<std::int64_t> step;  // the best validation
  std::vector<double> scores;        // RunComparison::metrics at this step; NaN if missing
  double seconds = 0;                // training time up to the last validation; NaN if unknown
};

// Means and standard deviations of runs that differ in their seed only.
struct SeedGroup {
  std::vector<std::size_t> runs;  // at least two, ascending
  std::vector<double> means;      // of RunComparison::metrics; NaN if a run has no score
  std::vector<double> deviations;
};

struct RunComparison {
  std::vector<std::string> keys;     // the options that differ, except those that name the run
  std::vector<std::string> metrics;  // columns of validations.tsv: loss, bleu, …
  std::vector<ComparedRun> runs;
  std::vector<SeedGroup> seeds;
  // The translations at the best validations, with intervals and a paired bootstrap against the
  // first run. Empty if the runs do not share source and reference of their validation.
  std::optional<Evaluation> evaluation;
  std::vector<ScoredText> texts;  // those of `evaluation`; empty without it
};

// Reads the runs in these folders. Leaves out paths that are not runs, with a warning, so that
// `runs/*` can be given. Throws CheckpointError if fewer than two are left, and the errors of
// read_run().
std::vector<RunRecord> read_runs(const std::vector<std::string>& paths);

RunComparison compare_runs(const std::vector<RunRecord>& runs);

// One row per run: its options that differ, its best validation, its time.
Table runs_table(const RunComparison& comparison);
// One row per group of seeds. Nullopt without groups.
std::optional<Table> seeds_table(const RunComparison& comparison);

// Returns the tables, and the scores with intervals.
std::string to_text(const RunComparison& comparison);
// As JSON text, NaN becomes null.
Json to_json(const RunComparison& comparison);

// Returns a page: the tables, learning curves of all runs, and the `sentences` validation sentences
// on which the runs differ most.
std::string comparison_page(const std::vector<RunRecord>& runs, std::size_t sentences);

}  // namespace regard
