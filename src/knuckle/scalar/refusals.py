"""What to say of texts that want to know what is not known while code is made of them."""

UNKNOWN = "its value is not known while code is made of the text"
INSTEAD = f"{UNKNOWN}; kn.where(condition, x, y) chooses in the code"
NO_FLOAT = (
    f"a symbol is no float: {UNKNOWN}. np.sin and the like take it, math.sin does not; "
    "np.stack([x, y]) or np.zeros(2, object) holds it, an array of floats does not"
)
NO_INTEGER = f"a symbol is no whole number, for an index, a range or a count: {INSTEAD}, and np.floor(x) rounds"
AMBIGUOUS = (
    "several comparisons have no truth value together: np.all and np.any give one, & and | join them entry by entry, "
    "and kn.where(condition, x, y) chooses entry by entry"
)
IMMUTABLE = (
    "vectors and matrices in the text of a kernel are not written to: put new ones together, by np.stack([x, y]), "
    "np.concatenate or np.where, or fill an array of objects, np.zeros(n, object)"
)
MASKED = f"how many entries a comparison picks is not known: {INSTEAD}, as in np.where(q > 0, q, 0)"
NO_NUMBER = "a comparison of symbols is no number: kn.where(condition, 1.0, 0.0) makes one of it"
