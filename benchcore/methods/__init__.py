"""The named selection methods. A method is a function from a Problem to a Selection; naming it here is all it takes."""

from __future__ import annotations

from benchcore.methods.facility_location import facility_location
from benchcore.methods.problem import Method
from benchcore.methods.stratified_random import stratified_random

METHODS: dict[str, Method] = {
    "facility_location": facility_location,
    "random": stratified_random,
}
