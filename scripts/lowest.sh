#!/usr/bin/env bash
# Install the lowest versions that pyproject.toml allows of everything taut needs, and run a small part of the tests.
#     bash scripts/lowest.sh [FOLDER]      FOLDER keeps the environment; default: a temporary one
set -eu
cd "$(dirname "$0")/.."
folder="${1:-$(mktemp -d)}"
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
# "numba>=0.68,<0.69" becomes "numba==0.68.*": the first series that is allowed.
"$folder/bin/python" - > "$folder/lowest.txt" <<'PYTHON'
import re
import tomllib

with open("pyproject.toml", "rb") as file:
    wanted = tomllib.load(file)["project"]["dependencies"]
for line in wanted:
    name, version = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
    print(f"{name}=={version}.*")
PYTHON
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$folder/lowest.txt" pytest trimesh
"$folder/bin/python" -m pip list --disable-pip-version-check --format freeze | grep -iE "^($(sed 's/==.*//' "$folder/lowest.txt" | paste -sd'|'))=="
PYTHONPATH="$PWD" "$folder/bin/python" -m pytest -p no:cacheprovider -q tests/test_scene.py tests/test_scene_files.py \
    tests/test_shapes.py tests/test_result.py tests/test_cli.py tests/test_plots.py
