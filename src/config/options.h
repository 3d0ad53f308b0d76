// The whole configuration, in the structure of the YAML file. These headers define every default.
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
  field("name", o.name, "name of the model");
  field("device", o.device, "auto (cuda:0 if available, else cpu), cpu, cuda or cuda:N");
  field("threads", o.threads,
        "CPU threads; 0 uses one for each processor that this process may use", between(0, 1024));
  field("data", o.data, "corpora and tokenizer");
  field("model", o.model, "architecture and sizes");
  field("training", o.training, "training loop, optimizer, validation and checkpoints");
  field("testing", o.testing, "search, for validation and translation");
}

}  // namespace regard
