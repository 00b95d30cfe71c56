"""Hypothesis without a clock: a busy machine is no reason for a pure rule to fail."""

from hypothesis import HealthCheck, settings

settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unit")
