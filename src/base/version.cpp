#include "base/version.h"

namespace regard {

const char* version() {
  return REGARD_VERSION;
}

const char* release_date() {
  return REGARD_DATE;
}

}  // namespace regard
