"""Operations left in the compiled code of the general chain GU(n), beside the rows of RBDA table 10.1.

    python benchmarks/operation_counts.py [--most 30]

Counts are after simplification, (multiplications + divisions, additions); sines and cosines are left out, as in the
book. GU(n) is a chain of revolute joints with parameters as general as can be.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import knuckle as kn
from knuckle.testing import general_chain

Row = Callable[[int], tuple[float, float]]
ROWS: dict[str, tuple[object, dict[str, Row]]] = {
    "RNEA": (
        kn.inverse_dynamics,
        {
            "best (3)": lambda n: (93 * n - 108, 81 * n - 100),
            "(1, 3)": lambda n: (93 * n - 69, 81 * n - 66),
            "(6)": lambda n: (130 * n - 68, 101 * n - 56),
            "(8)": lambda n: (150 * n - 48, 131 * n - 48),
        },
    ),
    "CRBA": (
        kn.mass_matrix,
        {
            "best (7, 14)": lambda n: (10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43),
            "(6)": lambda n: (10 * n * n + 31 * n - 41, 6 * n * n + 40 * n - 46),
            "(9, 10)": lambda n: (10 * n * n + 41 * n - 51, 6 * n * n + 52 * n - 58),
            "(2, 4)": lambda n: (11 * n * n + 11 * n - 42, 5.5 * n * n + 32.5 * n - 54),
            "(12)": lambda n: (12 * n * n + 56 * n - 27, 7 * n * n + 67 * n - 53),
        },
    ),
    "ABA": (
        kn.forward_dynamics,
        {
            "best (11)": lambda n: (224 * n - 259, 205 * n - 248),
            "(5)": lambda n: (250 * n - 222, 220 * n - 198),
            "(6)": lambda n: (300 * n - 267, 279 * n - 259),
        },
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=30, help="the longest chain")
    most = parser.parse_args().most
    for name, (function, rows) in ROWS.items():
        print(f"\n{name}, (mul + div, add)")
        print("n".rjust(4), "knuckle".rjust(14), *(title.rjust(16) for title in rows), "total / best".rjust(14))
        for n in [k for k in (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30) if k <= most]:
            count = kn.compilation.operation_count(function, general_chain(n))  # type: ignore[arg-type]
            ours = (count.mul + count.div, count.add)
            book = [row(n) for row in rows.values()]
            cells = [f"{int(m)}, {int(a)}".rjust(16) for m, a in book]
            print(
                str(n).rjust(4), f"{ours[0]}, {ours[1]}".rjust(14), *cells, f"{sum(ours) / sum(book[0]):.2f}".rjust(14)
            )


if __name__ == "__main__":
    main()
