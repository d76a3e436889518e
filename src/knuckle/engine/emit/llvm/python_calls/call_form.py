"""The forms of calls that go from Python to native code, as LLVM text: what a call must be like, and whether it is.

A form says of every argument what is expected in its place: a certain object, a value equal to one (names and numbers),
an array of NumPy's own type with the right dtype, last axes and layout in memory, or a Python float. Arrays may have
the same batch axes before their own, or none.
"""

from __future__ import annotations

from dataclasses import dataclass

RECORD = ("general", "allowed", "running", "table", "last", "ndarray", "text", "float", "int", "new", "based", "scalar")
"""The words of a record, 64 bits each.

general: the callable for all other calls.
allowed: where a word is that is zero while native code must not be used.
running: a list that has entries while the text of a kernel runs.
table: where the number of buckets less one is, followed by the first form of each bucket, 0 if there is none.
last: the form of the last call, tried before the table is searched; 0 if there is none.
ndarray, text, float, int: the types of arrays, names and numbers.
new, based, scalar: NumPy's C functions PyArray_New, PyArray_SetBaseObject and PyArray_Scalar.
"""

FORM = (
    "next",
    "positional",
    "named",
    "names",
    "slots",
    "dtype",
    "number",
    "one",
    "batch",
    "arguments",
    "most",
    "dimensions",
    "shape",
    "parts",
    "pieces",
    "words",
    "kind",
    "labels",
    "kept",
    "oldest",
    "split",
    "guard",
    "owner",
)
"""The words of a form.

next: the next form of the same bucket.
positional, named, names: how many arguments come without and with a name, and where the names are, in order.
slots: where the `SLOT`s of all arguments are.
dtype, number: the descriptor of the elements of arrays, and its number.
one: the address of `void one(ptr inputs, ptr out)`, code for one state; 0 if there is none.
batch: the address of the kernel for batches, `void batch(i64 start, i64 end, (ptr input, i64 stride)…, ptr out)`, or 0.
arguments: how many arrays the code takes.
most: the largest number of states for `batch`.
dimensions, shape: the number of axes of the result for one state (0: a number), and where their lengths are. Of several
    results: those of all their numbers in a row.
parts, pieces: the number of results, where `PIECE`s of them are; 0 for one that is no tuple.
words: the words of 32 bits of a number.
kind: the class of named tuples that several results are, or 0.
labels: the names of several results in a dictionary, a tuple, or 0.
kept, oldest: a list of `KEPT` arrays or tuples that were given for one state, or None, which may be given again; 0 if
    such must always be new; and the place of the one that is there for longest.
split: a callable that makes the results of a batch of the array of all their numbers; 0 if that is the result.
guard: a callable that says whether the code is still right, or 0.
owner: the object that keeps the form alive.
"""

SLOT = ("kind", "value", "axes", "first", "last", "size")
"""The words of what is expected of an argument.

kind, value: one of those below. axes, first, last, size: of an array for one state, its number of axes, the length of
the first and of the last, and how many numbers it has.
"""
THE_OBJECT, EQUAL, ARRAY, FLOAT = 0, 1, 2, 3
"""Kinds of argument: `value` itself; a name or number of the same type and equal to `value`; an array or a float that
is input number `value` of the code."""

PIECE = ("dimensions", "shape", "size")
"""The words for each result of a tuple: its number of axes, where their lengths are, and how many numbers it has."""

MOST_ARGUMENTS = 16
MOST_BATCHED = 8
"""How many arrays a batch may have."""
MOST_AXES = 8
"""How many batch axes there may be, and how many axes a result may have for one state."""
MULTIPLIER = 0x9E3779B97F4A7C15
"""The hash of a call: for names and for objects that are no arrays and no numbers, h ← (h xor x) · MULTIPLIER."""
SOUND = 0x0101
"""NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED."""
WRITEABLE = 0x0400
"""NPY_ARRAY_WRITEABLE."""
WHOLE = SOUND | WRITEABLE
"""What results are: in order in memory, aligned, writeable."""
KEPT = 4
"""How many results for one state a form keeps, a power of two: what a loop holds at a time, and one more."""


@dataclass(frozen=True)
class Offsets:
    """Where the fields of an array object, the value of a float, the length and the table of the items of a list, and
    the items of a tuple are, in bytes. The number of references comes first in all of them."""

    type: int
    length: int
    data: int
    axes: int
    lengths: int
    base: int
    dtype: int
    flags: int
    weak: int
    items: int
    tuple: int

    @classmethod
    def after(cls, header: int) -> Offsets:
        """The fields in the order of NumPy's C interface, after the header that every object has."""
        data, axes, lengths, _, base, dtype, flags, weak = range(header, header + 64, 8)
        items = tuple.__basicsize__
        return cls(header - 8, header, data, axes, lengths, base, dtype, flags, weak, header + 8, items)


def word(words: tuple[str, ...], owner: str, name: str, kind: str) -> str:
    """The lines that load a word: `%owner_name`."""
    it = f"%{owner}_{name}"
    return f"  {it}_at = getelementptr i64, ptr %{owner}, i64 {words.index(name)}\n  {it} = load {kind}, ptr {it}_at"


def of_record(name: str, kind: str = "ptr") -> str:
    return word(RECORD, "record", name, kind)


def of_form(name: str, kind: str = "ptr") -> str:
    return word(FORM, "form", name, kind)


def of_slot(name: str, kind: str = "i64") -> str:
    return word(SLOT, "slot", name, kind)


def of_piece(name: str, kind: str = "i64") -> str:
    """The lines that load a word of a piece."""
    return word(PIECE, "piece", name, kind)


def hash_text(offsets: Offsets) -> str:
    """The hash of a call."""
    return f"""
define internal i64 @hash(ptr %record, ptr %args, i64 %count, ptr %names, i64 %named) {{
entry:
{of_record("ndarray")}
{of_record("text")}
{of_record("float")}
{of_record("int")}
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %next]
  %h = phi i64 [0, %entry], [%h1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %each_name
look:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  %type_at = getelementptr i8, ptr %arg, i64 {offsets.type}
  %type = load ptr, ptr %type_at
  %is_array = icmp eq ptr %type, %record_ndarray
  %is_float = icmp eq ptr %type, %record_float
  %is_int = icmp eq ptr %type, %record_int
  %is_number = or i1 %is_float, %is_int
  %is_passed = or i1 %is_array, %is_number
  br i1 %is_passed, label %next, label %mix
mix:
  %is_text = icmp eq ptr %type, %record_text
  br i1 %is_text, label %text, label %object
text:
  %of_text = call i64 @PyObject_Hash(ptr %arg)
  br label %mixed
object:
  %of_object = ptrtoint ptr %arg to i64
  br label %mixed
mixed:
  %x = phi i64 [%of_text, %text], [%of_object, %object]
  %y = xor i64 %h, %x
  %z = mul i64 %y, {MULTIPLIER - 2**64}
  br label %next
next:
  %h1 = phi i64 [%h, %look], [%z, %mixed]
  %k1 = add i64 %k, 1
  br label %each

each_name:
  %j = phi i64 [0, %each], [%j1, %name]
  %g = phi i64 [%h, %each], [%g2, %name]
  %named_more = icmp slt i64 %j, %named
  br i1 %named_more, label %name, label %done
name:
  %its_name = call ptr @PyTuple_GetItem(ptr %names, i64 %j)
  %of_name = call i64 @PyObject_Hash(ptr %its_name)
  %g1 = xor i64 %g, %of_name
  %g2 = mul i64 %g1, {MULTIPLIER - 2**64}
  %j1 = add i64 %j, 1
  br label %each_name
done:
  ret i64 %g
}}"""


def takes_text(offsets: Offsets) -> str:
    """Whether a call is of a form; then its inputs, their strides, and in `batch` the number of batch axes and where
    their lengths are."""
    return f"""
define internal i1 @takes(ptr %form, ptr %record, ptr %args, i64 %n, ptr %names, i64 %named,
                          ptr %inputs, ptr %strides, ptr %batch) {{
entry:
{of_form("positional", "i64")}
{of_form("named", "i64")}
{of_form("names")}
{of_form("slots")}
{of_form("dtype")}
{of_record("ndarray")}
{of_record("float")}
  %batch_lengths_at = getelementptr i64, ptr %batch, i64 1
  store i64 0, ptr %batch
  %count = add i64 %n, %named
  %same_positional = icmp eq i64 %n, %form_positional
  %same_named = icmp eq i64 %named, %form_named
  %same_count = and i1 %same_positional, %same_named
  br i1 %same_count, label %each_name, label %no

each_name:
  %j = phi i64 [0, %entry], [%j1, %name_is_right]
  %more_names = icmp slt i64 %j, %named
  br i1 %more_names, label %name, label %each
name:
  %its_name = call ptr @PyTuple_GetItem(ptr %names, i64 %j)
  %name_at = getelementptr ptr, ptr %form_names, i64 %j
  %expected_name = load ptr, ptr %name_at
  %same_object = icmp eq ptr %its_name, %expected_name
  br i1 %same_object, label %name_is_right, label %compare_names
compare_names:
  %names_equal = call i32 @PyObject_RichCompareBool(ptr %its_name, ptr %expected_name, i32 2)
  %name_equal = icmp eq i32 %names_equal, 1
  br i1 %name_equal, label %name_is_right, label %no
name_is_right:
  %j1 = add i64 %j, 1
  br label %each_name

each:
  %k = phi i64 [0, %each_name], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %argument, label %yes
argument:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  %slot_index = mul i64 %k, {len(SLOT)}
  %slot = getelementptr i64, ptr %form_slots, i64 %slot_index
{of_slot("kind")}
{of_slot("value")}
  %value = inttoptr i64 %slot_value to ptr
  %type_at = getelementptr i8, ptr %arg, i64 {offsets.type}
  %type = load ptr, ptr %type_at
  switch i64 %slot_kind, label %the_object [
    i64 {EQUAL}, label %equal
    i64 {ARRAY}, label %array
    i64 {FLOAT}, label %float
  ]
the_object:
  %is_it = icmp eq ptr %arg, %value
  br i1 %is_it, label %next, label %no

equal:
  %is_same = icmp eq ptr %arg, %value
  br i1 %is_same, label %next, label %types
types:
  %value_type_at = getelementptr i8, ptr %value, i64 {offsets.type}
  %value_type = load ptr, ptr %value_type_at
  %same_type = icmp eq ptr %type, %value_type
  br i1 %same_type, label %compare, label %no
compare:
  %equals = call i32 @PyObject_RichCompareBool(ptr %arg, ptr %value, i32 2)
  %is_equal = icmp eq i32 %equals, 1
  br i1 %is_equal, label %next, label %no

float:
  %is_float = icmp eq ptr %type, %record_float
  br i1 %is_float, label %take_float, label %no
take_float:
  %float_at = getelementptr i8, ptr %arg, i64 {offsets.data}
  %float_input = getelementptr ptr, ptr %inputs, i64 %slot_value
  store ptr %float_at, ptr %float_input
  %float_stride = getelementptr i64, ptr %strides, i64 %slot_value
  store i64 0, ptr %float_stride
  br label %next

array:
  %is_array = icmp eq ptr %type, %record_ndarray
  br i1 %is_array, label %elements, label %no
elements:
{of_slot("axes")}
  %dtype_at = getelementptr i8, ptr %arg, i64 {offsets.dtype}
  %dtype = load ptr, ptr %dtype_at
  %flags_at = getelementptr i8, ptr %arg, i64 {offsets.flags}
  %flags = load i32, ptr %flags_at
  %axes_at = getelementptr i8, ptr %arg, i64 {offsets.axes}
  %axes_narrow = load i32, ptr %axes_at
  %axes = sext i32 %axes_narrow to i64
  %same_dtype = icmp eq ptr %dtype, %form_dtype
  %masked = and i32 %flags, {SOUND}
  %sound = icmp eq i32 %masked, {SOUND}
  %suits = and i1 %same_dtype, %sound
  %extra = sub i64 %axes, %slot_axes
  %not_less = icmp sge i64 %extra, 0
  %not_more = icmp sle i64 %extra, {MOST_AXES}
  %axes_right = and i1 %not_less, %not_more
  %fits = and i1 %suits, %axes_right
  br i1 %fits, label %measure, label %no
measure:
{of_slot("first")}
{of_slot("last")}
  %lengths_at = getelementptr i8, ptr %arg, i64 {offsets.lengths}
  %lengths = load ptr, ptr %lengths_at
  %first_at = getelementptr i64, ptr %lengths, i64 %extra
  %first = load i64, ptr %first_at
  %last_place = sub i64 %axes, 1
  %last_at = getelementptr i64, ptr %lengths, i64 %last_place
  %last = load i64, ptr %last_at
  %same_first = icmp eq i64 %first, %slot_first
  %same_last = icmp eq i64 %last, %slot_last
  %same_lengths = and i1 %same_first, %same_last
  br i1 %same_lengths, label %take, label %no
take:
  %data_at = getelementptr i8, ptr %arg, i64 {offsets.data}
  %data = load ptr, ptr %data_at
  %input_at = getelementptr ptr, ptr %inputs, i64 %slot_value
  store ptr %data, ptr %input_at
  %stride_at = getelementptr i64, ptr %strides, i64 %slot_value
  %is_one = icmp eq i64 %extra, 0
  br i1 %is_one, label %shared, label %batched
shared:
  store i64 0, ptr %stride_at
  br label %next
batched:
{of_slot("size")}
  store i64 %slot_size, ptr %stride_at
  %known = load i64, ptr %batch
  %is_first = icmp eq i64 %known, 0
  br i1 %is_first, label %set, label %same_axes
set:
  store i64 %extra, ptr %batch
  store ptr %lengths, ptr %batch_lengths_at
  br label %next
same_axes:
  %agrees = icmp eq i64 %known, %extra
  br i1 %agrees, label %each_axis, label %no
each_axis:
  %axis = phi i64 [0, %same_axes], [%axis1, %axis_is_right]
  %more_axes = icmp slt i64 %axis, %extra
  br i1 %more_axes, label %axis_length, label %next
axis_length:
  %batch_lengths = load ptr, ptr %batch_lengths_at
  %there_at = getelementptr i64, ptr %batch_lengths, i64 %axis
  %there = load i64, ptr %there_at
  %here_at = getelementptr i64, ptr %lengths, i64 %axis
  %here = load i64, ptr %here_at
  %same_length = icmp eq i64 %there, %here
  br i1 %same_length, label %axis_is_right, label %no
axis_is_right:
  %axis1 = add i64 %axis, 1
  br label %each_axis

next:
  %k1 = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}}"""
