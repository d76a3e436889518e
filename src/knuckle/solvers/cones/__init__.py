"""Impulses of many contacts, by loops over numbers in memory: what `algorithms.contact.cone_rounds` is over scalars."""
