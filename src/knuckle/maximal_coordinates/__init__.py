"""Maximal coordinates (notes 1): every body free and every joint a constraint, as another model of a mechanism."""
