#!/usr/bin/env bash
# Puts Delta's jars, and those for s3:// addresses, on the class path of an environment's Spark: ENVIRONMENT
# A session then needs no network, and a job no setting.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPARK_LOCAL_HOSTNAME=localhost # where images are built, the machine's own name often leads nowhere
spark=$("$1/bin/python" - "$work" <<'PYTHON'
import sys
from pathlib import Path

import pyspark

from benchcore.ingest.jars import resolve_jars, resolve_s3_jars

resolve_jars(Path(sys.argv[1]))
resolve_s3_jars(Path(sys.argv[1]))
print(Path(pyspark.__file__).parent)
PYTHON
)
mv "$work"/*.jar "$spark/jars/"
