#!/usr/bin/env bash
# Installs Java 17 and what Spark's pods are started by, and gives Java one path on every architecture: LINK
set -euo pipefail

link=$1
"$(dirname "$0")/debian_packages.sh" openjdk-17-jre-headless tini
java=$(readlink -f "$(command -v java)")
ln -s "${java%/bin/java}" "$link"
# Spark starts its JVM with this module, and not every package of Java has it.
"$link/bin/java" --list-modules | grep -q '^jdk.incubator.vector@'
