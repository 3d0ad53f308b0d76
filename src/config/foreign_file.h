// Recognises configurations of other programs, to report one clear error instead of many. Private
// to config/.
#pragma once

#include <yaml-cpp/node/node.h>

#include <string>

namespace regard {

// Throws ConfigError if the tree is a configuration of JoeyNMT (the message names the command that
// converts it), OpenNMT-py or Marian. `name` is the file name in messages.
void reject_foreign_configuration(const YAML::Node& root, const std::string& name);

// Throws ConfigError unless the tree is a configuration of JoeyNMT 2.
void require_joeynmt(const YAML::Node& root, const std::string& name);

}  // namespace regard
