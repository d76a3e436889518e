"""Differentiation of programs: the operations of a text, forward along directions and backward from weights."""
