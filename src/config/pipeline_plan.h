// Reads the plan of a pipeline: variables and named steps, each a command of regard.
//
//     variables:
//       src:                        # without a value: the command line must set it
//       out: runs/mine
//     steps:
//       model: train -c ${plan}/mine.yaml data.train.0.src=${src}
//       test: [evaluate, -m, "${model}", -s, test.en, -r, test.de]
//
// ${NAME} is the value of a variable or the result of a step, OUT/NAME, which the step then needs.
// ${plan} is the folder of the plan, OUT the value of the variable `out`.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace regard {

struct PlannedStep {
  std::string name;
  int line = 0;                    // in the plan, from 1
  std::vector<std::string> words;  // the command and its options
  std::set<std::string> needs;     // names of steps
};

struct PipelinePlan {
  std::string path;
  std::string out;
  std::vector<PlannedStep> steps;  // each after those that it needs, else in the order of the plan
};

// Reads a plan. An assignment is "variable=value". Throws ConfigError with file:line for text that
// is not a plan, an unknown variable or step, a variable without a value that is used, and a cycle.
PipelinePlan read_plan(const std::filesystem::path& path,
                       const std::vector<std::string>& assignments);

}  // namespace regard
