"""The short way into native code, as LLVM text: a call of the form of the one before it."""

from __future__ import annotations

from .call_form import ARRAY, FLOAT, SLOT, SOUND, Offsets, of_form, of_record, of_slot


def last_form_text(offsets: Offsets) -> str:
    """The short way, for results of one state by the form of the last call: nothing ends the form before it has them.

    It compares what `takes` does, of arrays of one state and of the very same objects and names.
    """
    return f"""
try_last:
{of_record("last").replace("%record_last =", "%last =")}
  %is_new = icmp eq ptr %last, null
  %is_nameless = icmp eq ptr %names, null
  br i1 %is_new, label %count_names, label %compare_last
compare_last:
{_of_last("positional", "i64")}
{_of_last("named", "i64")}
{_of_last("names")}
{_of_last("slots")}
{_of_last("dtype")}
{of_record("ndarray").replace("%record_ndarray", "%array_type")}
  %last_count = add i64 %last_positional, %last_named
  %last_same_count = icmp eq i64 %last_positional, %n
  br i1 %last_same_count, label %names_of_last, label %count_names
names_of_last:
  br i1 %is_nameless, label %nameless_last, label %named_last
nameless_last:
  %last_is_nameless = icmp eq i64 %last_named, 0
  br i1 %last_is_nameless, label %each_last, label %count_names
named_last:
  %last_names_size = call i64 @PyTuple_Size(ptr %names)
  %last_same_names = icmp eq i64 %last_names_size, %last_named
  br i1 %last_same_names, label %each_last_name, label %count_names
each_last_name:
  %last_j = phi i64 [0, %named_last], [%last_j1, %look_last_name]
  %last_more_names = icmp slt i64 %last_j, %last_named
  br i1 %last_more_names, label %look_last_name, label %each_last
look_last_name:
  %last_name = call ptr @PyTuple_GetItem(ptr %names, i64 %last_j)
  %last_name_at = getelementptr ptr, ptr %last_names, i64 %last_j
  %last_expected_name = load ptr, ptr %last_name_at
  %last_same_name = icmp eq ptr %last_name, %last_expected_name
  %last_j1 = add i64 %last_j, 1
  br i1 %last_same_name, label %each_last_name, label %count_names
each_last:
  %last_k = phi i64 [0, %nameless_last], [0, %each_last_name], [%last_k1, %next_last]
  %last_more = icmp slt i64 %last_k, %last_count
  br i1 %last_more, label %look_last, label %is_right
look_last:
  %last_arg_at = getelementptr ptr, ptr %args, i64 %last_k
  %last_arg = load ptr, ptr %last_arg_at
  %last_slot_index = mul i64 %last_k, {len(SLOT)}
  %slot = getelementptr i64, ptr %last_slots, i64 %last_slot_index
{of_slot("kind")}
{of_slot("value")}
  %last_takes_array = icmp eq i64 %slot_kind, {ARRAY}
  br i1 %last_takes_array, label %type_last, label %object_last
object_last:
  %last_value = inttoptr i64 %slot_value to ptr
  %last_is_it = icmp eq ptr %last_arg, %last_value
  %last_takes_object = icmp ne i64 %slot_kind, {FLOAT}
  %last_same = and i1 %last_is_it, %last_takes_object
  br i1 %last_same, label %next_last, label %count_names
type_last:
  %last_type_at = getelementptr i8, ptr %last_arg, i64 {offsets.type}
  %last_type = load ptr, ptr %last_type_at
  %last_is_array = icmp eq ptr %last_type, %array_type
  br i1 %last_is_array, label %elements_last, label %count_names
elements_last:
{of_slot("axes")}
{of_slot("first")}
{of_slot("last")}
  %last_dtype_place = getelementptr i8, ptr %last_arg, i64 {offsets.dtype}
  %last_arg_dtype = load ptr, ptr %last_dtype_place
  %last_flags_at = getelementptr i8, ptr %last_arg, i64 {offsets.flags}
  %last_flags = load i32, ptr %last_flags_at
  %last_arg_axes_at = getelementptr i8, ptr %last_arg, i64 {offsets.axes}
  %last_arg_axes_narrow = load i32, ptr %last_arg_axes_at
  %last_arg_axes = sext i32 %last_arg_axes_narrow to i64
  %last_same_dtype = icmp eq ptr %last_arg_dtype, %last_dtype
  %last_masked = and i32 %last_flags, {SOUND}
  %last_sound = icmp eq i32 %last_masked, {SOUND}
  %last_same_axes = icmp eq i64 %last_arg_axes, %slot_axes
  %last_suits = and i1 %last_same_dtype, %last_sound
  %last_fits = and i1 %last_suits, %last_same_axes
  br i1 %last_fits, label %measure_last, label %count_names
measure_last:
  %last_lengths_at = getelementptr i8, ptr %last_arg, i64 {offsets.lengths}
  %last_lengths = load ptr, ptr %last_lengths_at
  %last_first = load i64, ptr %last_lengths
  %last_end_place = sub i64 %last_arg_axes, 1
  %last_end_at = getelementptr i64, ptr %last_lengths, i64 %last_end_place
  %last_end = load i64, ptr %last_end_at
  %last_same_first = icmp eq i64 %last_first, %slot_first
  %last_same_end = icmp eq i64 %last_end, %slot_last
  %last_same_lengths = and i1 %last_same_first, %last_same_end
  br i1 %last_same_lengths, label %take_last, label %count_names
take_last:
  %last_data_at = getelementptr i8, ptr %last_arg, i64 {offsets.data}
  %last_data = load ptr, ptr %last_data_at
  %last_input_at = getelementptr ptr, ptr %inputs, i64 %slot_value
  store ptr %last_data, ptr %last_input_at
  br label %next_last
next_last:
  %last_k1 = add i64 %last_k, 1
  br label %each_last
is_right:
{_of_last("guard")}
{_of_last("one")}
{_of_last("owner")}
  %has_guard = icmp ne ptr %last_guard, null
  %has_no_code = icmp eq ptr %last_one, null
  %bad = or i1 %has_guard, %has_no_code
  br i1 %bad, label %count_names, label %give_last
give_last:
  call void @Py_IncRef(ptr %last_owner)
  %last_result = call ptr @one_result(ptr %last, ptr %record, ptr %inputs)
  call void @Py_DecRef(ptr %last_owner)
  ret ptr %last_result"""


def _of_last(name: str, kind: str = "ptr") -> str:
    """The lines that load a word of the form of the last call."""
    return of_form(name, kind).replace("%form", "%last")
