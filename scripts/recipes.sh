#!/usr/bin/env bash
# Trains what `regard config init` proposes for 1,000 and 5,000 pairs of Multi30k, as a recurrent model and as a
# Transformer, and writes the table of docs/own_language_pair.md (scripts/recipes.sh --help). Finished cells are skipped
# and stopped ones are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" recipes "$@"
