#!/usr/bin/env bash
# Make an environment in this checkout, install taut with what its checks need, and run all of them.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'

# A browser, for the tests that look at pages. Without one they are skipped, but fail in CI.
if [ "${CI:-}" = true ] && ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    (apt-get update && apt-get install --yes --no-install-recommends chromium) >/dev/null 2>&1 || echo "no browser could be installed"
fi

.venv/bin/ruff check taut tests
.venv/bin/mypy
# Compiled code of an earlier checkout must not hide a fault: in CI the cache starts empty.
if [ "${CI:-}" = true ]; then
    TAUT_CACHE_DIR="$(mktemp -d)"
    export TAUT_CACHE_DIR
    trap 'rm -rf "$TAUT_CACHE_DIR"' EXIT
fi
.venv/bin/python -m pytest --numprocesses 2 --dist loadfile "$@"
