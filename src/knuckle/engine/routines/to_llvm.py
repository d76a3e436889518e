"""A routine's Python to LLVM text.

Variables are numbers (float), whole numbers (int), truth values, places in arrays, and records of such. There are
assignments, also `x[k] = …` and `x += …`, `for` over `range`, `while`, `if`, `return`, `break` and `continue`;
arithmetic, comparisons, `and`, `or`, `not` and `a if c else b`; `sqrt`, `abs`, `min`, `max`, `float` and `int`; other
routines, compiled texts by `apply`, and numbers of the module as constants. A variable is of one kind throughout.
Everything else is an error that names the line.
"""

from __future__ import annotations

import ast
import inspect
import struct
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

REAL, WHOLE, TRUTH, REALS, WHOLES, NOTHING = "double", "i64", "i1", "reals", "wholes", "void"
CODE, CODES, RECORD = "code", "codes", "record "
KINDS = {
    "float": REAL, "int": WHOLE, "bool": TRUTH, "Reals": REALS, "Wholes": WHOLES, "Code": CODE, "Codes": CODES,
    "None": NOTHING,
}  # fmt: skip
ELEMENTS = {REALS: REAL, WHOLES: WHOLE, CODES: CODE}
LAX = "reassoc contract"
"""Sums may be taken in any order, so that vectors can."""
OPERATIONS = {ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"), ast.Div: ("fdiv", "")}
WHOLE_ONLY = {ast.FloorDiv: "sdiv", ast.Mod: "srem"}
COMPARISONS = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
}  # fmt: skip


class Record:
    """What several routines share: a dataclass whose fields have the kinds of arguments. Routines do not change it."""


class RoutineError(TypeError):
    """A routine says something that cannot be compiled."""


class Value(NamedTuple):
    """What an expression is: the name of its number or place, and its kind."""

    name: str
    kind: str


def llvm_type(kind: str) -> str:
    return kind if kind in (REAL, WHOLE, TRUTH, NOTHING) else "ptr"


def fields_of(record: type) -> dict[str, str]:
    """The kinds of a record's fields, by name."""
    return {name: KINDS[annotation] for name, annotation in record.__annotations__.items()}


@dataclass(frozen=True)
class Source:
    """A routine as Python has it: its syntax, what its names stand for, and the kinds of its arguments and result."""

    name: str
    syntax: ast.FunctionDef
    names: Mapping[str, Any]
    file: str
    first_line: int

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Source:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        file = inspect.getsourcefile(function) or "?"
        return cls(function.__name__, tree, function.__globals__, file, first)

    @cached_property
    def arguments(self) -> list[tuple[str, str]]:
        return [(x.arg, self._kind(x.annotation, x)) for x in self.syntax.args.args]

    @cached_property
    def result(self) -> str:
        return self._kind(self.syntax.returns, self.syntax)

    def _kind(self, annotation: ast.expr | None, where: ast.AST) -> str:
        name = "" if annotation is None else ast.unparse(annotation)
        named = self.names.get(name)
        if isinstance(named, type) and issubclass(named, Record):
            return RECORD + name
        if name not in KINDS:
            raise self.error(where, f"every argument and the result are of a kind: {', '.join(KINDS)} or a record")
        return KINDS[name]

    def error(self, where: ast.AST, message: str) -> RoutineError:
        line = self.first_line + getattr(where, "lineno", 1) - 1
        return RoutineError(f"routine {self.name}, line {line} of {self.file}: {message}")


def module_text(routine: Source, source_of: Callable[[Any], Source | None]) -> str:
    """The LLVM text of a routine and of those that it calls, with an entry that takes its arguments from a table.

    `source_of` gives the source of what is a routine.
    """
    done: dict[str, str] = {}
    queue = [routine]
    while queue:
        source = queue.pop()
        if source.name in done:
            continue
        printer = _Printer(source, source_of)
        done[source.name] = printer.text()
        queue += printer.called
    declared = "\n".join(f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "fabs"))
    return "\n".join([declared, *done.values(), _entry(routine)])


def _entry(source: Source) -> str:
    """`entry(ptr table, ptr result)`: every argument is a word of the table."""
    lines: list[str] = []
    given: list[str] = []
    for k, (_, kind) in enumerate(source.arguments):
        lines += [f"%at{k} = getelementptr i64, ptr %table, i64 {k}", f"%x{k} = load {llvm_type(kind)}, ptr %at{k}"]
        given.append(f"{llvm_type(kind)} %x{k}")
    call = f"call {source.result} @{source.name}({', '.join(given)})"
    ending = [call] if source.result == NOTHING else [f"%y = {call}", f"store {source.result} %y, ptr %result"]
    inside = "\n  ".join([*lines, *ending])
    return f"define void @entry(ptr %table, ptr %result) {{\n  {inside}\n  ret void\n}}\n"


@dataclass
class _Printer:
    """Prints one routine."""

    source: Source
    source_of: Callable[[Any], Source | None]
    called: list[Source] = field(default_factory=list[Source])
    lines: list[str] = field(default_factory=list[str])
    rooms: list[str] = field(default_factory=list[str])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0
    loops: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def text(self) -> str:
        given: list[str] = []
        for name, kind in self.source.arguments:
            self._declare(name, kind)
            given.append(f"{llvm_type(kind)} %given.{name}")
            self.lines.append(f"store {llvm_type(kind)} %given.{name}, ptr %v.{name}")
        self._all(self.source.syntax.body)
        self.lines.append("ret void" if self.source.result == NOTHING else "unreachable")
        inside = "\n  ".join([*self.rooms, *self.lines])
        return (
            f"define internal {self.source.result} @{self.source.name}({', '.join(given)}) {{\nbegin:\n  {inside}\n}}\n"
        )

    # statements

    def _all(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self._value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ):
                for target, value in zip(targets, [self._value(x) for x in values], strict=True):
                    self._store(target, value)
            case ast.Assign(targets=[target], value=value):
                self._store(target, self._value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self._store(target, self._binary(node, op, self._value(target), self._value(value)))
            case ast.If():
                self._if(node)
            case ast.While(test=test, body=body, orelse=[]):
                self._loop(lambda: self._truth(test), body, lambda: None)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]):
                self._for(name, bounds, node.body)
            case ast.Return(value=value):
                self._return(node, value)
            case ast.Break():
                self._leave(self.loops[-1][1])
            case ast.Continue():
                self._leave(self.loops[-1][0])
            case _:
                raise self.source.error(node, f"{ast.unparse(node)!r} is nothing that a routine can say")

    def _return(self, node: ast.Return, value: ast.expr | None) -> None:
        if value is None:
            self.lines.append("ret void")
        else:
            x = self._as(self._value(value), self.source.result, node)
            self.lines.append(f"ret {self.source.result} {x.name}")
        self._label(self._new_label("after"))

    def _leave(self, label: str) -> None:
        self.lines.append(f"br label %{label}")
        self._label(self._new_label("after"))

    def _if(self, node: ast.If) -> None:
        then, other, end = (self._new_label(x) for x in ("then", "else", "end"))
        self.lines.append(f"br i1 {self._truth(node.test)}, label %{then}, label %{other}")
        for label, body in ((then, node.body), (other, node.orelse)):
            self._label(label)
            self._all(body)
            self.lines.append(f"br label %{end}")
        self._label(end)

    def _for(self, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> None:
        whole = [self._as(self._value(x), WHOLE, x) for x in bounds]
        first, last, step = {
            1: lambda: (Value("0", WHOLE), whole[0], Value("1", WHOLE)),
            2: lambda: (whole[0], whole[1], Value("1", WHOLE)),
            3: lambda: (whole[0], whole[1], whole[2]),
        }[len(whole)]()
        sign = "sgt" if len(bounds) == 3 and isinstance(bounds[2], ast.UnaryOp) else "slt"
        hidden = f"counter.{self._new_label('n')}"
        self._declare(hidden, WHOLE)
        if name not in self.kinds:
            self._declare(name, WHOLE)
        self.lines.append(f"store i64 {first.name}, ptr %v.{hidden}")

        def goes_on() -> str:
            now = self._put(f"load i64, ptr %v.{hidden}")
            test = self._put(f"icmp {sign} i64 {now}, {last.name}")
            self.lines.append(f"store i64 {now}, ptr %v.{name}")
            return test

        def advance() -> None:
            now = self._put(f"load i64, ptr %v.{hidden}")
            self.lines.append(f"store i64 {self._put(f'add nsw i64 {now}, {step.name}')}, ptr %v.{hidden}")

        self._loop(goes_on, body, advance)

    def _loop(self, goes_on: Callable[[], str], body: list[ast.stmt], advance: Callable[[], None]) -> None:
        head, inside, again, end = (self._new_label(x) for x in ("head", "inside", "again", "end"))
        self.lines.append(f"br label %{head}")
        self._label(head)
        self.lines.append(f"br i1 {goes_on()}, label %{inside}, label %{end}")
        self._label(inside)
        self.loops.append((again, end))
        self._all(body)
        self.loops.pop()
        self.lines.append(f"br label %{again}")
        self._label(again)
        advance()
        self.lines.append(f"br label %{head}")
        self._label(end)

    def _store(self, target: ast.expr, x: Value) -> None:
        match target:
            case ast.Name(id=name):
                if name not in self.kinds:
                    self._declare(name, x.kind)
                x = self._as(x, self.kinds[name], target)
                self.lines.append(f"store {llvm_type(x.kind)} {x.name}, ptr %v.{name}")
            case ast.Subscript():
                at, kind = self._place(target)
                x = self._as(x, kind, target)
                self.lines.append(f"store {kind} {x.name}, ptr {at}, align 8")
            case _:
                raise self.source.error(target, f"nothing can be assigned to {ast.unparse(target)!r}")

    # expressions

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return self._constant(node, value)
            case ast.Name(id=name) if name in self.kinds:
                kind = self.kinds[name]
                return Value(self._put(f"load {llvm_type(kind)}, ptr %v.{name}"), kind)
            case ast.Name(id=name) if isinstance(self.source.names.get(name), (int, float)):
                return self._constant(node, self.source.names[name])
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=None, step=None), value=array) if lower is not None:
                whole = self._value(array)
                k = self._as(self._value(lower), WHOLE, node)
                return Value(self._put(f"getelementptr i64, ptr {whole.name}, i64 {k.name}"), whole.kind)
            case ast.Subscript():
                at, kind = self._place(node)
                return Value(self._put(f"load {llvm_type(kind)}, ptr {at}, align 8"), kind)
            case ast.Attribute(value=record, attr=name):
                return self._field(node, self._value(record), name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return self._constant(node, -value)  # type: ignore[operator]
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return self._binary(node, ast.Sub(), Value("0", WHOLE), self._value(x))
            case ast.UnaryOp(op=ast.Not(), operand=x):
                return Value(self._put(f"xor i1 {self._truth(x)}, true"), TRUTH)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(node, [left, *others], ops)
            case ast.BoolOp(op=op, values=values):
                return self._shortened(values, isinstance(op, ast.And))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._either(node, test, body, orelse)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(node, name, args)
            case _:
                raise self.source.error(node, f"{ast.unparse(node)!r} is nothing that a routine can compute")

    def _constant(self, node: ast.expr, value: Any) -> Value:
        if isinstance(value, bool):
            return Value("true" if value else "false", TRUTH)
        if isinstance(value, int):
            return Value(str(value), WHOLE)
        if isinstance(value, float):
            return Value(f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}", REAL)
        raise self.source.error(node, f"{value!r} is no number")

    def _place(self, node: ast.Subscript) -> tuple[str, str]:
        array, k = self._value(node.value), self._as(self._value(node.slice), WHOLE, node)
        if array.kind not in ELEMENTS:
            raise self.source.error(node, f"{ast.unparse(node.value)} is no array")
        element = ELEMENTS[array.kind]
        return self._put(f"getelementptr inbounds i64, ptr {array.name}, i64 {k.name}"), element

    def _field(self, node: ast.Attribute, record: Value, name: str) -> Value:
        """A field of a record, which is a table of words."""
        fields = (
            fields_of(self.source.names[record.kind.removeprefix(RECORD)]) if record.kind.startswith(RECORD) else {}
        )
        if name not in fields:
            raise self.source.error(node, f"{ast.unparse(node)} is no field of a record")
        at = self._put(f"getelementptr i64, ptr {record.name}, i64 {list(fields).index(name)}")
        return Value(self._put(f"load {llvm_type(fields[name])}, ptr {at}"), fields[name])

    def _binary(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        if type(op) in WHOLE_ONLY and x.kind == y.kind == WHOLE:
            return Value(self._put(f"{WHOLE_ONLY[type(op)]} i64 {x.name}, {y.name}"), WHOLE)
        if type(op) not in OPERATIONS:
            raise self.source.error(node, f"{type(op).__name__} is no operation of routines")
        real, whole = OPERATIONS[type(op)]
        if x.kind == y.kind == WHOLE and whole:
            return Value(self._put(f"{whole} nsw i64 {x.name}, {y.name}"), WHOLE)
        x, y = self._as(x, REAL, node), self._as(y, REAL, node)
        return Value(self._put(f"{real} {LAX} double {x.name}, {y.name}"), REAL)

    def _compared(self, node: ast.AST, terms: list[ast.expr], ops: list[ast.cmpop]) -> Value:
        found = ""
        values = [self._value(x) for x in terms]
        for x, y, op in zip(values, values[1:], ops, strict=False):
            if type(op) not in COMPARISONS:
                raise self.source.error(node, f"{type(op).__name__} is no comparison of routines")
            real, whole = COMPARISONS[type(op)]
            if x.kind == y.kind == WHOLE:
                test = self._put(f"icmp {whole} i64 {x.name}, {y.name}")
            else:
                a, b = self._as(x, REAL, node), self._as(y, REAL, node)
                test = self._put(f"fcmp {real} double {a.name}, {b.name}")
            found = self._put(f"and i1 {found}, {test}") if found else test
        return Value(found, TRUTH)

    def _shortened(self, values: list[ast.expr], is_all: bool) -> Value:
        """`and` and `or`: later terms are looked at only where they matter."""
        room = f"choice.{self._new_label('n')}"
        self._declare(room, TRUTH)
        end = self._new_label("end")
        for k, value in enumerate(values):
            test = self._truth(value)
            self.lines.append(f"store i1 {test}, ptr %v.{room}")
            more = self._new_label("more")
            if k + 1 < len(values):
                ways = (more, end) if is_all else (end, more)
                self.lines.append(f"br i1 {test}, label %{ways[0]}, label %{ways[1]}")
            else:
                self.lines.append(f"br label %{end}")
            self._label(more if k + 1 < len(values) else end)
        return Value(self._put(f"load i1, ptr %v.{room}"), TRUTH)

    def _either(self, node: ast.AST, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        """`a if c else b`: only one of them is computed."""
        then, other, end = (self._new_label(x) for x in ("then", "else", "end"))
        room = f"either.{then}"
        self.lines.append(f"br i1 {self._truth(test)}, label %{then}, label %{other}")
        ends: list[Value] = []
        for label, value in ((then, body), (other, orelse)):
            self._label(label)
            x = self._value(value)
            if label == then:
                self._declare(room, x.kind)
            x = self._as(x, self.kinds[room], node)
            self.lines += [f"store {llvm_type(x.kind)} {x.name}, ptr %v.{room}", f"br label %{end}"]
            ends.append(x)
        self._label(end)
        return Value(self._put(f"load {llvm_type(ends[0].kind)}, ptr %v.{room}"), ends[0].kind)

    def _selected(self, node: ast.AST, chosen: str, x: Value, y: Value) -> Value:
        if x.kind != y.kind:
            x, y = self._as(x, REAL, node), self._as(y, REAL, node)
        kind = llvm_type(x.kind)
        return Value(self._put(f"select i1 {chosen}, {kind} {x.name}, {kind} {y.name}"), x.kind)

    def _call(self, node: ast.Call, name: str, args: list[ast.expr]) -> Value:
        if name == "apply":
            return self._applied(node, [self._value(x) for x in args])
        values = [self._value(x) for x in args]
        if name in ("sqrt", "abs") and len(values) == 1:
            if name == "abs" and values[0].kind == WHOLE:
                x = values[0]
                below = self._put(f"icmp slt i64 {x.name}, 0")
                return Value(
                    self._put(f"select i1 {below}, i64 {self._put(f'sub i64 0, {x.name}')}, i64 {x.name}"), WHOLE
                )
            x = self._as(values[0], REAL, node)
            return Value(
                self._put(f"call double @llvm.{'sqrt' if name == 'sqrt' else 'fabs'}.f64(double {x.name})"), REAL
            )
        if name in ("min", "max") and len(values) == 2:
            x, y = values
            if x.kind != y.kind:
                x, y = self._as(x, REAL, node), self._as(y, REAL, node)
            compare = ("icmp slt", "icmp sgt") if x.kind == WHOLE else ("fcmp olt", "fcmp ogt")
            test = self._put(f"{compare[name == 'max']} {x.kind} {y.name}, {x.name}")
            return self._selected(node, test, y, x)
        if name == "float":
            return self._as(values[0], REAL, node)
        if name == "int":
            x = values[0]
            return x if x.kind == WHOLE else Value(self._put(f"fptosi double {x.name} to i64"), WHOLE)
        other = self.source_of(self.source.names.get(name))
        if other is None:
            raise self.source.error(node, f"{name} is no routine")
        self.called.append(other)
        if len(values) != len(other.arguments):
            raise self.source.error(node, f"{name} takes {len(other.arguments)} arguments, not {len(values)}")
        pairs = [self._as(x, kind, node) for x, (_, kind) in zip(values, other.arguments, strict=True)]
        call = f"call {other.result} @{other.name}({', '.join(f'{llvm_type(x.kind)} {x.name}' for x in pairs)})"
        if other.result == NOTHING:
            self.lines.append(call)
            return Value("", NOTHING)
        return Value(self._put(call), other.result)

    def _applied(self, node: ast.Call, values: list[Value]) -> Value:
        code, out, *inputs = values
        if code.kind != CODE or any(x.kind != REALS for x in (out, *inputs)):
            raise self.source.error(node, "apply takes a code, where its numbers go, and arrays")
        room = f"%{self._new_label('inputs')}"
        self.rooms.append(f"{room} = alloca [{len(inputs)} x ptr]")
        for k, x in enumerate(inputs):
            at = self._put(f"getelementptr ptr, ptr {room}, i64 {k}")
            self.lines.append(f"store ptr {x.name}, ptr {at}")
        self.lines.append(f"call void {code.name}(ptr {room}, ptr {out.name})")
        return Value("", NOTHING)

    # names

    def _truth(self, node: ast.expr) -> str:
        x = self._value(node)
        if x.kind != TRUTH:
            raise self.source.error(node, f"{ast.unparse(node)} is no truth value")
        return x.name

    def _as(self, x: Value, kind: str, node: ast.AST) -> Value:
        if x.kind == kind:
            return x
        if x.kind == WHOLE and kind == REAL:
            if x.name.lstrip("-").isdigit():
                return self._constant(ast.Constant(0), float(x.name))
            return Value(self._put(f"sitofp i64 {x.name} to double"), REAL)
        raise self.source.error(node, f"{ast.unparse(node)!r}: {x.kind} where {kind} is needed")

    def _declare(self, name: str, kind: str) -> None:
        self.kinds[name] = kind
        self.rooms.append(f"%v.{name} = alloca {llvm_type(kind)}")

    def _put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def _new_label(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def _label(self, label: str) -> None:
        self.lines.append(f"\n{label}:")
