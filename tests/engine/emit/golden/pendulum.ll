declare <2 x double> @llvm.sqrt.v2f64(<2 x double>)
declare <2 x double> @llvm.fabs.v2f64(<2 x double>)
declare <2 x double> @llvm.floor.v2f64(<2 x double>)
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
declare <2 x double> @llvm.fmuladd.v2f64(<2 x double>, <2 x double>, <2 x double>)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare double @atan2(double, double)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @sinh(double)
declare double @cosh(double)
define void @pendulum(i64 %start, i64 %end, ptr noalias %in0, i64 %stride0, ptr noalias %in1, i64 %stride1, ptr noalias %in2, i64 %stride2, ptr noalias %out) {
entry:
  %gathered = alloca [3 x <2 x double>], align 4096
  %results = alloca [16 x i8], align 64
  %last = sub i64 %end, 1
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %latch]
  %in0_x0 = add i64 %b, 1
  %in0_x1 = icmp sle i64 %in0_x0, %last
  %in0_x2 = icmp eq i64 %stride0, 1
  %in0_x3 = and i1 %in0_x1, %in0_x2
  br i1 %in0_x3, label %in0_close, label %in0_apart
in0_close:
  %in0_x4 = mul i64 %b, 1
  %in0_x5 = getelementptr double, ptr %in0, i64 %in0_x4
  %in0_x6 = getelementptr double, ptr %in0_x5, i64 0
  %in0_x7 = getelementptr double, ptr %in0_x5, i64 1
  br label %in0_near
in0_near:
  %in0_near_k = phi i64 [0, %in0_close], [%in0_near_k1, %in0_near]
  %in0_x8 = icmp slt i64 %in0_near_k, 0
  %in0_x9 = select i1 %in0_x8, i64 %in0_near_k, i64 0
  %in0_x10 = getelementptr double, ptr %in0_x6, i64 %in0_x9
  %in0_x11 = getelementptr double, ptr %in0_x7, i64 %in0_x9
  %in0_x12 = add i64 %in0_x9, 0
  %in0_x13 = getelementptr <2 x double>, ptr %gathered, i64 %in0_x12
  %in0_x14 = load <1 x double>, ptr %in0_x10, align 8
  %in0_x15 = load <1 x double>, ptr %in0_x11, align 8
  %in0_x16 = shufflevector <1 x double> %in0_x14, <1 x double> %in0_x15, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in0_x16, ptr %in0_x13
  %in0_near_k1 = add i64 %in0_near_k, 1
  %in0_x17 = icmp slt i64 %in0_near_k1, 1
  br i1 %in0_x17, label %in0_near, label %in0_done
in0_apart:
  %in0_x18 = add i64 %b, 0
  %in0_x19 = icmp slt i64 %in0_x18, %last
  %in0_x20 = select i1 %in0_x19, i64 %in0_x18, i64 %last
  %in0_x21 = mul i64 %in0_x20, %stride0
  %in0_x22 = getelementptr double, ptr %in0, i64 %in0_x21
  %in0_x23 = add i64 %b, 1
  %in0_x24 = icmp slt i64 %in0_x23, %last
  %in0_x25 = select i1 %in0_x24, i64 %in0_x23, i64 %last
  %in0_x26 = mul i64 %in0_x25, %stride0
  %in0_x27 = getelementptr double, ptr %in0, i64 %in0_x26
  br label %in0_tile
in0_tile:
  %in0_tile_k = phi i64 [0, %in0_apart], [%in0_tile_k1, %in0_tile]
  %in0_x28 = icmp slt i64 %in0_tile_k, 0
  %in0_x29 = select i1 %in0_x28, i64 %in0_tile_k, i64 0
  %in0_x30 = getelementptr double, ptr %in0_x22, i64 %in0_x29
  %in0_x31 = getelementptr double, ptr %in0_x27, i64 %in0_x29
  %in0_x32 = add i64 %in0_x29, 0
  %in0_x33 = getelementptr <2 x double>, ptr %gathered, i64 %in0_x32
  %in0_x34 = load <1 x double>, ptr %in0_x30, align 8
  %in0_x35 = load <1 x double>, ptr %in0_x31, align 8
  %in0_x36 = shufflevector <1 x double> %in0_x34, <1 x double> %in0_x35, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in0_x36, ptr %in0_x33
  %in0_tile_k1 = add i64 %in0_tile_k, 1
  %in0_x37 = icmp slt i64 %in0_tile_k1, 1
  br i1 %in0_x37, label %in0_tile, label %in0_done
in0_done:
  %in1_x0 = add i64 %b, 1
  %in1_x1 = icmp sle i64 %in1_x0, %last
  %in1_x2 = icmp eq i64 %stride1, 1
  %in1_x3 = and i1 %in1_x1, %in1_x2
  br i1 %in1_x3, label %in1_close, label %in1_apart
in1_close:
  %in1_x4 = mul i64 %b, 1
  %in1_x5 = getelementptr double, ptr %in1, i64 %in1_x4
  %in1_x6 = getelementptr double, ptr %in1_x5, i64 0
  %in1_x7 = getelementptr double, ptr %in1_x5, i64 1
  br label %in1_near
in1_near:
  %in1_near_k = phi i64 [0, %in1_close], [%in1_near_k1, %in1_near]
  %in1_x8 = icmp slt i64 %in1_near_k, 0
  %in1_x9 = select i1 %in1_x8, i64 %in1_near_k, i64 0
  %in1_x10 = getelementptr double, ptr %in1_x6, i64 %in1_x9
  %in1_x11 = getelementptr double, ptr %in1_x7, i64 %in1_x9
  %in1_x12 = add i64 %in1_x9, 1
  %in1_x13 = getelementptr <2 x double>, ptr %gathered, i64 %in1_x12
  %in1_x14 = load <1 x double>, ptr %in1_x10, align 8
  %in1_x15 = load <1 x double>, ptr %in1_x11, align 8
  %in1_x16 = shufflevector <1 x double> %in1_x14, <1 x double> %in1_x15, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in1_x16, ptr %in1_x13
  %in1_near_k1 = add i64 %in1_near_k, 1
  %in1_x17 = icmp slt i64 %in1_near_k1, 1
  br i1 %in1_x17, label %in1_near, label %in1_done
in1_apart:
  %in1_x18 = add i64 %b, 0
  %in1_x19 = icmp slt i64 %in1_x18, %last
  %in1_x20 = select i1 %in1_x19, i64 %in1_x18, i64 %last
  %in1_x21 = mul i64 %in1_x20, %stride1
  %in1_x22 = getelementptr double, ptr %in1, i64 %in1_x21
  %in1_x23 = add i64 %b, 1
  %in1_x24 = icmp slt i64 %in1_x23, %last
  %in1_x25 = select i1 %in1_x24, i64 %in1_x23, i64 %last
  %in1_x26 = mul i64 %in1_x25, %stride1
  %in1_x27 = getelementptr double, ptr %in1, i64 %in1_x26
  br label %in1_tile
in1_tile:
  %in1_tile_k = phi i64 [0, %in1_apart], [%in1_tile_k1, %in1_tile]
  %in1_x28 = icmp slt i64 %in1_tile_k, 0
  %in1_x29 = select i1 %in1_x28, i64 %in1_tile_k, i64 0
  %in1_x30 = getelementptr double, ptr %in1_x22, i64 %in1_x29
  %in1_x31 = getelementptr double, ptr %in1_x27, i64 %in1_x29
  %in1_x32 = add i64 %in1_x29, 1
  %in1_x33 = getelementptr <2 x double>, ptr %gathered, i64 %in1_x32
  %in1_x34 = load <1 x double>, ptr %in1_x30, align 8
  %in1_x35 = load <1 x double>, ptr %in1_x31, align 8
  %in1_x36 = shufflevector <1 x double> %in1_x34, <1 x double> %in1_x35, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in1_x36, ptr %in1_x33
  %in1_tile_k1 = add i64 %in1_tile_k, 1
  %in1_x37 = icmp slt i64 %in1_tile_k1, 1
  br i1 %in1_x37, label %in1_tile, label %in1_done
in1_done:
  %in2_x0 = add i64 %b, 1
  %in2_x1 = icmp sle i64 %in2_x0, %last
  %in2_x2 = icmp eq i64 %stride2, 1
  %in2_x3 = and i1 %in2_x1, %in2_x2
  br i1 %in2_x3, label %in2_close, label %in2_apart
in2_close:
  %in2_x4 = mul i64 %b, 1
  %in2_x5 = getelementptr double, ptr %in2, i64 %in2_x4
  %in2_x6 = getelementptr double, ptr %in2_x5, i64 0
  %in2_x7 = getelementptr double, ptr %in2_x5, i64 1
  br label %in2_near
in2_near:
  %in2_near_k = phi i64 [0, %in2_close], [%in2_near_k1, %in2_near]
  %in2_x8 = icmp slt i64 %in2_near_k, 0
  %in2_x9 = select i1 %in2_x8, i64 %in2_near_k, i64 0
  %in2_x10 = getelementptr double, ptr %in2_x6, i64 %in2_x9
  %in2_x11 = getelementptr double, ptr %in2_x7, i64 %in2_x9
  %in2_x12 = add i64 %in2_x9, 2
  %in2_x13 = getelementptr <2 x double>, ptr %gathered, i64 %in2_x12
  %in2_x14 = load <1 x double>, ptr %in2_x10, align 8
  %in2_x15 = load <1 x double>, ptr %in2_x11, align 8
  %in2_x16 = shufflevector <1 x double> %in2_x14, <1 x double> %in2_x15, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in2_x16, ptr %in2_x13
  %in2_near_k1 = add i64 %in2_near_k, 1
  %in2_x17 = icmp slt i64 %in2_near_k1, 1
  br i1 %in2_x17, label %in2_near, label %in2_done
in2_apart:
  %in2_x18 = add i64 %b, 0
  %in2_x19 = icmp slt i64 %in2_x18, %last
  %in2_x20 = select i1 %in2_x19, i64 %in2_x18, i64 %last
  %in2_x21 = mul i64 %in2_x20, %stride2
  %in2_x22 = getelementptr double, ptr %in2, i64 %in2_x21
  %in2_x23 = add i64 %b, 1
  %in2_x24 = icmp slt i64 %in2_x23, %last
  %in2_x25 = select i1 %in2_x24, i64 %in2_x23, i64 %last
  %in2_x26 = mul i64 %in2_x25, %stride2
  %in2_x27 = getelementptr double, ptr %in2, i64 %in2_x26
  br label %in2_tile
in2_tile:
  %in2_tile_k = phi i64 [0, %in2_apart], [%in2_tile_k1, %in2_tile]
  %in2_x28 = icmp slt i64 %in2_tile_k, 0
  %in2_x29 = select i1 %in2_x28, i64 %in2_tile_k, i64 0
  %in2_x30 = getelementptr double, ptr %in2_x22, i64 %in2_x29
  %in2_x31 = getelementptr double, ptr %in2_x27, i64 %in2_x29
  %in2_x32 = add i64 %in2_x29, 2
  %in2_x33 = getelementptr <2 x double>, ptr %gathered, i64 %in2_x32
  %in2_x34 = load <1 x double>, ptr %in2_x30, align 8
  %in2_x35 = load <1 x double>, ptr %in2_x31, align 8
  %in2_x36 = shufflevector <1 x double> %in2_x34, <1 x double> %in2_x35, <2 x i32> <i32 0, i32 1>
  store <2 x double> %in2_x36, ptr %in2_x33
  %in2_tile_k1 = add i64 %in2_tile_k, 1
  %in2_x37 = icmp slt i64 %in2_tile_k1, 1
  br i1 %in2_x37, label %in2_tile, label %in2_done
in2_done:
  br label %main
main:
  %x1 = getelementptr <2 x double>, ptr %gathered, i64 0
  %x2 = load <2 x double>, ptr %x1
  %x3 = getelementptr <2 x double>, ptr %gathered, i64 1
  %x4 = load <2 x double>, ptr %x3
  %x5 = getelementptr <2 x double>, ptr %gathered, i64 2
  %x6 = load <2 x double>, ptr %x5
  %x7 = fmul <2 x double> <double 0x3FC0000000000000, double 0x3FC0000000000000>, %x4
  %x8 = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> <double 0x3FE0000000000000, double 0x3FE0000000000000>, <2 x double> %x6, <2 x double> %x7)
  %x9 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x2, <2 x double> <double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883>, <2 x double> <double 0x4338000000000000, double 0x4338000000000000>)
  %x10 = fsub <2 x double> %x9, <double 0x4338000000000000, double 0x4338000000000000>
  %x11 = bitcast <2 x double> %x9 to <2 x i64>
  %x12 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x10, <2 x double> <double 0xBFF921FB54442D18, double 0xBFF921FB54442D18>, <2 x double> %x2)
  %x13 = fmul <2 x double> %x10, <double 0x3C91A62633145C07, double 0x3C91A62633145C07>
  %x14 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x10, <2 x double> <double 0xBC91A62633145C07, double 0xBC91A62633145C07>, <2 x double> %x13)
  %x15 = call <2 x double> @llvm.fabs.v2f64(<2 x double> %x2)
  %x16 = fcmp ole <2 x double> %x15, <double 0x4300000000000000, double 0x4300000000000000>
  %x17 = fsub <2 x double> %x12, %x13
  %x18 = select <2 x i1> %x16, <2 x double> %x17, <2 x double> <double 0x7FF8000000000000, double 0x7FF8000000000000>
  %x19 = fsub <2 x double> %x12, %x18
  %x20 = fsub <2 x double> %x19, %x13
  %x21 = fadd <2 x double> %x20, %x14
  %x22 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x10, <2 x double> <double 0x391F1976B7ED8FBC, double 0x391F1976B7ED8FBC>, <2 x double> %x21)
  %x23 = fmul <2 x double> %x18, %x18
  %x24 = fmul <2 x double> %x18, %x23
  %x25 = call <2 x double> @llvm.fma.v2f64(<2 x double> <double 0x3DE5D8FBA8F5B715, double 0x3DE5D8FBA8F5B715>, <2 x double> %x23, <2 x double> <double 0xBE5AE5E5A441A836, double 0xBE5AE5E5A441A836>)
  %x26 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x25, <2 x double> %x23, <2 x double> <double 0x3EC71DE3567737F6, double 0x3EC71DE3567737F6>)
  %x27 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x26, <2 x double> %x23, <2 x double> <double 0xBF2A01A019BFD843, double 0xBF2A01A019BFD843>)
  %x28 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x27, <2 x double> %x23, <2 x double> <double 0x3F8111111110F7CD, double 0x3F8111111110F7CD>)
  %x29 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x28, <2 x double> %x23, <2 x double> <double 0xBFC5555555555548, double 0xBFC5555555555548>)
  %x30 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x24, <2 x double> %x29, <2 x double> %x22)
  %x31 = fadd <2 x double> %x18, %x30
  %x32 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x23, <2 x double> <double 0xBFE0000000000000, double 0xBFE0000000000000>, <2 x double> <double 0x3FF0000000000000, double 0x3FF0000000000000>)
  %x33 = fsub <2 x double> <double 0x3FF0000000000000, double 0x3FF0000000000000>, %x32
  %x34 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x23, <2 x double> <double 0xBFE0000000000000, double 0xBFE0000000000000>, <2 x double> %x33)
  %x35 = fmul <2 x double> %x23, %x23
  %x36 = call <2 x double> @llvm.fma.v2f64(<2 x double> <double 0xBDA8FA47FF22D234, double 0xBDA8FA47FF22D234>, <2 x double> %x23, <2 x double> <double 0x3E21EE9D783A87B1, double 0x3E21EE9D783A87B1>)
  %x37 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x36, <2 x double> %x23, <2 x double> <double 0xBE927E4F7EA7E0D9, double 0xBE927E4F7EA7E0D9>)
  %x38 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x37, <2 x double> %x23, <2 x double> <double 0x3EFA01A019C83F00, double 0x3EFA01A019C83F00>)
  %x39 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x38, <2 x double> %x23, <2 x double> <double 0xBF56C16C16C14F8E, double 0xBF56C16C16C14F8E>)
  %x40 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x39, <2 x double> %x23, <2 x double> <double 0x3FA555555555554B, double 0x3FA555555555554B>)
  %x41 = fneg <2 x double> %x22
  %x42 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x18, <2 x double> %x41, <2 x double> %x34)
  %x43 = call <2 x double> @llvm.fma.v2f64(<2 x double> %x35, <2 x double> %x40, <2 x double> %x42)
  %x44 = fadd <2 x double> %x32, %x43
  %x45 = and <2 x i64> %x11, <i64 1, i64 1>
  %x46 = icmp ne <2 x i64> %x45, <i64 0, i64 0>
  %x47 = select <2 x i1> %x46, <2 x double> %x44, <2 x double> %x31
  %x48 = select <2 x i1> %x46, <2 x double> %x31, <2 x double> %x44
  %x49 = add <2 x i64> %x11, <i64 1, i64 1>
  %x50 = and <2 x i64> %x11, <i64 2, i64 2>
  %x51 = icmp ne <2 x i64> %x50, <i64 0, i64 0>
  %x52 = fneg <2 x double> %x47
  %x53 = select <2 x i1> %x51, <2 x double> %x52, <2 x double> %x47
  %x54 = and <2 x i64> %x49, <i64 2, i64 2>
  %x55 = icmp ne <2 x i64> %x54, <i64 0, i64 0>
  %x56 = fneg <2 x double> %x48
  %x57 = select <2 x i1> %x55, <2 x double> %x56, <2 x double> %x48
  %x58 = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> <double 0x4023800000000000, double 0x4023800000000000>, <2 x double> %x53, <2 x double> %x8)
  %x59 = getelementptr <2 x double>, ptr %results, i64 0
  store <2 x double> %x58, ptr %x59
  br label %computed
computed:
  %out_x0 = add i64 %b, 1
  %out_x1 = icmp sle i64 %out_x0, %last
  br i1 %out_x1, label %out_close, label %out_apart
out_close:
  %out_x2 = mul i64 %b, 1
  %out_x3 = getelementptr double, ptr %out, i64 %out_x2
  %out_x4 = getelementptr double, ptr %out_x3, i64 0
  %out_x5 = getelementptr double, ptr %out_x3, i64 1
  br label %out_near
out_near:
  %out_near_k = phi i64 [0, %out_close], [%out_near_k1, %out_near]
  %out_x6 = icmp slt i64 %out_near_k, 0
  %out_x7 = select i1 %out_x6, i64 %out_near_k, i64 0
  %out_x8 = getelementptr double, ptr %out_x4, i64 %out_x7
  %out_x9 = getelementptr double, ptr %out_x5, i64 %out_x7
  %out_x10 = add i64 %out_x7, 0
  %out_x11 = getelementptr <2 x double>, ptr %results, i64 %out_x10
  %out_x12 = load <2 x double>, ptr %out_x11
  %out_x13 = shufflevector <2 x double> %out_x12, <2 x double> undef, <1 x i32> <i32 0>
  store <1 x double> %out_x13, ptr %out_x8, align 8
  %out_x14 = shufflevector <2 x double> %out_x12, <2 x double> undef, <1 x i32> <i32 1>
  store <1 x double> %out_x14, ptr %out_x9, align 8
  %out_near_k1 = add i64 %out_near_k, 1
  %out_x15 = icmp slt i64 %out_near_k1, 1
  br i1 %out_x15, label %out_near, label %out_done
out_apart:
  %out_x16 = add i64 %b, 0
  %out_x17 = icmp slt i64 %out_x16, %last
  %out_x18 = select i1 %out_x17, i64 %out_x16, i64 %last
  %out_x19 = mul i64 %out_x18, 1
  %out_x20 = getelementptr double, ptr %out, i64 %out_x19
  %out_x21 = add i64 %b, 1
  %out_x22 = icmp slt i64 %out_x21, %last
  %out_x23 = select i1 %out_x22, i64 %out_x21, i64 %last
  %out_x24 = mul i64 %out_x23, 1
  %out_x25 = getelementptr double, ptr %out, i64 %out_x24
  br label %out_tile
out_tile:
  %out_tile_k = phi i64 [0, %out_apart], [%out_tile_k1, %out_tile]
  %out_x26 = icmp slt i64 %out_tile_k, 0
  %out_x27 = select i1 %out_x26, i64 %out_tile_k, i64 0
  %out_x28 = getelementptr double, ptr %out_x20, i64 %out_x27
  %out_x29 = getelementptr double, ptr %out_x25, i64 %out_x27
  %out_x30 = add i64 %out_x27, 0
  %out_x31 = getelementptr <2 x double>, ptr %results, i64 %out_x30
  %out_x32 = load <2 x double>, ptr %out_x31
  %out_x33 = shufflevector <2 x double> %out_x32, <2 x double> undef, <1 x i32> <i32 0>
  store <1 x double> %out_x33, ptr %out_x28, align 8
  %out_x34 = shufflevector <2 x double> %out_x32, <2 x double> undef, <1 x i32> <i32 1>
  store <1 x double> %out_x34, ptr %out_x29, align 8
  %out_tile_k1 = add i64 %out_tile_k, 1
  %out_x35 = icmp slt i64 %out_tile_k1, 1
  br i1 %out_x35, label %out_tile, label %out_done
out_done:
  br label %latch
latch:
  %next = add i64 %b, 2
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:
  ret void
}
