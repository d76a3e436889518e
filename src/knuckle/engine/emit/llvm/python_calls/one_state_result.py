"""Results for one state, as LLVM text: numbers, arrays, and tuples or dictionaries of them.

A form keeps the last few arrays and tuples that it gave. One that nobody else refers to any more is given again, with
new numbers in it: a call in a loop makes no objects. Python's own `zip` and `enumerate` do the same with their tuples.
"""

from __future__ import annotations

from .call_form import KEPT, PIECE, WHOLE, WRITEABLE, Offsets, of_form, of_piece, of_record


def one_state_result_text(offsets: Offsets) -> str:
    """`one_result`, which makes a result; making objects may run other code of Python's: the caller holds the form."""
    parts = _is_free, _spare_text, _keep_text, _tuple_text, _one_result
    return "\n".join([_DICTIONARY, *(text(offsets) for text in parts)])


def _is_free(offsets: Offsets) -> str:
    """Whether an array is as it was made, of these lengths, and only one place refers to it; `whole` is its base.

    Whoever holds a part of an array, or its memory, holds the array; weak references do not count, and must not see
    that it lives on. It may have been given another shape or other elements, or have been locked.
    """
    return f"""
define internal i1 @is_free(ptr %array, i32 %references, ptr %whole, i64 %axes, ptr %lengths,
                            ptr %form, ptr %record) {{
entry:
{of_form("dtype")}
{of_record("ndarray")}
  %count = load i32, ptr %array
  %type_at = getelementptr i8, ptr %array, i64 {offsets.type}
  %type = load ptr, ptr %type_at
  %own_count = icmp eq i32 %count, %references
  %own_type = icmp eq ptr %type, %record_ndarray
  %may_be = and i1 %own_count, %own_type
  br i1 %may_be, label %look, label %no
look:
  %base_at = getelementptr i8, ptr %array, i64 {offsets.base}
  %base = load ptr, ptr %base_at
  %weak_at = getelementptr i8, ptr %array, i64 {offsets.weak}
  %weak = load ptr, ptr %weak_at
  %dtype_at = getelementptr i8, ptr %array, i64 {offsets.dtype}
  %dtype = load ptr, ptr %dtype_at
  %flags_at = getelementptr i8, ptr %array, i64 {offsets.flags}
  %flags = load i32, ptr %flags_at
  %axes_at = getelementptr i8, ptr %array, i64 {offsets.axes}
  %own_axes_narrow = load i32, ptr %axes_at
  %own_axes = sext i32 %own_axes_narrow to i64
  %masked = and i32 %flags, {WHOLE}
  %same_base = icmp eq ptr %base, %whole
  %not_watched = icmp eq ptr %weak, null
  %same_dtype = icmp eq ptr %dtype, %form_dtype
  %is_whole = icmp eq i32 %masked, {WHOLE}
  %same_axes = icmp eq i64 %own_axes, %axes
  %right1 = and i1 %same_base, %not_watched
  %right2 = and i1 %same_dtype, %is_whole
  %right3 = and i1 %right1, %right2
  %right = and i1 %right3, %same_axes
  br i1 %right, label %measure, label %no
measure:
  %own_lengths_at = getelementptr i8, ptr %array, i64 {offsets.lengths}
  %own_lengths = load ptr, ptr %own_lengths_at
  br label %each
each:
  %k = phi i64 [0, %measure], [%k1, %same]
  %more = icmp slt i64 %k, %axes
  br i1 %more, label %compare, label %yes
compare:
  %here_at = getelementptr i64, ptr %own_lengths, i64 %k
  %here = load i64, ptr %here_at
  %there_at = getelementptr i64, ptr %lengths, i64 %k
  %there = load i64, ptr %there_at
  %agrees = icmp eq i64 %here, %there
  br i1 %agrees, label %same, label %no
same:
  %k1 = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}}"""


def _spare_text(offsets: Offsets) -> str:
    """A kept result that is free, with a reference for the caller, and in `memory` where its numbers are; else null."""
    return f"""
define internal ptr @spare(ptr %form, ptr %record, ptr %memory) {{
entry:
{of_form("kept")}
{of_form("parts", "i64")}
{of_form("pieces")}
{of_form("dimensions", "i64")}
{of_form("shape")}
  %none = icmp eq ptr %form_kept, null
  br i1 %none, label %no, label %begin
begin:
  %items_at = getelementptr i8, ptr %form_kept, i64 {offsets.items}
  %items = load ptr, ptr %items_at
  %parts_narrow = trunc i64 %form_parts to i32
  %is_array = icmp eq i64 %form_parts, 0
  br label %each
each:
  %k = phi i64 [0, %begin], [%k1, %next]
  %more = icmp slt i64 %k, {KEPT}
  br i1 %more, label %look, label %no
look:
  %result_at = getelementptr ptr, ptr %items, i64 %k
  %result = load ptr, ptr %result_at
  %count = load i32, ptr %result
  %is_ours = icmp eq i32 %count, 1
  br i1 %is_ours, label %candidate, label %next
candidate:
  br i1 %is_array, label %array, label %tuple
array:
  %array_is_free = call i1 @is_free(ptr %result, i32 1, ptr null, i64 %form_dimensions, ptr %form_shape,
                                    ptr %form, ptr %record)
  br i1 %array_is_free, label %give, label %next
tuple:
  %parts_at = getelementptr i8, ptr %result, i64 {offsets.tuple}
  %first = load ptr, ptr %parts_at
  %whole_at = getelementptr i8, ptr %first, i64 {offsets.base}
  %whole = load ptr, ptr %whole_at
  %has_no_whole = icmp eq ptr %whole, null
  br i1 %has_no_whole, label %next, label %whole_known
whole_known:
  %whole_is_free = call i1 @is_free(ptr %whole, i32 %parts_narrow, ptr null, i64 1, ptr %form_shape,
                                    ptr %form, ptr %record)
  br i1 %whole_is_free, label %each_part, label %next
each_part:
  %j = phi i64 [0, %whole_known], [%j1, %part]
  %more_parts = icmp slt i64 %j, %form_parts
  br i1 %more_parts, label %part, label %give
part:
  %part_at = getelementptr ptr, ptr %parts_at, i64 %j
  %one_part = load ptr, ptr %part_at
  %piece_index = mul i64 %j, {len(PIECE)}
  %piece = getelementptr i64, ptr %form_pieces, i64 %piece_index
{of_piece("dimensions")}
{of_piece("shape", "ptr")}
  %part_is_free = call i1 @is_free(ptr %one_part, i32 1, ptr %whole, i64 %piece_dimensions, ptr %piece_shape,
                                   ptr %form, ptr %record)
  %j1 = add i64 %j, 1
  br i1 %part_is_free, label %each_part, label %next
give:
  %owner = phi ptr [%result, %array], [%whole, %each_part]
  %data_at = getelementptr i8, ptr %owner, i64 {offsets.data}
  %data = load ptr, ptr %data_at
  store ptr %data, ptr %memory
  call void @Py_IncRef(ptr %result)
  ret ptr %result
next:
  %k1 = add i64 %k, 1
  br label %each
no:
  ret ptr null
}}"""


def _keep_text(offsets: Offsets) -> str:
    """Keeps a result in place of the one that was kept for longest."""
    return f"""
define internal void @keep(ptr %form, ptr %result) {{
entry:
{of_form("kept")}
{of_form("oldest", "i64")}
  %none = icmp eq ptr %form_kept, null
  br i1 %none, label %done, label %put
put:
  %items_at = getelementptr i8, ptr %form_kept, i64 {offsets.items}
  %items = load ptr, ptr %items_at
  %place = getelementptr ptr, ptr %items, i64 %form_oldest
  %other = load ptr, ptr %place
  call void @Py_IncRef(ptr %result)
  store ptr %result, ptr %place
  %after = add i64 %form_oldest, 1
  %next = and i64 %after, {KEPT - 1}
  store i64 %next, ptr %form_oldest_at
  call void @Py_DecRef(ptr %other)
  br label %done
done:
  ret void
}}"""


def _tuple_text(offsets: Offsets) -> str:
    """A new tuple of numbers, and of arrays that share the memory in which all of them are."""
    return f"""
define internal ptr @tuple(ptr %form, ptr %record, ptr %inputs) {{
entry:
{of_form("one")}
{of_form("parts", "i64")}
{of_form("pieces")}
{of_form("shape")}
{of_form("dtype")}
{of_form("number", "i32")}
{of_form("words", "i64")}
{of_form("kind")}
{of_record("new")}
{of_record("based")}
{of_record("scalar")}
{of_record("ndarray")}
  %is_plain = icmp eq ptr %form_kind, null
  br i1 %is_plain, label %plain, label %of_kind
plain:
  %plain_tuple = call ptr @PyTuple_New(i64 %form_parts)
  br label %begun
of_kind:
  %kind_tuple = call ptr @PyType_GenericAlloc(ptr %form_kind, i64 %form_parts)
  br label %begun
begun:
  %tuple = phi ptr [%plain_tuple, %plain], [%kind_tuple, %of_kind]
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %give, label %reserve
reserve:
  %whole = call ptr %record_new(ptr %record_ndarray, i32 1, ptr %form_shape, i32 %form_number,
                                ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_whole = icmp eq ptr %whole, null
  br i1 %no_whole, label %fail, label %compute
compute:
  %data_at = getelementptr i8, ptr %whole, i64 {offsets.data}
  %data = load ptr, ptr %data_at
  call void %form_one(ptr %inputs, ptr %data)
  br label %each
each:
  %k = phi i64 [0, %compute], [%k1, %put]
  %from = phi ptr [%data, %compute], [%after, %put]
  %more = icmp slt i64 %k, %form_parts
  br i1 %more, label %make, label %all
make:
  %piece_index = mul i64 %k, {len(PIECE)}
  %piece = getelementptr i64, ptr %form_pieces, i64 %piece_index
{of_piece("dimensions")}
{of_piece("shape", "ptr")}
{of_piece("size")}
  %units = mul i64 %piece_size, %form_words
  %after = getelementptr i32, ptr %from, i64 %units
  %is_number = icmp eq i64 %piece_dimensions, 0
  br i1 %is_number, label %number, label %array
number:
  %made_number = call ptr %record_scalar(ptr %from, ptr %form_dtype, ptr null)
  %no_number = icmp eq ptr %made_number, null
  br i1 %no_number, label %lose, label %put
array:
  %axes = trunc i64 %piece_dimensions to i32
  %made_array = call ptr %record_new(ptr %record_ndarray, i32 %axes, ptr %piece_shape, i32 %form_number,
                                     ptr null, ptr %from, i32 0, i32 {WRITEABLE}, ptr null)
  %no_array = icmp eq ptr %made_array, null
  br i1 %no_array, label %lose, label %share
share:
  call void @Py_IncRef(ptr %whole)
  %unshared = call i32 %record_based(ptr %made_array, ptr %whole)
  %is_shared = icmp eq i32 %unshared, 0
  br i1 %is_shared, label %put, label %drop
drop:
  call void @Py_DecRef(ptr %made_array)
  br label %lose
put:
  %item = phi ptr [%made_number, %number], [%made_array, %share]
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %k, ptr %item)
  %k1 = add i64 %k, 1
  br label %each
lose:
  call void @Py_DecRef(ptr %whole)
  br label %fail
fail:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
all:
  call void @Py_DecRef(ptr %whole)
  call void @keep(ptr %form, ptr %tuple)
  br label %give
give:
  ret ptr %tuple
}}"""


_DICTIONARY = f"""
define internal ptr @dictionary(ptr %form, ptr %tuple) {{
entry:
{of_form("parts", "i64")}
{of_form("labels")}
  %made = call ptr @PyDict_New()
  %no_dictionary = icmp eq ptr %made, null
  br i1 %no_dictionary, label %give, label %each
each:
  %k = phi i64 [0, %entry], [%k1, %put]
  %more = icmp slt i64 %k, %form_parts
  br i1 %more, label %put, label %give
put:
  %name = call ptr @PyTuple_GetItem(ptr %form_labels, i64 %k)
  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %k)
  %status = call i32 @PyDict_SetItem(ptr %made, ptr %name, ptr %item)
  %k1 = add i64 %k, 1
  %failed = icmp slt i32 %status, 0
  br i1 %failed, label %lose, label %each
lose:
  call void @Py_DecRef(ptr %made)
  br label %give
give:
  %result = phi ptr [%made, %entry], [%made, %each], [null, %lose]
  call void @Py_DecRef(ptr %tuple)
  ret ptr %result
}}"""
"""A dictionary of what is in a tuple, in its place."""


def _one_result(offsets: Offsets) -> str:
    return f"""
define internal ptr @one_result(ptr %form, ptr %record, ptr %inputs) {{
entry:
  %memory = alloca [2 x i64], align 16
{of_form("one")}
{of_form("parts", "i64")}
{of_form("dimensions", "i64")}
{of_form("shape")}
{of_form("dtype")}
{of_form("number", "i32")}
{of_form("labels")}
{of_record("new")}
{of_record("scalar")}
{of_record("ndarray")}
  %is_named = icmp ne ptr %form_labels, null
  %spare = call ptr @spare(ptr %form, ptr %record, ptr %memory)
  %has_none = icmp eq ptr %spare, null
  br i1 %has_none, label %make, label %again
again:
  %old_data = load ptr, ptr %memory
  call void %form_one(ptr %inputs, ptr %old_data)
  br i1 %is_named, label %name, label %give
make:
  %is_one = icmp eq i64 %form_parts, 0
  br i1 %is_one, label %one_thing, label %several
several:
  %tuple = call ptr @tuple(ptr %form, ptr %record, ptr %inputs)
  %no_tuple = icmp eq ptr %tuple, null
  %is_done = select i1 %is_named, i1 %no_tuple, i1 true
  br i1 %is_done, label %give, label %name
name:
  %to_name = phi ptr [%spare, %again], [%tuple, %several]
  %dictionary = call ptr @dictionary(ptr %form, ptr %to_name)
  ret ptr %dictionary
give:
  %given = phi ptr [%spare, %again], [%tuple, %several]
  ret ptr %given
one_thing:
  %is_number = icmp eq i64 %form_dimensions, 0
  br i1 %is_number, label %number, label %array
number:
  call void %form_one(ptr %inputs, ptr %memory)
  %made_number = call ptr %record_scalar(ptr %memory, ptr %form_dtype, ptr null)
  ret ptr %made_number
array:
  %axes = trunc i64 %form_dimensions to i32
  %made_array = call ptr %record_new(ptr %record_ndarray, i32 %axes, ptr %form_shape, i32 %form_number,
                                     ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_memory = icmp eq ptr %made_array, null
  br i1 %no_memory, label %fail, label %fill
fill:
  %data_at = getelementptr i8, ptr %made_array, i64 {offsets.data}
  %data = load ptr, ptr %data_at
  call void %form_one(ptr %inputs, ptr %data)
  call void @keep(ptr %form, ptr %made_array)
  ret ptr %made_array
fail:
  ret ptr null
}}"""
