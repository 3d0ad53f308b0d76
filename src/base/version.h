// The version of regard, as printed by --version and written into every manifest.
#pragma once

namespace regard {

const char* version();

}  // namespace regard
