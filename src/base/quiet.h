// --quiet: on standard error nothing but warnings and errors. What goes into a run's train.log
// stays.
#pragma once

namespace regard {

void be_quiet();
bool is_quiet();

}  // namespace regard
