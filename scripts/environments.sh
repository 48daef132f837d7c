#!/usr/bin/env bash
# Run a part of the tests with other versions than those of scripts/test.sh: with the lowest of every package that
# pyproject.toml allows, and with each newer Python that it names and this machine has.
#     bash scripts/environments.sh [lowest | 3.12 | 3.13 …]      without words: all of them
set -eu
cd "$(dirname "$0")/.."
TESTS="tests/test_compiled.py tests/test_lowering.py tests/test_references.py tests/test_scene.py tests/test_scene_files.py
    tests/test_shapes.py tests/test_result.py tests/test_store.py tests/test_cli.py tests/test_plots.py tests/test_linalg.py
    tests/test_mechanisms.py tests/test_contact.py"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# The packages that taut needs, one a line: as pyproject.toml names them, or, for "lowest", the first series allowed
# ("numba>=0.68,<0.69" becomes "numba==0.68.*").
packages() {
    python3 - "$1" <<'PYTHON'
import re
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    for line in tomllib.load(file)["project"]["dependencies"]:
        name, version = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
        print(f"{name}=={version}.*" if sys.argv[1] == "lowest" else line)
PYTHON
}

# The interpreter of a version: on the path, or one of pyenv's.
interpreter() {
    if [ "$1" = lowest ]; then
        command -v python3
    elif "python$1" -c "" 2> /dev/null; then
        command -v "python$1"
    else
        ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2> /dev/null | tail -n 1
    fi
}

check() {
    python="$(interpreter "$1")"
    if [ -z "$python" ]; then
        echo "environments: this machine has no Python $1: not checked"
        return
    fi
    "$python" -m venv "$folder/$1"
    packages "$1" > "$folder/$1.txt"
    "$folder/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile -r "$folder/$1.txt" \
        pytest pytest-xdist trimesh meshio hypothesis 2> "$folder/pip.txt" || { cat "$folder/pip.txt" >&2; exit 1; }
    echo "environments: $1: $("$folder/$1/bin/python" --version), $("$folder/$1/bin/python" -m pip list \
        --disable-pip-version-check --format freeze 2> /dev/null | grep -E '^(numpy|scipy|numba|xarray|zarr|pydantic)=' | paste -sd' ')"
    # shellcheck disable=SC2086
    PYTHONPATH="$PWD" TAUT_CACHE_DIR="$folder/cache" "$folder/$1/bin/python" -m pytest -p no:cacheprovider \
        --disable-warnings --numprocesses 2 --dist loadfile $TESTS
}

for version in ${*:-lowest 3.12 3.13}; do check "$version"; done
