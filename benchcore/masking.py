"""Secrets that stand in addresses and settings, taken out of whatever is shown or kept."""

from __future__ import annotations

import re

MASK = "***"

_SECRET_NAME = re.compile(
    r"secret|passw|(?<!per_)token(?![a-z])|credential|signature|(access|account|api|private|shared|storage)[-_.]?key",
    re.IGNORECASE,
)
# `scheme://name:password@host`; before https a name alone is a token, elsewhere a container may stand before an `@`.
# Lengths are bounded, so that no text from outside can make the search slow.
_USER = re.compile(
    r"\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@'\"]{0,256}:[^\s@'\"]{0,256}@|\b(https?://)[^\s/@'\"]{1,256}@", re.IGNORECASE
)
_QUERY = re.compile(r"([?&])([\w.~-]{1,64})=([^\s&#'\"]*)")
_SIGNATURES = ("sig", "key", "auth", "code")  # in queries alone


def masked(text: str) -> str:
    """A text in which passwords and keys inside of addresses are replaced by `***`."""
    if "://" not in text:
        return text
    return _QUERY.sub(_without_value, _USER.sub(lambda found: f"{found[1] or found[2]}{MASK}@", text))


def names_a_secret(name: str) -> bool:
    """Whether a setting or a variable of the environment is called as secrets are (`AWS_SECRET_ACCESS_KEY`)."""
    return _SECRET_NAME.search(name) is not None


def _without_value(found: re.Match[str]) -> str:
    secret = names_a_secret(found[2]) or found[2].lower() in _SIGNATURES
    return f"{found[1]}{found[2]}={MASK}" if secret else found[0]
