#!/usr/bin/env bash
# Makes an environment of benchcore with some of its extras, at the versions of constraints.txt: SOURCE ENVIRONMENT EXTRAS
set -euo pipefail

source=$1 environment=$2 extras=$3
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check -c "$source/constraints.txt" uv
python3 -m venv --without-pip "$environment"
# Compiled at once: where it runs, its files cannot be written. The system's certificates, as in infra/setup.
UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}" "$tools/bin/uv" pip install --quiet --no-cache --link-mode=copy --compile-bytecode \
  --python "$environment/bin/python" -c "$source/constraints.txt" --build-constraints "$source/constraints.txt" \
  "${source}[$extras]"
