"""How blocks are run and differentiated on scalars of any kind: pieces called and repeated, tables, dense equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from knuckle.engine.trace.blocks import Block, Called, Repeated, Ruled
from knuckle.engine.trace.dense_blocks import Eliminate, Substitute
from knuckle.engine.trace.lookup_block import Lookup
from knuckle.engine.trace.product_block import MatrixProduct, SparseProduct
from knuckle.engine.trace.rolled_blocks import RolledBlock
from knuckle.scalar import ONE, ZERO, absolute, less, maximum, select
from knuckle.spatial import Matrix, Vector, called, repeated
from knuckle.spatial.linear.elimination import Eliminated, eliminated, looping
from knuckle.spatial.linear.sparse_rows import SparseRow, product

from .derivative_rules import add_to, chained, only
from .influence import influential
from .sweep import ON_SCALARS, Columns, Sweep

if TYPE_CHECKING:
    from .derivative_rules import DerivativeRule
    from .sweep import Gathered

SETTLED = 1e-14
"""The relative change of derivatives from which on no further round is run."""


SETTLING = 200
"""Rounds after which derivatives of what settles have settled: each leaves a part, three quarters at most."""


class NotDifferentiableError(TypeError):
    """A piece of text that has no derivatives here; the message says which."""


class BlockRule:
    """What a kind of block does on scalars, and to derivatives."""

    def values(self, sweep: Sweep, block: Any, operands: list[Any]) -> list[Any]:
        """The results."""
        raise NotDifferentiableError(f"{_named(block)} has no derivatives")

    def pushed(self, sweep: Sweep, i: int, block: Any, rates: list[Columns]) -> Sequence[Columns]:
        """The derivatives of the results of call i, by those of its operands."""
        raise NotDifferentiableError(f"{_named(block)} has no derivatives")

    def pulled(self, sweep: Sweep, i: int, block: Any, weights: Mapping[int, Any], gathered: Gathered) -> None:
        """Adds what the weights of the results of call i give its operands."""
        raise NotDifferentiableError(f"{_named(block)} has no derivatives")


def _named(block: Block) -> str:
    return f"a piece of the text ({type(block).__name__}: contact that is solved in loops)"


class OfCalled(BlockRule):
    """A piece that is called: so are its Jacobian and its products with weights, which compute it once more."""

    def values(self, sweep: Sweep, block: Called, operands: list[Any]) -> list[Any]:
        def text(inputs: Vector) -> Vector:
            return Vector(Sweep(block.body, list(inputs), sweep.pieces).outputs)

        return list(sweep.pieces.get("values", block, lambda: called(text))(Vector(operands)))

    def pushed(self, sweep: Sweep, i: int, block: Called, rates: list[Columns]) -> Sequence[Columns]:
        active = tuple(k for k, rate in enumerate(rates) if rate)
        if not active:
            return ()
        return chained(self._jacobian(sweep, i, block, active), rates)

    def _jacobian(self, sweep: Sweep, i: int, block: Called, active: tuple[int, ...]) -> list[dict[int, Any]]:
        """The derivatives of the results by operands that change, by their places."""
        places: list[tuple[int, int]] = []

        def text(inputs: Vector) -> Vector:
            rows = Sweep(block.body, list(inputs), sweep.pieces).pushed({k: {k: ONE} for k in active})
            places[:] = [(o, k) for o, row in enumerate(rows) for k in row]
            return Vector(rows[o][k] for o, k in places)

        piece, known = sweep.pieces.get(f"jacobian by {active}", block, lambda: (called(text), places))
        rows: list[dict[int, Any]] = [{} for _ in range(block.outputs)]
        for (o, k), x in zip(known, piece(Vector(_operands(sweep, i))), strict=True):
            rows[o][k] = x
        return rows

    def pulled(self, sweep: Sweep, i: int, block: Called, weights: Mapping[int, Any], gathered: Gathered) -> None:
        used, inputs = tuple(weights), list[int]()

        def text(operands: Vector, some: Vector) -> Vector:
            by_output = dict(zip(used, some, strict=True))
            everything = [by_output.get(o, ZERO) for o in range(block.outputs)]
            found = Sweep(block.body, list(operands), sweep.pieces).pulled(everything)
            inputs[:] = list(found)
            return Vector(found.values())

        piece, known = sweep.pieces.get(f"pulled from {used}", block, lambda: (called(text), inputs))
        found = piece(Vector(_operands(sweep, i)), Vector(weights.values()))
        for k, weight in zip(known, found, strict=True):
            gathered.add(sweep.program.nodes[i].b[k], weight)


class OfRuled(BlockRule):
    """A piece that has a rule of its own; where that is not for some directions, the operations that it is made of."""

    def values(self, sweep: Sweep, block: Ruled, operands: list[Any]) -> list[Any]:
        return self._body(sweep, block, operands).outputs

    def pushed(self, sweep: Sweep, i: int, block: Ruled, rates: list[Columns]) -> Sequence[Columns]:
        directions = set[int]().union(*rates)
        if not directions:
            return ()
        if sweep.stretches is not None:
            sweep.stretches.after(i)
        rule, operands = self._rule(sweep, block), _operands(sweep, i)
        known = rule.directions(operands, rates)
        if known == directions:
            return rule.pushed(operands, sweep.values[i], rates)
        others = self._body(sweep, block, operands).pushed(dict(enumerate(only(rates, directions - known))))
        if not known:
            return others
        found = [dict(row) for row in rule.pushed(operands, sweep.values[i], only(rates, known))]
        add_to(found, others)
        return found

    def pulled(self, sweep: Sweep, i: int, block: Ruled, weights: Mapping[int, Any], gathered: Gathered) -> None:
        all_weights = [weights.get(k, ZERO) for k in range(block.outputs)]
        rule, operands = self._rule(sweep, block), _operands(sweep, i)
        found = rule.pulled(operands, sweep.values[i], all_weights)
        if found is None:
            found = self._body(sweep, block, operands).pulled(all_weights)
        for k, weight in found.items():
            gathered.add(sweep.program.nodes[i].b[k], weight)

    @staticmethod
    def _body(sweep: Sweep, block: Ruled, operands: list[Any]) -> Sweep:
        """The operations that the piece is made of."""
        loops = None if sweep.stretches is None else sweep.stretches.within(block.stretches)
        return Sweep(block.body, operands, sweep.pieces, loops)

    @staticmethod
    def _rule(sweep: Sweep, block: Ruled) -> DerivativeRule:
        return block.rule if sweep.stretches is None else block.rule.keeping_loops(sweep.stretches.graph)


class OfRepeated(BlockRule):
    """A piece that is repeated: its derivatives go through all rounds, or, where it settles, follow from the end."""

    def values(self, sweep: Sweep, block: Repeated, operands: list[Any]) -> list[Any]:
        n = block.outputs

        def text(*state: Any) -> tuple[Any, ...]:
            return tuple(Sweep(block.body, [*state, *operands[n:]], sweep.pieces).outputs)

        return list(repeated(text, tuple(operands[:n]), block.rounds, settles=block.settles))

    def pushed(self, sweep: Sweep, i: int, block: Repeated, rates: list[Columns]) -> Sequence[Columns]:
        directions = sorted(set[int]().union(*rates))
        if not directions:
            return ()
        if block.settles:
            return self._settled_rates(sweep, i, block, rates, directions)
        n, operands = block.outputs, _operands(sweep, i)
        others = {n + k: dict(rate) for k, rate in enumerate(rates[n:]) if rate}

        def text(*both: Any) -> tuple[Any, ...]:
            state, slopes = both[:n], both[n:]
            inner = Sweep(block.body, [*state, *operands[n:]], sweep.pieces)
            new = inner.pushed(
                others | {k: dict(zip(directions, slope, strict=True)) for k, slope in enumerate(slopes)}
            )
            return *inner.outputs, *(Vector(row.get(c, 0.0) for c in directions) for row in new)

        start = [Vector(rates[k].get(c, 0.0) for c in directions) for k in range(n)]
        result = repeated(text, (*operands[:n], *start), block.rounds)
        return [dict(zip(directions, slope, strict=True)) for slope in result[n:]]

    def _settled_rates(
        self, sweep: Sweep, i: int, block: Repeated, rates: list[Columns], directions: list[int]
    ) -> Sequence[Columns]:
        """ẋ with ẋ = (∂f/∂x) ẋ + (∂f/∂p) ṗ at the end: the rounds of a contraction."""
        n, operands = block.outputs, _operands(sweep, i)
        inner = Sweep(block.body, [*sweep.values[i], *operands[n:]], sweep.pieces)
        others = {n + k: dict(rate) for k, rate in enumerate(rates[n:]) if rate}
        rows = inner.pushed({k: {-1 - k: ONE} for k in range(n)} | others)
        fed = [k for k in range(n) if any(-1 - k in row for row in rows)]

        def advanced(row: Columns, slopes: Sequence[Vector]) -> Vector:
            return Vector(
                row.get(c, 0.0) + sum((row[-1 - k] * slope[m] for k, slope in zip(fed, slopes, strict=True)
                                       if -1 - k in row), ZERO)
                for m, c in enumerate(directions)
            )  # fmt: skip

        def text(_: Any, *slopes: Vector) -> tuple[Any, ...]:
            new = [advanced(rows[k], slopes) for k in fed]
            return _unsettled([x for s in new for x in s], [x for s in slopes for x in s]), *new

        start = [Vector([0.0] * len(directions))] * len(fed)
        _, *settled = repeated(text, (1.0, *start), SETTLING) if fed else (0.0,)
        return [dict(zip(directions, advanced(row, settled), strict=True)) for row in rows]

    def pulled(self, sweep: Sweep, i: int, block: Repeated, weights: Mapping[int, Any], gathered: Gathered) -> None:
        node, n = sweep.program.nodes[i], block.outputs
        if not block.settles:
            changing = [k for k, place in enumerate(node.b) if sweep.program.nodes[place].op != "constant"]
            rows = self.pushed(sweep, i, block, [{k: ONE} if k in changing else {} for k in range(block.inputs)])
            for k in changing:
                terms = [weight * rows[o][k] for o, weight in weights.items() if k in rows[o]]
                if terms:
                    gathered.add(node.b[k], sum(terms[1:], terms[0]))
            return
        inner = Sweep(block.body, [*sweep.values[i], *_operands(sweep, i)[n:]], sweep.pieces)
        live = sorted(influential(block.body, weights, {k: k for k in range(n)}))

        def back(adjoint: Sequence[Any]) -> dict[int, Any]:
            known = dict(zip(live, adjoint, strict=True))
            return inner.pulled([known.get(k, ZERO) for k in range(n)])

        def text(_: Any, *adjoint: Any) -> tuple[Any, ...]:
            found = back(adjoint)
            new = [weights.get(k, ZERO) + found.get(k, ZERO) for k in live]
            return _unsettled(new, list(adjoint)), *new

        _, *adjoint = repeated(text, (1.0, *(weights.get(k, 0.0) for k in live)), SETTLING)
        for k, weight in back(adjoint).items():
            if k >= n:
                gathered.add(node.b[k], weight)


class OfLookup(BlockRule):
    """A window of a table: its derivatives are zero, as those of steps are."""

    def values(self, sweep: Sweep, block: Lookup, operands: list[Any]) -> list[Any]:
        row, column, numbers = block.grid.window(*operands)
        return [row, column, *numbers]

    def pushed(self, sweep: Sweep, i: int, block: Lookup, rates: list[Columns]) -> Sequence[Columns]:
        return ()

    def pulled(self, sweep: Sweep, i: int, block: Lookup, weights: Mapping[int, Any], gathered: Gathered) -> None:
        return


class OfProduct(BlockRule):
    """y = A x: ẏ = A ẋ + Ȧ x, and backward x̄ = Aᵀ ȳ, Ā = ȳ xᵀ, for each of the vectors x."""

    def values(self, sweep: Sweep, block: MatrixProduct, operands: list[Any]) -> list[Any]:
        A, (_, vectors) = self._matrix(block, operands), self._apart(block, operands)
        return [y for x in vectors for y in A @ Vector(x)]

    def pushed(self, sweep: Sweep, i: int, block: MatrixProduct, rates: list[Columns]) -> Sequence[Columns]:
        operands = _operands(sweep, i)
        A, (_, vectors), (of_A, of_vectors) = (
            self._matrix(block, operands), self._apart(block, operands), self._apart(block, rates)
        )  # fmt: skip
        pairs = zip(vectors, of_vectors, strict=True)
        return [row for x, of_x in pairs for row in self._rates(block, A, x, of_A, of_x)]

    @staticmethod
    def _rates(
        block: MatrixProduct, A: Matrix, x: list[Any], of_A: list[Columns], of_x: list[Columns]
    ) -> list[dict[int, Any]]:
        n, found = block.columns, list[dict[int, Any]]({} for _ in range(block.rows))
        for c in sorted(set[int]().union(*of_x)):
            for row, rate in zip(found, A @ Vector(rate.get(c, ZERO) for rate in of_x), strict=True):
                row[c] = rate
        for place, rate in enumerate(of_A):
            row = found[place // n]
            for c, slope in rate.items():
                row[c] = row[c] + slope * x[place % n] if c in row else slope * x[place % n]
        return found

    def pulled(
        self, sweep: Sweep, i: int, block: MatrixProduct, weights: Mapping[int, Any], gathered: Gathered
    ) -> None:
        n, operands, places = block.columns, _operands(sweep, i), sweep.program.nodes[i].b
        back = self._matrix(block, operands).T
        (_, vectors), (of_A, of_vectors) = self._apart(block, operands), self._apart(block, list(places))
        for v, (x, own) in enumerate(zip(vectors, of_vectors, strict=True)):
            y = Vector(weights.get(v * block.rows + k, ZERO) for k in range(block.rows))
            for place, weight in zip(own, back @ y, strict=True):
                gathered.add(place, weight)
            for k, place in enumerate(of_A):
                gathered.add(place, y[k // n] * x[k % n])

    @staticmethod
    def _apart(block: MatrixProduct, operands: list[Any]) -> tuple[list[Any], list[list[Any]]]:
        """What belongs to the matrix, if it is no constant, and to each vector."""
        n, first = block.columns, len(operands) - block.columns * block.vectors
        return operands[:first], [operands[k : k + n] for k in range(first, len(operands), n)]

    @staticmethod
    def _matrix(block: MatrixProduct, operands: list[Any]) -> Matrix:
        n, entries = block.columns, operands if block.constants is None else block.constants
        return Matrix((entries[k * n : (k + 1) * n] for k in range(block.rows)), n)


class OfSparseProduct(BlockRule):
    """C = A B with known zeros: Ċ = Ȧ B + A Ḃ, and backward Ā = C̄ Bᵀ, B̄ = Aᵀ C̄, where A and B have entries."""

    def values(self, sweep: Sweep, block: SparseProduct, operands: list[Any]) -> list[Any]:
        return self._in_a_row(block, product(*self._rows(block, operands)))

    def pushed(self, sweep: Sweep, i: int, block: SparseProduct, rates: list[Columns]) -> Sequence[Columns]:
        A, B = self._rows(block, _operands(sweep, i))
        slopes: dict[int, list[Any]] = {}
        for c in sorted(set[int]().union(*rates)):
            dA, dB = self._rows(block, [rate.get(c, ZERO) for rate in rates])
            both = zip(self._in_a_row(block, product(dA, B)), self._in_a_row(block, product(A, dB)), strict=True)
            slopes[c] = [x + y for x, y in both]
        return [{c: slope[k] for c, slope in slopes.items()} for k in range(block.outputs)]

    def pulled(
        self, sweep: Sweep, i: int, block: SparseProduct, weights: Mapping[int, Any], gathered: Gathered
    ) -> None:
        operands, places, first = _operands(sweep, i), sweep.program.nodes[i].b, block.arrays[0]
        for panel, rows in zip(block.panels, block.sums, strict=True):
            for row in rows.values():
                known = [(c, weights[row.place + c]) for c in range(panel.width) if row.place + c in weights]
                for a, b in row.terms:
                    gathered.add(places[a], sum((y * operands[first + b + c] for c, y in known), ZERO))
                    for c, y in known:
                        gathered.add(places[first + b + c], operands[a] * y)

    @staticmethod
    def _rows(block: SparseProduct, operands: list[Any]) -> tuple[list[SparseRow], list[SparseRow]]:
        """The rows of A and of B, whose columns are counted through all panels."""
        A: list[SparseRow] = [{k: operands[block.places[i, k]] for k in row} for i, row in enumerate(block.rows)]
        last = max(k for rows in (*block.rows, *(panel.rows for panel in block.panels)) for k in rows)
        B: list[SparseRow] = [{} for _ in range(last + 1)]
        place, column = block.arrays[0], 0
        for panel in block.panels:
            for k in panel.rows:
                B[k] |= {column + c: operands[place + c] for c in range(panel.width)}
                place += panel.width
            column += panel.width
        return [_without_zeros(row) for row in A], [_without_zeros(row) for row in B]

    @staticmethod
    def _in_a_row(block: SparseProduct, C: list[SparseRow]) -> list[Any]:
        """The entries of a product as the block gives them."""
        found, column = list[Any](), 0
        for panel, rows in zip(block.panels, block.sums, strict=True):
            found += [C[i].get(column + c, ZERO) for i in rows for c in range(panel.width)]
            column += panel.width
        return found


def _without_zeros(row: SparseRow) -> SparseRow:
    return {k: x for k, x in row.items() if x is not ZERO}


class OfRolled(BlockRule):
    """A rolled program, its loops run one round after the other."""

    def values(self, sweep: Sweep, block: RolledBlock, operands: list[Any]) -> list[Any]:
        program = block.program
        room: list[Any] = [*operands, *[ZERO] * (program.slots - len(operands))]
        for instance in program.instances:
            pattern, done = program.patterns[instance.pattern], list[Any]()
            read = {"slot": [room[k] for k in instance.slots], "constant": instance.constants, "local": done}
            for op, places in pattern.steps:
                args = [read[kind][k] for kind, k in places]
                done.append(args[0] if op == "constant" else ON_SCALARS[op](*args))
            for place, k in zip(instance.kept, pattern.kept, strict=True):
                room[place] = done[k]
        return [room[k] for k in program.outputs]


class OfEliminate(BlockRule):
    """The factors of a matrix: what is solved with them has the derivatives."""

    def values(self, sweep: Sweep, block: Eliminate, operands: list[Any]) -> list[Any]:
        return [x for row in eliminated(_square(operands, block.n)).factors for x in row]  # type: ignore[union-attr]

    def pushed(self, sweep: Sweep, i: int, block: Eliminate, rates: list[Columns]) -> Sequence[Columns]:
        return ()

    def pulled(self, sweep: Sweep, i: int, block: Eliminate, weights: Mapping[int, Any], gathered: Gathered) -> None:
        raise NotDifferentiableError("the factors of a matrix are used otherwise than to solve equations")


class OfSubstitute(BlockRule):
    """x with A x = b: A ẋ = ḃ − Ȧ x, and backward Aᵀ b̄ = x̄, Ā = −b̄ xᵀ."""

    def values(self, sweep: Sweep, block: Substitute, operands: list[Any]) -> list[Any]:
        return list(_solve(operands[: block.n**2], Vector(operands[block.n**2 :])))

    def pushed(self, sweep: Sweep, i: int, block: Substitute, rates: list[Columns]) -> Sequence[Columns]:
        n, x, operands = block.n, sweep.values[i], _operands(sweep, i)
        A = self._matrix(sweep, i, n)
        slopes = sweep.columns_of(sweep.program.nodes[A].b)
        directions = sorted(set[int]().union(*rates[n * n :], *slopes))
        columns: dict[int, Vector] = {}
        for c in directions:
            change = [
                sum((slopes[r * n + k][c] * x[k] for k in range(n) if c in slopes[r * n + k]), ZERO) for r in range(n)
            ]
            columns[c] = _solve(operands[: n * n], Vector(rates[n * n + r].get(c, ZERO) - change[r] for r in range(n)))
        return [{c: columns[c][r] for c in directions} for r in range(n)]

    def pulled(self, sweep: Sweep, i: int, block: Substitute, weights: Mapping[int, Any], gathered: Gathered) -> None:
        n, x, node = block.n, sweep.values[i], sweep.program.nodes[i]
        entries = sweep.program.nodes[self._matrix(sweep, i, n)].b
        A = _square([sweep.values[k] for k in entries], n)
        b = eliminated(A.T).solve(Vector(weights.get(k, ZERO) for k in range(n)))
        for r in range(n):
            gathered.add(node.b[n * n + r], b[r])
            for k in range(n):
                if sweep.program.nodes[entries[r * n + k]].op != "constant":
                    gathered.add(entries[r * n + k], -(b[r] * x[k]))

    @staticmethod
    def _matrix(sweep: Sweep, i: int, n: int) -> int:
        """The call that made the factors."""
        nodes = sweep.program.nodes
        first = nodes[nodes[i].b[0]]
        if first.op != "part" or not isinstance(sweep.program.blocks[nodes[first.a].a], Eliminate):
            raise NotDifferentiableError("equations are solved with factors of a matrix that is not at hand there")
        return first.a


def _solve(factors: list[Any], b: Vector) -> Vector:
    """x with A x = b by the factors of A: loops where the scalars have them."""
    n = len(b)
    rows = tuple(tuple(factors[r * n : (r + 1) * n]) for r in range(n))
    return Eliminated(Matrix((), n), rows, looping(factors) is not None).solve(b)


def _square(entries: list[Any], n: int) -> Matrix:
    return Matrix((entries[r * n : (r + 1) * n] for r in range(n)), n)


def _operands(sweep: Sweep, i: int) -> list[Any]:
    return [sweep.values[k] for k in sweep.program.nodes[i].b]


def _unsettled(new: list[Any], old: list[Any]) -> Any:
    """1 where derivatives still change by more than rounding, else 0."""
    change, size = ZERO, ZERO
    for a, b in zip(new, old, strict=True):
        change, size = maximum(change, absolute(a - b)), maximum(size, absolute(a))
    return select(less(SETTLED * size, change), 1.0, 0.0)


RULES: Mapping[type[Block], BlockRule] = {
    Called: OfCalled(),
    Ruled: OfRuled(),
    Repeated: OfRepeated(),
    Lookup: OfLookup(),
    MatrixProduct: OfProduct(),
    SparseProduct: OfSparseProduct(),
    RolledBlock: OfRolled(),
    Eliminate: OfEliminate(),
    Substitute: OfSubstitute(),
}
_REFUSED = BlockRule()


def rule_of(block: Block) -> BlockRule:
    """The rule of a kind of block."""
    return RULES.get(type(block), _REFUSED)
