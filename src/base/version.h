// The version of regard, as printed by --version and written into every manifest.
#pragma once

namespace regard {

const char* version();
// Of the build's configuration, or SOURCE_DATE_EPOCH: 2026-11-22.
const char* release_date();

}  // namespace regard
