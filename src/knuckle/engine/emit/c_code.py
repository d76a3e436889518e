"""A program as portable C99: one function of one state, straight-line, with no dependency but math.h.

    void kernel(const double *q, const double *v, …, double *out)

Every argument is an array of the program's size for it, read before anything is written: `out` may be one of them.
Nothing is allocated and nothing is kept between calls. Constants are hexadecimal, so that they are exact.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from knuckle.engine.trace import (
    Block,
    Called,
    Eliminate,
    EliminateResponse,
    Laid,
    Lookup,
    MatrixProduct,
    Multiply,
    Program,
    Repeated,
    SparseProduct,
    Substitute,
    SubstituteResponse,
)
from knuckle.scalar.operations import CONDITIONS, FUNCTIONS, OPERATIONS

from .single_precision import single

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        auto break case char const continue default do double else enum extern float for goto if inline int long
        register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
        fabs fabsf NAN INFINITY main
        """,
    )
) | {f.library + suffix for f in FUNCTIONS for suffix in ("", "f")}
"""Words of C and of this printer."""
LONGEST = 2500
"""The most variables in one function."""


@dataclass(frozen=True)
class Type:
    """A floating type of C, and the endings of its literals and of its functions in math.h."""

    name: str
    suffix: str

    def literal(self, x: float) -> str:
        """x, rounded to the type, exactly."""
        x = single(x) if self.name == "float" else x
        if x != x:
            return "NAN"
        if math.isinf(x):
            return "INFINITY" if x > 0 else "(-INFINITY)"
        mantissa, exponent = abs(x).hex().split("p")
        text = f"{mantissa.rstrip('0') if '.' in mantissa else mantissa}".rstrip(".")
        literal = f"{'0x0' if x == 0 else text}p{exponent}{self.suffix}"
        return f"(-{literal})" if x < 0 else literal


TYPES = {"f64": Type("double", ""), "f32": Type("float", "f")}


@dataclass(frozen=True)
class About:
    """What a printed function is for, as its comment says it."""

    title: str = ""
    contents: Mapping[str, str] = field(default_factory=dict)
    """What the arguments hold, by their names"""
    notes: Sequence[str] = ()
    """What else is to be known: frames, axes, orders"""


def to_c(program: Program, name: str = "kernel", dtype: str = "f64", about: str | About = "") -> str:
    """The C99 text of a program.

    A long program is cut into static functions that share a work array on the stack: the time a compiler takes grows
    faster than the length of a function.

    Args:
        program: the operations.
        name: what the function is called.
        dtype: "f64" for double, "f32" for float.
        about: what the function computes, for the comment at its head.
    """
    return _printer(program, name, dtype).text(About(about) if isinstance(about, str) else about)


def to_c_header(program: Program, name: str = "kernel", dtype: str = "f64", about: str | About = "") -> str:
    """The header of `to_c`'s function, for C and C++: its declaration, the sizes of its arrays, what these hold."""
    return _printer(program, name, dtype).header(About(about) if isinstance(about, str) else about)


def _printer(program: Program, name: str, dtype: str) -> _Printer:
    if dtype not in TYPES:
        raise ValueError(f'dtype is "f64" or "f32", not {dtype!r}')
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in RESERVED:
        raise ValueError(
            f"{name!r} cannot be the name of a C function: use letters, digits and underscores, no word of C"
        )
    return _Printer(program, name, TYPES[dtype])


class _Printer:
    """Prints the nodes of a program in order: a variable per node; constants stand for themselves."""

    def __init__(self, program: Program, name: str, kind: Type, blocks: _Blocks | None = None) -> None:
        self.program, self.name, self.kind = program, name, kind
        self.blocks = blocks or _Blocks(name, kind)
        self.arguments = _names([argument for argument, _ in program.arguments])
        self.out = _unlike("out", self.arguments)
        self.work = _unlike("work", [*self.arguments, self.out, name])
        prefix = _unlike("t", [*self.arguments, self.out, self.work, name])
        self.names = [
            kind.literal(node.a) if node.op == "constant" else f"{prefix}{i}" for i, node in enumerate(program.nodes)
        ]
        sizes = [size for _, size in program.arguments]
        self.places = [(a, k) for a, size in zip(self.arguments, sizes, strict=True) for k in range(size)]

    def header(self, about: About) -> str:
        """The declaration, between guards."""
        guard, kind = f"{self.name.upper()}_H", self.kind.name
        sizes = [*((a, size) for a, (_, size) in zip(self.arguments, self.program.arguments, strict=True))]
        sizes.append((self.out, len(self.program.outputs)))
        arguments = ", ".join([*(f"const {kind} *{a}" for a in self.arguments), f"{kind} *{self.out}"])
        return "\n".join(
            [
                _comment(self.program, self.name, self.arguments, self.out, about),
                f"#ifndef {guard}\n#define {guard}\n",
                *(f"#define {self.name.upper()}_{a.upper()}_SIZE {size}" for a, size in sizes),
                '\n#ifdef __cplusplus\nextern "C" {\n#endif\n',
                f"void {self.name}({arguments});",
                "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
            ]
        )

    def text(self, about: About) -> str:
        variables = [i for i in range(len(self.program.nodes)) if not self._constant(i)]
        cuts = max(1, -(-len(variables) // LONGEST))
        bounds = [self._past_parts(variables, len(variables) * k // cuts) for k in range(cuts + 1)]
        texts = self._whole(variables) if cuts == 1 else self._in_parts([variables[a:b] for a, b in pairwise(bounds)])
        return "\n".join([_head(self.program, self.name, self.arguments, self.out, about), *self.blocks.texts, *texts])

    def _past_parts(self, variables: list[int], place: int) -> int:
        """Where to cut: the results of a block stay with its call."""
        while place < len(variables) and self.program.nodes[variables[place]].op == "part":
            place += 1
        return place

    def _whole(self, variables: list[int]) -> list[str]:
        lines = [f"(void){a};" for a in self._unused()]
        lines += map(self._statement, variables)
        lines += [f"{self.out}[{k}] = {self.names[i]};" for k, i in enumerate(self.program.outputs)]
        return [self._function("", self.name, self.arguments, self.out, lines)]

    def _in_parts(self, chunks: list[list[int]]) -> list[str]:
        slots = self._crossing(chunks)
        parts, calls = list[str](), [f"(void){a};" for a in self._unused()]
        for number, here in enumerate(chunks, 1):
            before = {k for i in here for k in self._operands(i) if k < here[0] and k in slots}
            lines = [f"const {self._type(k)} {self.names[k]} = {self._kept(k, slots)};" for k in sorted(before)]
            lines += map(self._statement, here)
            lines += [f"{self.work}[{slots[i]}] = {self.names[i]};" for i in here if i in slots]
            used = [a for a in self.arguments if a in self._arguments_of(here)]
            parts.append(self._function("static ", f"{self.name}_part{number}", used, self.work, lines))
            calls.append(f"{self.name}_part{number}({', '.join([*used, self.work])});")
        results = [self.names[i] if self._constant(i) else f"{self.work}[{slots[i]}]" for i in self.program.outputs]
        lines = [f"{self.kind.name} {self.work}[{max(1, len(slots))}];", *calls]
        lines += [f"{self.out}[{k}] = {result};" for k, result in enumerate(results)]
        return [*parts, self._function("", self.name, self.arguments, self.out, lines)]

    def _crossing(self, chunks: list[list[int]]) -> dict[int, int]:
        """The place in the work array of each node that a later part needs."""
        crossing = {i for i in self.program.outputs if not self._constant(i)}
        for chunk in chunks:
            for i in chunk:
                crossing.update(k for k in self._operands(i) if k < chunk[0] and not self._constant(k))
        return {i: place for place, i in enumerate(sorted(crossing))}

    def _kept(self, i: int, slots: dict[int, int]) -> str:
        kept = f"{self.work}[{slots[i]}]"
        return f"{kept} != 0" if self.program.nodes[i].op in CONDITIONS else kept

    def _function(self, linkage: str, name: str, arguments: list[str], target: str, lines: list[str]) -> str:
        T = self.kind.name
        parameters = ", ".join([*(f"const {T} *{a}" for a in arguments), f"{T} *{target}"])
        return f"{linkage}void {name}({parameters})\n{{\n{''.join(f'    {line}{chr(10)}' for line in lines)}}}\n"

    def _statement(self, i: int) -> str:
        node = self.program.nodes[i]
        if node.op == "input":
            argument, k = self.places[node.a]
            return f"const {self.kind.name} {self.names[i]} = {argument}[{k}];"
        if node.op == "call":
            return self._call(i)
        if node.op == "part":
            return f"const {self.kind.name} {self.names[i]} = {self.names[node.a]}_out[{node.b}];"
        text = OPERATIONS[node.op].in_c(self.kind.suffix, *(self.names[k] for k in self._operands(i)))
        return f"const {self._type(i)} {self.names[i]} = {text};"

    def _call(self, i: int) -> str:
        """A block on its operands, which are put in a row; so are its results."""
        block, T, name = self.program.blocks[self.program.nodes[i].a], self.kind.name, self.names[i]
        taken = ", ".join(self.names[k] for k in self._operands(i)) or self.kind.literal(0.0)
        return (
            f"const {T} {name}_in[{max(1, block.inputs)}] = {{{taken}}}; {T} {name}_out[{max(1, block.outputs)}]; "
            f"{self.blocks.name(block)}({name}_in, {name}_out);"
        )

    def block(self, name: str) -> str:
        """A function of one array, which is the body of a block."""
        lines = [f"(void){a};" for a in self._unused()]
        lines += [self._statement(i) for i in range(len(self.program.nodes)) if not self._constant(i)]
        lines += [f"{self.out}[{k}] = {self.names[i]};" for k, i in enumerate(self.program.outputs)]
        return self._function("static ", name, self.arguments, self.out, lines)

    def _type(self, i: int) -> str:
        return "int" if self.program.nodes[i].op in CONDITIONS else self.kind.name

    def _operands(self, i: int) -> list[int]:
        return list(self.program.nodes[i].operands)

    def _constant(self, i: int) -> bool:
        return self.program.nodes[i].op == "constant"

    def _arguments_of(self, chunk: Iterable[int]) -> set[str]:
        """The arguments that some nodes read."""
        nodes = self.program.nodes
        return {self.places[nodes[i].a][0] for i in chunk if nodes[i].op == "input"}

    def _unused(self) -> list[str]:
        read = self._arguments_of(range(len(self.program.nodes)))
        return [a for a in self.arguments if a not in read] + ([] if self.program.outputs else [self.out])


class _Blocks:
    """The functions that blocks have become, each printed once, by block."""

    def __init__(self, prefix: str, kind: Type) -> None:
        self.prefix, self.kind = prefix, kind
        self.texts: list[str] = []
        self._names: dict[Block, str] = {}

    def name(self, block: Block) -> str:
        """What the function of a block is called; it is printed now if it is not yet."""
        if block not in self._names:
            name = self._names[block] = f"{self.prefix}_block{len(self._names)}"
            self.texts.append(self._printed(block, name))
        return self._names[block]

    def _printed(self, block: Block, name: str) -> str:
        if isinstance(block, Called):
            return _Printer(block.body, name, self.kind, self).block(name)
        if isinstance(block, Repeated):
            round_ = _Printer(block.body, f"{name}_round", self.kind, self).block(f"{name}_round")
            return f"{round_}\n{self._rounds(block, name)}"
        if isinstance(block, Eliminate):
            return self._eliminate(block, name)
        if isinstance(block, Substitute):
            return self._substitute(block, name)
        if isinstance(block, (Laid, Multiply, EliminateResponse, SubstituteResponse)):
            return self._response(block, name)
        if isinstance(block, Lookup):
            return self._lookup(block, name)
        if isinstance(block, MatrixProduct):
            return self._product(block, name)
        if isinstance(block, SparseProduct):
            return self._sparse_product(block, name)
        raise TypeError(f"a {type(block).__name__} has no text in C")

    def _eliminate(self, block: Eliminate, name: str) -> str:
        T, n, one = self.kind.name, block.n, self.kind.literal(1.0)
        return f"""static void {name}(const {T} *in, {T} *a)
{{
    int i, j, k;
    for (k = 0; k < {n * n}; k++) a[k] = in[k];
    for (k = {n - 1}; k >= 0; k--) {{
        a[k * {n} + k] = {one} / a[k * {n} + k];
        for (i = 0; i < k; i++) {{
            a[i * {n} + k] *= a[k * {n} + k];
            for (j = 0; j < k; j++) a[i * {n} + j] -= a[i * {n} + k] * a[k * {n} + j];
        }}
    }}
}}
"""

    def _substitute(self, block: Substitute, name: str) -> str:
        T, n = self.kind.name, block.n
        return f"""static void {name}(const {T} *a, {T} *x)
{{
    int i, k;
    for (k = 0; k < {n}; k++) x[k] = a[{n * n} + k];
    for (k = {n - 1}; k >= 0; k--)
        for (i = 0; i < k; i++) x[i] -= a[i * {n} + k] * x[k];
    for (k = 0; k < {n}; k++) {{
        for (i = 0; i < k; i++) x[k] -= a[k * {n} + i] * x[i];
        x[k] *= a[k * {n} + k];
    }}
}}
"""

    def _response(self, block: Laid | Multiply | EliminateResponse | SubstituteResponse, name: str) -> str:
        T, n, zero = self.kind.name, block.n, self.kind.literal(0.0)
        if isinstance(block, EliminateResponse):
            eliminate = self.name(Eliminate(n))
            text = f"""    int i, j, k;
    {T} s[{n * n}];
    const {T} *E = in + {n * n}, *P = E + {3 * n};
    for (i = 0; i < {n}; i++) {{
        for (j = 0; j < {n}; j++) {{
            s[i * {n} + j] = {zero};
            for (k = 0; k < 3; k++) s[i * {n} + j] += P[3 * i + k] * in[(i - i % 3 + k) * {n} + j];
        }}
        for (k = 0; k < 3; k++) s[i * {n} + i - i % 3 + k] += E[3 * i + k];
    }}
    {eliminate}(s, out);
    for (i = {n * n}; i < {block.outputs}; i++) out[i] = {zero};"""
        elif isinstance(block, SubstituteResponse):
            substitute = self.name(Substitute(n))
            text = f"""    int k;
    {T} s[{n * n + n}];
    for (k = 0; k < {n * n}; k++) s[k] = in[k];
    for (k = 0; k < {n}; k++) s[{n * n} + k] = in[{block.arrays[0]} + k];
    {substitute}(s, out);
    for (k = {n}; k < {2 * n}; k++) out[k] = {zero};"""
        elif isinstance(block, Multiply):
            text = f"""    int i, j;
    for (i = 0; i < {n}; i++) {{
        out[i] = {zero};
        for (j = 0; j < {n}; j++) out[i] += in[i * {n} + j] * in[{n * n} + j];
    }}"""
        else:
            text = f"""    int k;
    for (k = 0; k < {n}; k++) out[k] = in[k];"""
        return f"""static void {name}(const {T} *in, {T} *out)
{{
{text}
}}
"""

    def _product(self, block: MatrixProduct, name: str) -> str:
        T, n, zero = self.kind.name, block.columns, self.kind.literal(0.0)
        table, matrix, x = "", "in", f"in + {block.rows * n}"
        if block.constants is not None:
            numbers = ", ".join(map(self.kind.literal, block.constants))
            table, matrix, x = f"static const {T} {name}_matrix[{len(block.constants)}] = {{{numbers}}};\n", "", "in"
        return f"""{table}static void {name}(const {T} *in, {T} *out)
{{
    const {T} *matrix = {matrix or f"{name}_matrix"}, *x = {x};
    int i, j, k;
    for (k = 0; k < {block.vectors}; k++, x += {n}, out += {block.rows})
        for (i = 0; i < {block.rows}; i++) {{
            out[i] = {zero};
            for (j = 0; j < {n}; j++) out[i] += matrix[i * {n} + j] * x[j];
        }}
}}
"""

    def _sparse_product(self, block: SparseProduct, name: str) -> str:
        T, zero, size = self.kind.name, self.kind.literal(0.0), block.arrays[0]
        rows = [
            (row, panel.width) for panel, rows in zip(block.panels, block.sums, strict=True) for row in rows.values()
        ]
        terms = [f"{{{a}, {size + b}}}" for row, _ in rows for a, b in row.terms]
        counts = [f"{{{len(row.terms)}, {width}}}" for row, width in rows]
        return f"""static const int {name}_terms[{len(terms)}][2] = {{{", ".join(terms)}}};
static const int {name}_rows[{len(counts)}][2] = {{{", ".join(counts)}}};
static void {name}(const {T} *in, {T} *out)
{{
    const int (*term)[2] = {name}_terms;
    int r, c, k;
    for (r = 0; r < {len(counts)}; term += {name}_rows[r][0], r++)
        for (c = 0; c < {name}_rows[r][1]; c++, out++) {{
            *out = {zero};
            for (k = 0; k < {name}_rows[r][0]; k++) *out += in[term[k][0]] * in[term[k][1] + c];
        }}
}}
"""

    def _lookup(self, block: Lookup, name: str) -> str:
        T, grid, zero = self.kind.name, block.grid, self.kind.literal(0.0)
        numbers = ", ".join(map(self.kind.literal, grid.values))
        starts = [
            f"const long {x} = in[{k}] > {zero} ? (in[{k}] < {self.kind.literal(float(n))} ? (long)in[{k}] : {n}) : 0;"
            for k, (x, n) in enumerate(zip("ij", grid.last, strict=True))
        ]
        return f"""static const {T} {name}_table[{len(grid.values)}] = {{{numbers}}};
static void {name}(const {T} *in, {T} *out)
{{
    {starts[0]}
    {starts[1]}
    int r, c;
    out[0] = ({T})i;
    out[1] = ({T})j;
    for (r = 0; r < {grid.high}; r++)
        for (c = 0; c < {grid.wide}; c++)
            out[2 + r * {grid.wide} + c] = {name}_table[(i + r) * {grid.columns} + j + c];
}}
"""

    def _rounds(self, block: Repeated, name: str) -> str:
        """The loop around the body of a block that is repeated."""
        T, n, m = self.kind.name, block.inputs, block.outputs
        return f"""static void {name}(const {T} *in, {T} *out)
{{
    {T} work[{n}];
    int k, round;
    for (k = 0; k < {n}; k++) work[k] = in[k];
    for (round = 0; round < {block.rounds} && work[0] > 0; round++) {{
        {name}_round(work, out);
        for (k = 0; k < {m}; k++) work[k] = out[k];
    }}
    for (k = 0; k < {m}; k++) out[k] = work[k];
}}
"""


def _names(arguments: list[str]) -> list[str]:
    """The arguments' names as C can have them, no two the same."""
    names: list[str] = []
    for argument in arguments:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", argument)
        while plain in names or plain in RESERVED:
            plain += "_"
        names.append(plain)
    return names


def _unlike(name: str, others: list[str]) -> str:
    """A name that is none of the others, with any number behind it."""
    while any(re.fullmatch(rf"{name}\d*", other) for other in others):
        name += "_"
    return name


def _head(program: Program, name: str, arguments: list[str], out: str, about: About) -> str:
    """The comment that says what the function is, and what it includes."""
    return f"{_comment(program, name, arguments, out, about)}\n#include <math.h>\n"


def _comment(program: Program, name: str, arguments: list[str], out: str, about: About) -> str:
    count = program.count()
    shape = " x ".join(map(str, program.shape)) or "1"
    lines = [f"{name}: {about.title}" if about.title else name, ""]
    for a, (own, size) in zip(arguments, program.arguments, strict=True):
        words = about.contents.get(own, "")
        lines += [f"  {a}[{size}]: {words}" if words else f"  {a}[{size}]"]
    lines += [f"  {out}[{len(program.outputs)}], written: {shape}, row by row", ""]
    lines += [*about.notes, ""] if about.notes else []
    lines = [part for line in lines for part in _wrapped(line)]
    lines += [f"{count.mul} multiplications, {count.add} additions, {count.div} divisions, {count.sqrt} square roots,"]
    lines += [f"{count.trig} other functions. C99, no state, no allocation."]
    safe = [re.sub(r"[^\x20-\x7e]", "?", line).replace("*/", "* /").replace("/*", "/ *") for line in lines]
    comment = "\n".join(f" * {line}".rstrip() for line in safe)
    return f"/*\n{comment}\n */"


def _wrapped(line: str) -> list[str]:
    """A line of a comment in several, each but the first set in."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, 110, subsequent_indent=indent) if line else [""]
