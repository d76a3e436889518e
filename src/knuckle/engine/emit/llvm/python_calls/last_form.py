"""The short way into native code, as LLVM text: a call of the form of the one before it."""

from __future__ import annotations

from .call_form import ARRAY, FLOAT, SLOT, SOUND, Offsets, of_form, of_record, of_slot


def last_form_text(offsets: Offsets) -> str:
    """The short way, for results of one state by the form of the last call: nothing ends the form before it has them.

    It compares what `takes` does, of arrays of one state and of the very same objects.
    """
    return f"""
try_last:
{of_record("last").replace("%record_last =", "%last =")}
  %is_new = icmp eq ptr %last, null
  %has_names = icmp ne ptr %names, null
  %is_long = or i1 %is_new, %has_names
  br i1 %is_long, label %count_names, label %compare_last
compare_last:
{_of_last("positional", "i64")}
{_of_last("named", "i64")}
{_of_last("slots")}
{_of_last("dtype")}
{of_record("ndarray").replace("%record_ndarray", "%array_type")}
  %last_is_nameless = icmp eq i64 %last_named, 0
  %last_count = icmp eq i64 %last_positional, %n
  %last_begins = and i1 %last_is_nameless, %last_count
  br i1 %last_begins, label %each_last, label %count_names
each_last:
  %last_k = phi i64 [0, %compare_last], [%last_k1, %next_last]
  %last_more = icmp slt i64 %last_k, %n
  br i1 %last_more, label %look_last, label %is_array
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
is_array:
{_of_last("guard")}
{_of_last("one")}
{_of_last("parts", "i64")}
{_of_last("dimensions", "i64")}
{_of_last("shape")}
{_of_last("number", "i32")}
  %has_guard = icmp ne ptr %last_guard, null
  %has_no_code = icmp eq ptr %last_one, null
  %has_parts = icmp ne i64 %last_parts, 0
  %has_no_axes = icmp eq i64 %last_dimensions, 0
  %bad1 = or i1 %has_guard, %has_no_axes
  %bad = or i1 %bad1, %has_no_code
  br i1 %bad, label %count_names, label %is_tuple_last
is_tuple_last:
  br i1 %has_parts, label %tuple_last, label %new_array
tuple_last:
{_of_last("owner")}
  call void @Py_IncRef(ptr %last_owner)
  %last_tuple = call ptr @tuple(ptr %last, ptr %record, ptr %inputs)
  call void @Py_DecRef(ptr %last_owner)
  ret ptr %last_tuple
new_array:
{of_record("new").replace("%record_new", "%record_new_last")}
  %last_axes = trunc i64 %last_dimensions to i32
  %last_array = call ptr %record_new_last(ptr %array_type, i32 %last_axes, ptr %last_shape, i32 %last_number,
                                          ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_last_array = icmp eq ptr %last_array, null
  br i1 %no_last_array, label %give_last, label %fill_last
fill_last:
  %last_out_at = getelementptr i8, ptr %last_array, i64 {offsets.data}
  %last_out = load ptr, ptr %last_out_at
  call void %last_one(ptr %inputs, ptr %last_out)
  br label %give_last
give_last:
  ret ptr %last_array"""


def _of_last(name: str, kind: str = "ptr") -> str:
    """The lines that load a word of the form of the last call."""
    return of_form(name, kind).replace("%form", "%last")
