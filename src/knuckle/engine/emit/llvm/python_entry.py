"""The entry from Python into native code, as LLVM text: a C function with the signature of METH_FASTCALL | METH_KEYWORDS.

    PyObject *enter(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)

`self` is a tuple whose first item is the address of a `RECORD` as an int. The record has a hash table of `FORM`s: ways
to write a call for which there is native code. A call is of a form if every argument is what the form expects in its
place: a certain object, a value equal to one (names and numbers), an array of NumPy's own type with the right dtype,
last axes and layout in memory, or a Python float. Then the result is made, the form's code fills it in, and it is
returned. In every other case the record's general callable gets the call as it came.

Arrays may have the same batch axes before their own, or none. The interpreter lock is held all the time.

The same text holds `trial`, `trial_number` and `trial_batch`, which add two arrays of two numbers or two numbers: code
for forms to try the entry with before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass

RECORD = ("general", "allowed", "running", "table", "ndarray", "text", "float", "int", "new", "scalar")
"""The words of a record, 64 bits each.

general: the callable for all other calls.
allowed: where a word is that is zero while native code must not be used.
running: a list that has entries while the text of a kernel runs.
table: where the number of buckets less one is, followed by the first form of each bucket, 0 if there is none.
ndarray, text, float, int: the types of arrays, names and numbers.
new, scalar: NumPy's C functions PyArray_New and PyArray_Scalar.
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
dimensions, shape: the number of axes of the result for one state (0: a number), and where their lengths are.
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

MOST_ARGUMENTS = 16
MOST_BATCHED = 8
"""How many arrays a batch may have."""
MOST_AXES = 8
"""How many batch axes there may be, and how many axes a result may have for one state."""
MULTIPLIER = 0x9E3779B97F4A7C15
"""The hash of a call: for names and for objects that are no arrays and no numbers, h ← (h xor x) · MULTIPLIER."""
SYMBOLS = (
    "PyTuple_GetItem",
    "PyTuple_Size",
    "PyLong_AsVoidPtr",
    "PyList_Size",
    "PyObject_Hash",
    "PyObject_RichCompareBool",
    "PyObject_IsTrue",
    "PyObject_Vectorcall",
    "Py_IncRef",
    "Py_DecRef",
)
"""What is called of Python's C interface."""

SOUND = 0x0101
"""NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED."""


@dataclass(frozen=True)
class Offsets:
    """Where the fields of an array object and the value of a float are, in bytes."""

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


def _word(words: tuple[str, ...], owner: str, name: str, kind: str) -> str:
    """The lines that load a word: `%owner_name`."""
    it = f"%{owner}_{name}"
    return f"  {it}_at = getelementptr i64, ptr %{owner}, i64 {words.index(name)}\n  {it} = load {kind}, ptr {it}_at"


def _record(name: str, kind: str = "ptr") -> str:
    return _word(RECORD, "record", name, kind)


def _form(name: str, kind: str = "ptr") -> str:
    return _word(FORM, "form", name, kind)


def _slot(name: str, kind: str = "i64") -> str:
    return _word(SLOT, "slot", name, kind)


def entry_to_llvm(offsets: Offsets) -> str:
    """The LLVM text of `enter` and of the code that it is tried with."""
    return "\n".join([_DECLARATIONS, _hash_text(offsets), _takes_text(offsets), _run_text(), _enter(offsets), _TRIALS])


_DECLARATIONS = """
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyList_Size(ptr)
declare i64 @PyObject_Hash(ptr)
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
"""


def _hash_text(offsets: Offsets) -> str:
    """The hash of a call."""
    return f"""
define internal i64 @hash(ptr %record, ptr %args, i64 %count, ptr %names, i64 %named) {{
entry:
{_record("ndarray")}
{_record("text")}
{_record("float")}
{_record("int")}
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


def _takes_text(offsets: Offsets) -> str:
    """Whether a call is of a form; then its inputs, their strides, and in `batch` the number of batch axes and where
    their lengths are."""
    return f"""
define internal i1 @takes(ptr %form, ptr %record, ptr %args, i64 %n, ptr %names, i64 %named,
                          ptr %inputs, ptr %strides, ptr %batch) {{
entry:
{_form("positional", "i64")}
{_form("named", "i64")}
{_form("names")}
{_form("slots")}
{_form("dtype")}
{_record("ndarray")}
{_record("float")}
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
{_slot("kind")}
{_slot("value")}
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
{_slot("axes")}
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
{_slot("first")}
{_slot("last")}
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
{_slot("size")}
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


def _run_text() -> str:
    """A call of a kernel for batches, by the number of its arrays."""
    counts = range(1, MOST_BATCHED + 1)
    loads = "".join(
        f"  %at{k} = getelementptr ptr, ptr %inputs, i64 {k}\n  %in{k} = load ptr, ptr %at{k}\n"
        f"  %stride_at{k} = getelementptr i64, ptr %strides, i64 {k}\n  %stride{k} = load i64, ptr %stride_at{k}\n"
        for k in range(MOST_BATCHED)
    )
    labels = " ".join(f"i64 {n}, label %of{n}" for n in counts)
    calls = "".join(
        f"of{n}:\n  call void %kernel(i64 0, i64 %states, "
        + "".join(f"ptr %in{k}, i64 %stride{k}, " for k in range(n))
        + "ptr %out)\n  ret void\n"
        for n in counts
    )
    return f"""
define internal void @run(ptr %kernel, i64 %arguments, ptr %inputs, ptr %strides, i64 %states, ptr %out) {{
{loads}  switch i64 %arguments, label %none [{labels}]
none:
  ret void
{calls}}}"""


def _enter(offsets: Offsets) -> str:
    return f"""
define ptr @enter(ptr %self, ptr %args, i64 %n, ptr %names) {{
entry:
  %inputs = alloca [{MOST_ARGUMENTS} x ptr], align 16
  %strides = alloca [{MOST_ARGUMENTS} x i64], align 16
  %lengths = alloca [{2 * MOST_AXES} x i64], align 16
  %single = alloca [2 x i64], align 16
  %batch = alloca [2 x i64], align 16
  %first = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record = call ptr @PyLong_AsVoidPtr(ptr %first)
{_record("allowed")}
{_record("running")}
{_record("table")}
  %allowed = load i64, ptr %record_allowed
  %running = call i64 @PyList_Size(ptr %record_running)
  %is_allowed = icmp ne i64 %allowed, 0
  %is_outside = icmp eq i64 %running, 0
  %may = and i1 %is_allowed, %is_outside
  br i1 %may, label %count_names, label %elsewhere
count_names:
  %is_nameless = icmp eq ptr %names, null
  br i1 %is_nameless, label %find, label %with_names
with_names:
  %named_count = call i64 @PyTuple_Size(ptr %names)
  br label %find
find:
  %named = phi i64 [0, %count_names], [%named_count, %with_names]
  %count = add i64 %n, %named
  %h = call i64 @hash(ptr %record, ptr %args, i64 %count, ptr %names, i64 %named)
  %high = lshr i64 %h, 40
  %mask = load i64, ptr %record_table
  %bucket = and i64 %high, %mask
  %place = add i64 %bucket, 1
  %head = getelementptr i64, ptr %record_table, i64 %place
  br label %search
search:
  %form_at = phi ptr [%head, %find], [%form, %other]
  %form = load ptr, ptr %form_at
  %ended = icmp eq ptr %form, null
  br i1 %ended, label %elsewhere, label %candidate
candidate:
  %suits = call i1 @takes(ptr %form, ptr %record, ptr %args, i64 %n, ptr %names, i64 %named,
                          ptr %inputs, ptr %strides, ptr %batch)
  br i1 %suits, label %found, label %other
other:
  br label %search

found:
{_form("owner")}
{_form("guard")}
  call void @Py_IncRef(ptr %form_owner)
  %unguarded = icmp eq ptr %form_guard, null
  br i1 %unguarded, label %choose, label %ask
ask:
  %answer = call ptr @PyObject_Vectorcall(ptr %form_guard, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %fail, label %answered
answered:
  %truth = call i32 @PyObject_IsTrue(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  %is_true = icmp eq i32 %truth, 1
  br i1 %is_true, label %again, label %leave
again:
  %still = call i1 @takes(ptr %form, ptr %record, ptr %args, i64 %n, ptr %names, i64 %named,
                          ptr %inputs, ptr %strides, ptr %batch)
  br i1 %still, label %choose, label %leave
fail:
  call void @Py_DecRef(ptr %form_owner)
  ret ptr null
leave:
  call void @Py_DecRef(ptr %form_owner)
  br label %elsewhere

choose:
{_form("dimensions", "i64")}
{_form("shape")}
{_form("one")}
{_form("dtype")}
  %batch_axes = load i64, ptr %batch
  %is_batch = icmp ne i64 %batch_axes, 0
  br i1 %is_batch, label %states_of_batch, label %one_state

one_state:
  %has_one = icmp ne ptr %form_one, null
  br i1 %has_one, label %one_result, label %leave
one_result:
  %is_number = icmp eq i64 %form_dimensions, 0
  br i1 %is_number, label %give_number, label %one_array
give_number:
  call void %form_one(ptr %inputs, ptr %single)
{_record("scalar")}
  %number = call ptr %record_scalar(ptr %single, ptr %form_dtype, ptr null)
  call void @Py_DecRef(ptr %form_owner)
  ret ptr %number
one_array:
  br label %create

states_of_batch:
{_form("batch")}
{_form("most", "i64")}
  %has_batch = icmp ne ptr %form_batch, null
  br i1 %has_batch, label %batch_begin, label %leave
batch_begin:
  %batch_lengths_at = getelementptr i64, ptr %batch, i64 1
  %batch_lengths = load ptr, ptr %batch_lengths_at
  br label %each_axis
each_axis:
  %axis = phi i64 [0, %batch_begin], [%axis1, %go_on]
  %states = phi i64 [1, %batch_begin], [%states1, %go_on]
  %more_axes = icmp slt i64 %axis, %batch_axes
  br i1 %more_axes, label %multiply, label %counted
multiply:
  %length_at = getelementptr i64, ptr %batch_lengths, i64 %axis
  %length = load i64, ptr %length_at
  %copy_at = getelementptr i64, ptr %lengths, i64 %axis
  store i64 %length, ptr %copy_at
  %states1 = mul i64 %states, %length
  %axis1 = add i64 %axis, 1
  %small = icmp sle i64 %states1, %form_most
  %short = icmp sle i64 %length, %form_most
  %in_bounds = and i1 %small, %short
  br i1 %in_bounds, label %go_on, label %leave
go_on:
  br label %each_axis
counted:
  %some = icmp sgt i64 %states, 0
  br i1 %some, label %each_length, label %leave
each_length:
  %d = phi i64 [0, %counted], [%d1, %copy]
  %more_lengths = icmp slt i64 %d, %form_dimensions
  br i1 %more_lengths, label %copy, label %create
copy:
  %from = getelementptr i64, ptr %form_shape, i64 %d
  %own = load i64, ptr %from
  %to_place = add i64 %batch_axes, %d
  %to = getelementptr i64, ptr %lengths, i64 %to_place
  store i64 %own, ptr %to
  %d1 = add i64 %d, 1
  br label %each_length

create:
  %shape = phi ptr [%form_shape, %one_array], [%lengths, %each_length]
  %total = phi i64 [1, %one_array], [%states, %each_length]
  %all_axes = add i64 %batch_axes, %form_dimensions
  %axes_narrow = trunc i64 %all_axes to i32
{_form("number", "i32")}
{_record("new")}
{_record("ndarray")}
  %result = call ptr %record_new(ptr %record_ndarray, i32 %axes_narrow, ptr %shape, i32 %form_number,
                                 ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_memory = icmp eq ptr %result, null
  br i1 %no_memory, label %fail, label %fill
fill:
  %out_at = getelementptr i8, ptr %result, i64 {offsets.data}
  %out = load ptr, ptr %out_at
  br i1 %is_batch, label %fill_batch, label %fill_one
fill_one:
  call void %form_one(ptr %inputs, ptr %out)
  br label %give
fill_batch:
{_form("batch").replace("%form_batch", "%kernel")}
{_form("arguments", "i64")}
  call void @run(ptr %kernel, i64 %form_arguments, ptr %inputs, ptr %strides, i64 %total, ptr %out)
  br label %give
give:
  call void @Py_DecRef(ptr %form_owner)
  ret ptr %result

elsewhere:
{_record("general")}
  %other_result = call ptr @PyObject_Vectorcall(ptr %record_general, ptr %args, i64 %n, ptr %names)
  ret ptr %other_result
}}"""


_TRIALS = """
define void @trial(ptr %inputs, ptr %out) {
  %second_at = getelementptr ptr, ptr %inputs, i64 1
  %x = load ptr, ptr %inputs
  %y = load ptr, ptr %second_at
  call void @trial_batch(i64 0, i64 1, ptr %x, i64 0, ptr %y, i64 0, ptr %out)
  ret void
}

define void @trial_number(ptr %inputs, ptr %out) {
  %second_at = getelementptr ptr, ptr %inputs, i64 1
  %x = load ptr, ptr %inputs
  %y = load ptr, ptr %second_at
  %a = load double, ptr %x, align 8
  %b = load double, ptr %y, align 8
  %sum = fadd double %a, %b
  store double %sum, ptr %out, align 8
  ret void
}

define void @trial_batch(i64 %start, i64 %end, ptr %x, i64 %x_stride, ptr %y, i64 %y_stride, ptr %out) {
entry:
  br label %each
each:
  %k = phi i64 [%start, %entry], [%k1, %add]
  %more = icmp slt i64 %k, %end
  br i1 %more, label %add, label %done
add:
  %x_place = mul i64 %k, %x_stride
  %y_place = mul i64 %k, %y_stride
  %out_place = mul i64 %k, 2
  %x_at = getelementptr double, ptr %x, i64 %x_place
  %y_at = getelementptr double, ptr %y, i64 %y_place
  %out_at = getelementptr double, ptr %out, i64 %out_place
  %a = load <2 x double>, ptr %x_at, align 8
  %b = load <2 x double>, ptr %y_at, align 8
  %sum = fadd <2 x double> %a, %b
  store <2 x double> %sum, ptr %out_at, align 8
  %k1 = add i64 %k, 1
  br label %each
done:
  ret void
}
"""
