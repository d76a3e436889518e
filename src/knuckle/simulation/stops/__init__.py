"""Joint limits as rigid or compliant stops."""
