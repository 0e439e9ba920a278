#!/usr/bin/env bash
# Gives an environment's Spark the path at which Kubernetes mounts its settings: ENVIRONMENT LINK
set -euo pipefail

spark=$("$1/bin/python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
ln -s "$spark" "$2"
mkdir -p "$2/conf"
