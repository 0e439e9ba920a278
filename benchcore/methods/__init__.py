"""The named selection methods. A method is a function from a Problem to a Selection; naming it here is all it takes."""

from __future__ import annotations

from benchcore.methods.entry import Entry
from benchcore.methods.facility_location import facility_location
from benchcore.methods.stratified_random import stratified_random

METHODS: dict[str, Entry] = {
    "facility_location": Entry(facility_location, ("embedding",), nested=True),
    "random": Entry(stratified_random, nested=True, drawn=True),
}
