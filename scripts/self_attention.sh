#!/usr/bin/env bash
# Measures what the heads of a Transformer attend to in their own sequence, and draws two: within a phrase, and from
# a pronoun to its noun (scripts/self_attention.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" self_attention "$@"
