#!/usr/bin/env bash
# Installs the build dependencies of regard: Debian packages, and LibTorch from the PyTorch wheel in .venv
# (Python only downloads it; regard never runs Python). A second run changes nothing and needs no root.
# If CMAKE_PREFIX_PATH contains a LibTorch, that one is used.
set -euo pipefail

readonly torch_version=2.13.0
readonly environment_error=6
readonly packages=(
  g++ cmake ninja-build pkg-config ccache
  libboost-dev libcli11-dev libcpp-httplib-dev libspdlog-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev
  libgloo-dev libsentencepiece-dev libutf8proc-dev libicu-dev libgumbo-dev libssl-dev
  libpng-dev zlib1g-dev libarchive-dev libxml2-dev libgtest-dev libgmock-dev
)
# Packages needed to install the PyTorch wheel, and to build the Python package against it.
readonly wheel_packages=(python3 python3-dev python3-venv ca-certificates)
readonly developer_packages=(clang-tidy shellcheck zsh fish)
# Needed to build the Python package without downloads, and for its tests.
readonly python_packages=(
  nanobind==3.1.0 scikit-build-core==1.1.2 numpy==2.4.6 pytest==9.2.0 sentencepiece==0.2.3 safetensors==0.8.0 PyYAML==6.0.4
)
readonly clang_format_version=14.0.6 # versions differ in places; tests/style/format.sh needs this one

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root

usage() {
  cat <<USAGE
usage: scripts/setup.sh [--dev] [--python] [--no-packages] [--no-torch] [pip options…]

  --dev          also install the tools of scripts/lint.sh: clang-format $clang_format_version (into
                 .venv), clang-tidy and shellcheck, and the shells whose completions are tested
  --python       also install into .venv what the tests of the Python package need
  --no-packages  do not install system packages (they are installed already)
  --no-torch     do not download LibTorch (pass its path to CMake yourself)
  pip options    passed to 'pip install torch==$torch_version', for example
                 --index-url <the PyTorch index of CPU wheels> on a machine without a GPU

For Debian 12. Other systems with apt and these packages were not tried.
USAGE
}

say() { printf 'setup: %s\n' "$*"; }

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit "$environment_error"
}

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

install_packages() {
  local wanted=("$@") missing=() as_root=() package
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "found no apt on this system; install the equivalents of these Debian packages: ${wanted[*]}" \
      "then run scripts/setup.sh --no-packages"
  fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all ${#wanted[@]} system packages are installed"
    return
  fi
  if ((EUID != 0)); then
    as_root=(sudo)
    command -v sudo >/dev/null ||
      fail "packages are missing, installing them needs root, and sudo is not installed; run as root" \
        "  apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  # An unreadable third-party list is no reason to stop: apt-get install reports missing packages.
  "${as_root[@]}" apt-get update -qq ||
    say "apt-get update failed; continuing with the existing package lists"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null ||
    fail "apt-get could not install all packages; fix the errors above and run this script again"
}

# Prints the LibTorch folder of an entry of CMAKE_PREFIX_PATH, if there is one. An entry is the LibTorch
# folder itself or, as PyTorch prints it, its share/cmake.
libtorch_in_prefix_path() {
  local entries entry
  IFS=':;' read -r -a entries <<<"${CMAKE_PREFIX_PATH:-}"
  for entry in "${entries[@]}"; do
    [[ $entry ]] || continue
    if [[ -f $entry/share/cmake/Torch/TorchConfig.cmake ]]; then
      printf '%s\n' "$entry"
      return
    elif [[ -f $entry/Torch/TorchConfig.cmake ]]; then
      (cd "$entry/../.." && pwd)
      return
    fi
  done
}

has_wheel() {
  local site
  for site in "$root"/.venv/lib/python3*/site-packages; do
    # pip writes the dist-info last, so an interrupted install does not count.
    compgen -G "$site/torch-$torch_version*.dist-info" >/dev/null &&
      [[ -f $site/torch/share/cmake/Torch/TorchConfig.cmake ]] && return
  done
  return 1
}

install_wheel() {
  say "installing torch $torch_version into .venv"
  [[ -x $root/.venv/bin/pip ]] || python3 -m venv "$root/.venv" ||
    fail "python3 cannot create .venv; is python3-venv installed?"
  "$root/.venv/bin/pip" install "torch==$torch_version" "$@" ||
    fail "pip could not install torch $torch_version; pass pip options to scripts/setup.sh" \
      "(an index, a proxy), or set CMAKE_PREFIX_PATH to an existing LibTorch"
}

install_formatter() {
  local formatter=$root/.venv/bin/clang-format
  if [[ $("$formatter" --version 2>/dev/null) == *"version $clang_format_version"* ]]; then
    say "clang-format $clang_format_version is installed in .venv"
    return
  fi
  say "installing clang-format $clang_format_version into .venv"
  [[ -x $root/.venv/bin/pip ]] || python3 -m venv "$root/.venv" ||
    fail "python3 cannot create .venv; install python3-venv"
  "$root/.venv/bin/pip" install --quiet "clang-format==$clang_format_version" ||
    fail "pip could not install clang-format $clang_format_version"
}

has_python_packages() {
  "$root/.venv/bin/python" - "${python_packages[@]}" <<'PYTHON'
import importlib.metadata
import sys


def is_installed(requirement):
    name, version = requirement.split("==")
    try:
        return importlib.metadata.version(name) == version
    except importlib.metadata.PackageNotFoundError:
        return False


sys.exit(not all(is_installed(requirement) for requirement in sys.argv[1:]))
PYTHON
}

# Without these packages, everything but the tests of the Python package works.
install_python_packages() {
  if ! has_wheel; then
    say "found no PyTorch in .venv, so the tests of the Python package will be skipped"
  elif has_python_packages; then
    say "the packages for the tests of the Python package are installed in .venv"
  else
    say "installing ${python_packages[*]} into .venv"
    "$root/.venv/bin/python" -m pip install --quiet "${python_packages[@]}" ||
      say "pip could not install them, so the tests of the Python package will be skipped"
  fi
}

main() {
  local with_packages=true with_torch=true with_tools=false with_python=false existing_libtorch
  while (($# > 0)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --dev) with_tools=true ;;
      --python) with_python=true ;;
      --no-packages) with_packages=false ;;
      --no-torch) with_torch=false ;;
      *) break ;;
    esac
    shift
  done

  local wanted=("${packages[@]}")
  existing_libtorch=$(libtorch_in_prefix_path)
  if [[ $with_torch == true && -z $existing_libtorch ]]; then
    wanted+=("${wheel_packages[@]}")
  fi
  if [[ $with_tools == true ]]; then
    wanted+=(python3 python3-venv "${developer_packages[@]}")
  fi
  if [[ $with_packages == true ]]; then
    install_packages "${wanted[@]}"
  fi
  if [[ $with_torch == false ]]; then
    say "not installing LibTorch (--no-torch)"
  elif [[ $existing_libtorch ]]; then
    say "using LibTorch from CMAKE_PREFIX_PATH: $existing_libtorch"
  elif has_wheel; then
    say "torch $torch_version is installed in .venv"
  else
    install_wheel "$@"
  fi
  if [[ $with_python == true ]]; then
    install_python_packages
  fi
  if [[ $with_tools == true ]]; then
    install_formatter
  fi
}

main "$@"
