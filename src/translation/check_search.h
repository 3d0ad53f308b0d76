// The search's options against the model that they are to steer.
#pragma once

#include "config/testing_options.h"
#include "model/seq2seq.h"

namespace regard {

// ConfigError where the options contradict each other or the model.
void check_search(const TestingOptions& options, const Seq2Seq& model);

}  // namespace regard
