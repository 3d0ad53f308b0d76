// What belongs to one kind of encoder, decoder or attention: an option that the chosen kind does
// not read is a mistake of the configuration, and never ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "config/contradictions.h"
#include "config/options.h"

namespace regard {

// Adds a contradiction for each key that differs between `given` and `defaults` and that nobody
// reads: reason(key) says why, "dot does not read it", and is empty where the key is read.
void refuse_unread(const Options& defaults, const Options& given,
                   const std::function<std::string(const std::string&)>& reason,
                   Contradictions& problems);

// That there is a position for each token of a sentence of max_length and its </s>.
void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     Contradictions& problems);

// The kinds of encoder and decoder: their options, and sizes that do not fit.
void check_kinds(const Options& options, Contradictions& problems);

}  // namespace regard
