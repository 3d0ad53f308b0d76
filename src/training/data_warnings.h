// Warnings about a validation pair whose scores would mislead.
#pragma once

#include "config/options.h"
#include "data/corpus.h"

namespace regard {

// `dev` may be null. Warns of text without spaces, whose words BLEU does not find; of targets that
// are longer than outputs may be; of tags that all corpora have and the validation pair lacks; and
// of exchanged sides.
void warn_of_validation_data(const Options& options, const Corpus* dev);

}  // namespace regard
