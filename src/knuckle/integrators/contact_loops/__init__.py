"""A contact step by loops over what touches: tables of a mechanism, its terms in a state, and the routine of a step."""
