; SPDX-License-Identifier: Apache-2.0
;
; Codes of a column of floats, made and added up in one pass: what `ColumnCode` does with numpy.
; LLVM IR, which `compiled.py` turns into machine code where llvmlite is installed. No operation has
; a fast-math flag, so that each is rounded as IEEE 754 says, by itself, in the order of this text.
; Sums are kept by high and low bits (2^26): every operation on them is exact, so their order is free.

; The codes of eight values, by high bits, low bits, and whether each value is missing:
; floor((clip(x, lower, upper) - center) * inverse + 1/2), or `lacking` where x is NaN.
; A code is whole and of at most 2^52, so high bits are of at most 2^26, and low ones in [0, 2^26).
define internal { <8 x double>, <8 x double>, <8 x i1> } @code(
    <8 x double> %x, double %lower, double %upper, double %center, double %inverse, double %lacking
) alwaysinline {
  %l0 = insertelement <8 x double> poison, double %lower, i32 0
  %l = shufflevector <8 x double> %l0, <8 x double> poison, <8 x i32> zeroinitializer
  %u0 = insertelement <8 x double> poison, double %upper, i32 0
  %u = shufflevector <8 x double> %u0, <8 x double> poison, <8 x i32> zeroinitializer
  %c0 = insertelement <8 x double> poison, double %center, i32 0
  %c = shufflevector <8 x double> %c0, <8 x double> poison, <8 x i32> zeroinitializer
  %i0 = insertelement <8 x double> poison, double %inverse, i32 0
  %i = shufflevector <8 x double> %i0, <8 x double> poison, <8 x i32> zeroinitializer
  %m0 = insertelement <8 x double> poison, double %lacking, i32 0
  %m = shufflevector <8 x double> %m0, <8 x double> poison, <8 x i32> zeroinitializer
  %h0 = insertelement <8 x double> poison, double 0.5, i32 0
  %h = shufflevector <8 x double> %h0, <8 x double> poison, <8 x i32> zeroinitializer
  %d0 = insertelement <8 x double> poison, double 0x3E50000000000000, i32 0 ; 2^-26
  %d = shufflevector <8 x double> %d0, <8 x double> poison, <8 x i32> zeroinitializer
  %e0 = insertelement <8 x double> poison, double 0x4190000000000000, i32 0 ; 2^26
  %e = shufflevector <8 x double> %e0, <8 x double> poison, <8 x i32> zeroinitializer

  %lacks = fcmp uno <8 x double> %x, %x
  %below = fcmp olt <8 x double> %x, %l
  %raised = select <8 x i1> %below, <8 x double> %l, <8 x double> %x
  %above = fcmp ogt <8 x double> %raised, %u
  %clipped = select <8 x i1> %above, <8 x double> %u, <8 x double> %raised
  %off = fsub <8 x double> %clipped, %c
  %scaled = fmul <8 x double> %off, %i
  %shifted = fadd <8 x double> %scaled, %h
  %floored = call <8 x double> @llvm.floor.v8f64(<8 x double> %shifted)
  %code = select <8 x i1> %lacks, <8 x double> %m, <8 x double> %floored

  %part = fmul <8 x double> %code, %d
  %high = call <8 x double> @llvm.floor.v8f64(<8 x double> %part)
  %back = fmul <8 x double> %high, %e
  %low = fsub <8 x double> %code, %back
  %r0 = insertvalue { <8 x double>, <8 x double>, <8 x i1> } poison, <8 x double> %high, 0
  %r1 = insertvalue { <8 x double>, <8 x double>, <8 x i1> } %r0, <8 x double> %low, 1
  %r2 = insertvalue { <8 x double>, <8 x double>, <8 x i1> } %r1, <8 x i1> %lacks, 2
  ret { <8 x double>, <8 x double>, <8 x i1> } %r2
}

; The codes of n values added up, n a positive multiple of 8 and at most 2^27: their high bits, their
; low bits, and how many values are missing, to the three integers at `found`.
define void @sums(
    ptr %values, i64 %n, double %lower, double %upper, double %center, double %inverse,
    double %lacking, ptr %found
) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %highs = phi <8 x double> [ zeroinitializer, %entry ], [ %highs1, %loop ]
  %lows = phi <8 x double> [ zeroinitializer, %entry ], [ %lows1, %loop ]
  %lack = phi <8 x i64> [ zeroinitializer, %entry ], [ %lack1, %loop ]
  %at = getelementptr double, ptr %values, i64 %k
  %x = load <8 x double>, ptr %at, align 1
  %r = call { <8 x double>, <8 x double>, <8 x i1> } @code(
      <8 x double> %x, double %lower, double %upper, double %center, double %inverse,
      double %lacking)
  %high = extractvalue { <8 x double>, <8 x double>, <8 x i1> } %r, 0
  %low = extractvalue { <8 x double>, <8 x double>, <8 x i1> } %r, 1
  %lacks = extractvalue { <8 x double>, <8 x double>, <8 x i1> } %r, 2
  %highs1 = fadd <8 x double> %highs, %high
  %lows1 = fadd <8 x double> %lows, %low
  %one = zext <8 x i1> %lacks to <8 x i64>
  %lack1 = add <8 x i64> %lack, %one
  %next = add i64 %k, 8
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %whole_highs = fptosi <8 x double> %highs1 to <8 x i64>
  %whole_lows = fptosi <8 x double> %lows1 to <8 x i64>
  %h = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %whole_highs)
  %l = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %whole_lows)
  %m = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %lack1)
  %second = getelementptr i64, ptr %found, i64 1
  %third = getelementptr i64, ptr %found, i64 2
  store i64 %h, ptr %found
  store i64 %l, ptr %second
  store i64 %m, ptr %third
  ret void
}

; The codes of n values added to the sums at their places, n a positive multiple of 8: high and low
; bits, two integers a place. Places are 64-bit integers, and whoever calls answers for them.
define void @places(
    ptr %values, i64 %n, double %lower, double %upper, double %center, double %inverse,
    double %lacking, ptr %places, ptr %found
) {
entry:
  %pairs = alloca [16 x i64], align 64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %added ]
  %at = getelementptr double, ptr %values, i64 %k
  %x = load <8 x double>, ptr %at, align 1
  %r = call { <8 x double>, <8 x double>, <8 x i1> } @code(
      <8 x double> %x, double %lower, double %upper, double %center, double %inverse,
      double %lacking)
  %high = extractvalue { <8 x double>, <8 x double>, <8 x i1> } %r, 0
  %low = extractvalue { <8 x double>, <8 x double>, <8 x i1> } %r, 1
  %high_ints = fptosi <8 x double> %high to <8 x i32>
  %low_ints = fptosi <8 x double> %low to <8 x i32>
  %both = shufflevector <8 x i32> %high_ints, <8 x i32> %low_ints, <16 x i32> <i32 0, i32 8, i32 1,
      i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %wide = sext <16 x i32> %both to <16 x i64>
  store <16 x i64> %wide, ptr %pairs, align 64
  br label %row
row:
  %j = phi i64 [ 0, %loop ], [ %j1, %row ]
  %own = shl i64 %j, 1
  %from = getelementptr i64, ptr %pairs, i64 %own
  %pair = load <2 x i64>, ptr %from, align 16
  %here = add i64 %k, %j
  %slot = getelementptr i64, ptr %places, i64 %here
  %place = load i64, ptr %slot, align 1
  %twice = shl i64 %place, 1
  %to = getelementptr i64, ptr %found, i64 %twice
  %before = load <2 x i64>, ptr %to, align 1
  %after = add <2 x i64> %before, %pair
  store <2 x i64> %after, ptr %to, align 1
  %j1 = add i64 %j, 1
  %again = icmp slt i64 %j1, 8
  br i1 %again, label %row, label %added
added:
  %next = add i64 %k, 8
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

declare <8 x double> @llvm.floor.v8f64(<8 x double>)
declare i64 @llvm.vector.reduce.add.v8i64(<8 x i64>)
