// Parses untrusted YAML text, and recognises configurations of other programs. Private to config/.
#pragma once

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/node/node.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace regard {

constexpr std::size_t max_yaml_bytes = 1 << 20;  // of a configuration file

// Returns "a blank must follow the colon in `epochs:40`" if the text, a line or a value, begins
// like this, in a list after `- `; else "". The name must be the last part of a key of regard.
std::string missing_blank(std::string_view text);

// Returns the parser's message; with the remedy if a text begins with *.
std::string parse_fault(const YAML::Exception& error);

// Throws ConfigError with name:line if the text is not UTF-8.
void check_utf8(std::string_view text, const std::string& name);

// Returns the single document of the text, or Null if it is empty. Throws ConfigError with
// name:line if the text is not UTF-8 or not YAML, is larger than 1 MB, has a second document, nests
// deeper than 64 levels or has more than 100,000 values.
//
// Checks the limits on the parser's events before it builds the tree, for two reasons. The tree
// takes some hundred bytes of memory per byte of text; events are not stored. And yaml-cpp 0.7
// finds empty documents forever in text that begins with a comma or a closing bracket.
//
// For the most usual slips, the message is not the parser's: a colon without a blank, and keys of a
// section in different columns.
YAML::Node load_yaml(std::string_view yaml, const std::string& name);

// The trainers whose YAML configurations are recognised.
enum class ForeignTrainer { joeynmt, opennmt, marian };
constexpr std::array<std::string_view, 3> enum_names(ForeignTrainer) {
  return {"JoeyNMT", "OpenNMT-py", "Marian"};
}

// Returns the trainer whose configuration the tree is; nullopt for others, such as regard's own.
std::optional<ForeignTrainer> trainer_of(const YAML::Node& root);

// Throws ConfigError, which names the command that converts it, if trainer_of() recognises the
// tree. `name` is the file name in messages.
void reject_foreign_configuration(const YAML::Node& root, const std::string& name);

// Throws ConfigError unless the tree is a configuration of JoeyNMT 2.
void require_joeynmt(const YAML::Node& root, const std::string& name);

}  // namespace regard
