// The kinds of errors that the library throws, for programs that handle them differently.
#pragma once

#include <exception>

namespace regard {

enum class ErrorKind {
  unexpected,     // not thrown by regard, or a bug in it
  configuration,  // an argument or an option: unknown, or out of range
  input,          // a text: not UTF-8, or it does not fit the model
  checkpoint,     // a model folder: damaged, or not a model
  environment     // a file, device or processor feature is missing; too little memory
};

// Returns the kind of an exception that a function of the library threw.
__attribute__((visibility("default"))) ErrorKind error_kind(const std::exception& error);

}  // namespace regard
