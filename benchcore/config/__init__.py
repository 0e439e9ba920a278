"""The configuration of every command, validated once at the edge: `load_config`, `load_sources` and their models."""

from __future__ import annotations

from benchcore.config.files import environment_value, load_config, load_sources
from benchcore.config.sections import (
    AUDITED_FROM,
    Config,
    EmbedSection,
    EncoderSection,
    FilterSection,
    IngestSection,
    MetricsSection,
    PlanSection,
    Price,
    RaySection,
    RegistrySection,
    Section,
    SelectSection,
    SourcesSection,
    SparkSection,
)
from benchcore.config.sources import LOG_FORMATS, Format, MappingSection, SourceSpec

__all__ = [
    "AUDITED_FROM",
    "LOG_FORMATS",
    "Config",
    "EmbedSection",
    "EncoderSection",
    "FilterSection",
    "Format",
    "IngestSection",
    "MappingSection",
    "MetricsSection",
    "PlanSection",
    "Price",
    "RaySection",
    "RegistrySection",
    "Section",
    "SelectSection",
    "SourceSpec",
    "SourcesSection",
    "SparkSection",
    "environment_value",
    "load_config",
    "load_sources",
]
