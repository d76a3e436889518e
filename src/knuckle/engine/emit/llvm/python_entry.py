"""The way in from Python for one state, as LLVM text: a C function with the signature of METH_FASTCALL | METH_KEYWORDS.

    PyObject *enter(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)

`self` is a tuple whose first item is the address of a `RECORD` as an int. If the arguments are what the record asks for
(NumPy's own arrays of one dtype and of fixed shapes, contiguous and aligned, none by name) the result is made, the
record's code fills it in, and it is returned. In every other case the record's general callable gets the call as it
came.

The same text holds `trial`, code for a record that adds two arrays of two numbers: enough to try the way in before it
is used.
"""

from __future__ import annotations

from dataclasses import dataclass

RECORD = (
    "code",
    "general",
    "arguments",
    "shapes",
    "dimensions",
    "shape",
    "ndarray",
    "dtype",
    "number",
    "new",
    "scalar",
)
"""The words of a record, 64 bits each.

code: the address of `void code(ptr inputs, ptr out)`, 0 while there is none.
general: the callable for all other calls.
arguments, shapes: how many arrays there are; for each its number of axes, the length of the first and of the last.
dimensions, shape: the number of axes of the result (0: a scalar of NumPy's), and where their lengths are.
ndarray, dtype, number: the type of arrays, the descriptor of their elements, and its number.
new, scalar: NumPy's C functions PyArray_New and PyArray_Scalar.
"""

MOST_ARGUMENTS = 16
SYMBOLS = ("PyTuple_GetItem", "PyLong_AsVoidPtr", "PyObject_Vectorcall")
"""What is called of Python's C interface."""

SOUND = 0x0101
"""NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED."""


@dataclass(frozen=True)
class Offsets:
    """Where the fields of an array object are, in bytes."""

    type: int
    data: int
    axes: int
    lengths: int
    dtype: int
    flags: int

    @classmethod
    def after(cls, header: int) -> Offsets:
        """The fields in the order of NumPy's C interface, after the header that every object has."""
        return cls(header - 8, header, header + 8, header + 16, header + 40, header + 48)


def _field(name: str, kind: str) -> str:
    place = RECORD.index(name)
    return f"  %{name}_at = getelementptr i64, ptr %record, i64 {place}\n  %{name} = load {kind}, ptr %{name}_at"


def entry_to_llvm(offsets: Offsets) -> str:
    """The LLVM text of `enter` and `trial`."""
    return f"""
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)

define ptr @enter(ptr %self, ptr %args, i64 %n, ptr %names) {{
entry:
  %inputs = alloca [{MOST_ARGUMENTS} x ptr], align 16
  %one = alloca [2 x i64], align 16
  %first = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record = call ptr @PyLong_AsVoidPtr(ptr %first)
{_field("code", "ptr")}
{_field("arguments", "i64")}
{_field("shapes", "ptr")}
{_field("ndarray", "ptr")}
{_field("dtype", "ptr")}
  %compiled = icmp ne ptr %code, null
  %nameless = icmp eq ptr %names, null
  %counted = icmp eq i64 %n, %arguments
  %begun = and i1 %compiled, %nameless
  %ready = and i1 %begun, %counted
  br i1 %ready, label %check, label %elsewhere

check:
  %k = phi i64 [0, %entry], [%k1, %taken]
  %all = icmp eq i64 %k, %n
  br i1 %all, label %checked, label %type
type:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  %type_at = getelementptr i8, ptr %arg, i64 {offsets.type}
  %its_type = load ptr, ptr %type_at
  %is_array = icmp eq ptr %its_type, %ndarray
  br i1 %is_array, label %array, label %elsewhere
array:
  %dtype_there = getelementptr i8, ptr %arg, i64 {offsets.dtype}
  %its_dtype = load ptr, ptr %dtype_there
  %flags_at = getelementptr i8, ptr %arg, i64 {offsets.flags}
  %flags = load i32, ptr %flags_at
  %axes_at = getelementptr i8, ptr %arg, i64 {offsets.axes}
  %axes = load i32, ptr %axes_at
  %axes_wide = sext i32 %axes to i64
  %wanted_at = mul i64 %k, 3
  %wanted = getelementptr i64, ptr %shapes, i64 %wanted_at
  %axes_wanted = load i64, ptr %wanted
  %same_dtype = icmp eq ptr %its_dtype, %dtype
  %masked = and i32 %flags, {SOUND}
  %sound = icmp eq i32 %masked, {SOUND}
  %same_axes = icmp eq i64 %axes_wide, %axes_wanted
  %suits = and i1 %same_dtype, %sound
  %fits = and i1 %suits, %same_axes
  br i1 %fits, label %measure, label %elsewhere
measure:
  %lengths_at = getelementptr i8, ptr %arg, i64 {offsets.lengths}
  %lengths = load ptr, ptr %lengths_at
  %length = load i64, ptr %lengths
  %last = sub i64 %axes_wide, 1
  %width_at = getelementptr i64, ptr %lengths, i64 %last
  %width = load i64, ptr %width_at
  %length_wanted_at = getelementptr i64, ptr %wanted, i64 1
  %length_wanted = load i64, ptr %length_wanted_at
  %width_wanted_at = getelementptr i64, ptr %wanted, i64 2
  %width_wanted = load i64, ptr %width_wanted_at
  %same_length = icmp eq i64 %length, %length_wanted
  %same_width = icmp eq i64 %width, %width_wanted
  %same = and i1 %same_length, %same_width
  br i1 %same, label %taken, label %elsewhere
taken:
  %data_at = getelementptr i8, ptr %arg, i64 {offsets.data}
  %data = load ptr, ptr %data_at
  %input = getelementptr ptr, ptr %inputs, i64 %k
  store ptr %data, ptr %input
  %k1 = add i64 %k, 1
  br label %check

checked:
{_field("dimensions", "i64")}
  %is_scalar = icmp eq i64 %dimensions, 0
  br i1 %is_scalar, label %number_wanted, label %array_wanted

number_wanted:
  call void %code(ptr %inputs, ptr %one)
{_field("scalar", "ptr")}
  %made_number = call ptr %scalar(ptr %one, ptr %dtype, ptr null)
  ret ptr %made_number

array_wanted:
{_field("shape", "ptr")}
{_field("number", "i64")}
{_field("new", "ptr")}
  %dimensions_narrow = trunc i64 %dimensions to i32
  %number_narrow = trunc i64 %number to i32
  %result = call ptr %new(ptr %ndarray, i32 %dimensions_narrow, ptr %shape, i32 %number_narrow,
                          ptr null, ptr null, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %give, label %fill
fill:
  %out_at = getelementptr i8, ptr %result, i64 {offsets.data}
  %out = load ptr, ptr %out_at
  call void %code(ptr %inputs, ptr %out)
  br label %give
give:
  ret ptr %result

elsewhere:
{_field("general", "ptr")}
  %other = call ptr @PyObject_Vectorcall(ptr %general, ptr %args, i64 %n, ptr %names)
  ret ptr %other
}}

define void @trial(ptr %inputs, ptr %out) {{
  %second_at = getelementptr ptr, ptr %inputs, i64 1
  %x = load ptr, ptr %inputs
  %y = load ptr, ptr %second_at
  %a = load <2 x double>, ptr %x, align 8
  %b = load <2 x double>, ptr %y, align 8
  %sum = fadd <2 x double> %a, %b
  store <2 x double> %sum, ptr %out, align 8
  ret void
}}
"""
