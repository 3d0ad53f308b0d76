// Helper for tests of error messages.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace regard {

// Returns the message of the ConfigError that `call` throws, or "no error".
template <typename Call>
std::string config_error(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace regard
