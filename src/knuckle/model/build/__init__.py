"""Ways to a model: a builder, Denavit-Hartenberg parameters, inertias of solids, spanning trees of graphs."""
