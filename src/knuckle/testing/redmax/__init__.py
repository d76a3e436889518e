"""The scenes that RedMax (github.com/sueda/redmax) publishes with their final energies, as models of this library."""
