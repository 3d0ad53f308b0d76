#include "base/version.h"

namespace regard {

const char* version() {
  return REGARD_VERSION;
}

}  // namespace regard
