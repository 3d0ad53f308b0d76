// The whole configuration, as the YAML file has it. Every default stands in these headers, once.
#pragma once

#include <cstdint>
#include <string>

#include "config/data_options.h"
#include "config/model_options.h"
#include "config/testing_options.h"
#include "config/training_options.h"

namespace regard {

struct Options {
  std::string name = "model";
  std::string device = "auto";
  std::int64_t threads = 0;
  DataOptions data;
  ModelOptions model;
  TrainingOptions training;
  TestingOptions testing;
};

template <typename Field>
void describe(Options& o, Field&& field) {
  field("name", o.name, "what this model is called");
  field("device", o.device, "auto (cuda:0 where there is one), cpu, cuda or cuda:N");
  field("threads", o.threads,
        "processor threads; 0 takes one for each processor that this process may use",
        between(0, 1024));
  field("data", o.data, "the corpora and how their text becomes tokens");
  field("model", o.model, "sizes and kinds");
  field("training", o.training, "the loop, the optimizer, validation, what is kept");
  field("testing", o.testing, "the search, in validation and in translation");
}

}  // namespace regard
