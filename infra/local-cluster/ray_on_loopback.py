"""The command `ray`, for a node on the loopback address: by itself it takes the machine's own address instead."""

from __future__ import annotations

from ray._private import services
from ray.scripts.scripts import main

services.resolve_ip_for_localhost = lambda host: host
main()
