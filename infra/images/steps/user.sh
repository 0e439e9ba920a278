#!/usr/bin/env bash
# Makes the user that the image runs as, with a home of its own: NAME ID
set -euo pipefail

groupadd --gid "$2" "$1"
useradd --uid "$2" --gid "$2" --create-home --shell /usr/sbin/nologin "$1"
