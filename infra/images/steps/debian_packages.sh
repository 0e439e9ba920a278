#!/usr/bin/env bash
# Installs Debian packages and leaves no lists behind: PACKAGE...
# Their versions are those of the base image's release: its archive keeps only the newest, so a pinned one would soon fail.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@"
rm -rf /var/lib/apt/lists/*
