"""The entry from Python into native code, as LLVM text: a C function of the kind METH_FASTCALL | METH_KEYWORDS.

    PyObject *enter(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)

`self` is a tuple whose first item is an array of NumPy's, the words of a `RECORD`. The record has a hash table of
`FORM`s: ways to write a call for which there is native code (`call_form`). If a call is of one of them, the result is
made, the form's code fills it in, and it is returned. In every other case the record's general callable gets the call
as it came. The interpreter lock is held all the time.

The same text holds `trial`, `trial_number` and `trial_batch`, which add two arrays of two numbers or two numbers: code
for forms to try the entry with before it is used.
"""

from __future__ import annotations

from .call_form import (
    MOST_ARGUMENTS,
    MOST_AXES,
    MOST_BATCHED,
    Offsets,
    hash_text,
    of_form,
    of_record,
    takes_text,
)
from .last_form import last_form_text
from .one_state_result import one_state_result_text

SYMBOLS = (
    "PyTuple_GetItem",
    "PyTuple_Size",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyType_GenericAlloc",
    "PyDict_New",
    "PyDict_SetItem",
    "PyObject_Hash",
    "PyObject_RichCompareBool",
    "PyObject_IsTrue",
    "PyObject_Vectorcall",
    "Py_IncRef",
    "Py_DecRef",
)
"""What is called of Python's C interface."""


def entry_to_llvm(offsets: Offsets) -> str:
    """The LLVM text of `enter` and of the code that it is tried with."""
    return "\n".join(
        [
            _DECLARATIONS,
            hash_text(offsets),
            takes_text(offsets),
            _run_text(),
            one_state_result_text(offsets),
            _enter(offsets),
            _TRIALS,
        ]
    )


_DECLARATIONS = """
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_New(i64)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyObject_Hash(ptr)
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
"""


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
  %batch = alloca [2 x i64], align 16
  %whole = alloca ptr, align 16
  %first = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record_place = getelementptr i8, ptr %first, i64 {offsets.data}
  %record = load ptr, ptr %record_place
{of_record("allowed")}
{of_record("running")}
{of_record("table")}
  %allowed = load i64, ptr %record_allowed
  %running_at = getelementptr i8, ptr %record_running, i64 {offsets.length}
  %running = load i64, ptr %running_at
  %is_allowed = icmp ne i64 %allowed, 0
  %is_outside = icmp eq i64 %running, 0
  %may = and i1 %is_allowed, %is_outside
  br i1 %may, label %try_last, label %elsewhere
{last_form_text(offsets)}
count_names:
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
  store ptr %form, ptr %record_last_at
{of_form("owner")}
{of_form("guard")}
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
{of_form("dimensions", "i64")}
{of_form("shape")}
{of_form("one")}
  %batch_axes = load i64, ptr %batch
  %is_batch = icmp ne i64 %batch_axes, 0
  br i1 %is_batch, label %states_of_batch, label %one_state

one_state:
  %has_one = icmp ne ptr %form_one, null
  br i1 %has_one, label %one_result, label %leave
one_result:
  %made = call ptr @one_result(ptr %form, ptr %record, ptr %inputs)
  call void @Py_DecRef(ptr %form_owner)
  ret ptr %made

states_of_batch:
{of_form("batch")}
{of_form("most", "i64")}
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
  %all_axes = add i64 %batch_axes, %form_dimensions
  %axes_narrow = trunc i64 %all_axes to i32
{of_form("number", "i32")}
{of_record("new")}
{of_record("ndarray")}
  %result = call ptr %record_new(ptr %record_ndarray, i32 %axes_narrow, ptr %lengths, i32 %form_number,
                                 ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_memory = icmp eq ptr %result, null
  br i1 %no_memory, label %fail, label %fill
fill:
  %out_at = getelementptr i8, ptr %result, i64 {offsets.data}
  %out = load ptr, ptr %out_at
{of_form("batch").replace("%form_batch", "%kernel")}
{of_form("arguments", "i64")}
  call void @run(ptr %kernel, i64 %form_arguments, ptr %inputs, ptr %strides, i64 %states, ptr %out)
{of_form("split")}
  %is_whole = icmp eq ptr %form_split, null
  br i1 %is_whole, label %give, label %give_parts
give_parts:
  store ptr %result, ptr %whole
  %parts = call ptr @PyObject_Vectorcall(ptr %form_split, ptr %whole, i64 1, ptr null)
  call void @Py_DecRef(ptr %result)
  call void @Py_DecRef(ptr %form_owner)
  ret ptr %parts
give:
  call void @Py_DecRef(ptr %form_owner)
  ret ptr %result

elsewhere:
{of_record("general")}
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
