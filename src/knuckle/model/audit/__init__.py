"""What a careful engineer would want to know about a model before using it."""

from .audit_report import Audit, audit

__all__ = ["Audit", "audit"]
