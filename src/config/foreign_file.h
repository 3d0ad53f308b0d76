// Recognises the configurations of other programs, which would be errors in every line. Private to
// config/.
#pragma once

#include <yaml-cpp/node/node.h>

#include <string>

namespace regard {

// Throws ConfigError if the tree is a configuration of JoeyNMT (the message names the command that
// converts it), OpenNMT-py or Marian. `name` is what messages call the file.
void refuse_foreign_configuration(const YAML::Node& root, const std::string& name);

// Throws ConfigError if the tree is no configuration of JoeyNMT's version 2.
void require_joeynmt(const YAML::Node& root, const std::string& name);

}  // namespace regard
