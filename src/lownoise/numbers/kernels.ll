; SPDX-License-Identifier: Apache-2.0
;
; Noise of large tables in one pass where numpy takes many: what `normals`, `differences`, `nearest`
; and `centered` do, to the last bit. LLVM IR, which `machine.py` turns into machine code where
; llvmlite is installed. No operation has a fast-math flag, so that each is rounded as IEEE 754 says,
; by itself, in the order of this text, which is numpy's.

; Four columns of a table with twelve numbers a row, in four rows of it.
define internal { <4 x double>, <4 x double>, <4 x double>, <4 x double> } @columns(
    ptr %rows, <4 x i64> %at, i64 %first
) alwaysinline {
  %i0 = extractelement <4 x i64> %at, i32 0
  %i1 = extractelement <4 x i64> %at, i32 1
  %i2 = extractelement <4 x i64> %at, i32 2
  %i3 = extractelement <4 x i64> %at, i32 3
  %p0 = getelementptr [12 x double], ptr %rows, i64 %i0, i64 %first
  %p1 = getelementptr [12 x double], ptr %rows, i64 %i1, i64 %first
  %p2 = getelementptr [12 x double], ptr %rows, i64 %i2, i64 %first
  %p3 = getelementptr [12 x double], ptr %rows, i64 %i3, i64 %first
  %r0 = load <4 x double>, ptr %p0, align 8
  %r1 = load <4 x double>, ptr %p1, align 8
  %r2 = load <4 x double>, ptr %p2, align 8
  %r3 = load <4 x double>, ptr %p3, align 8
  %ac01 = shufflevector <4 x double> %r0, <4 x double> %r1, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %bd01 = shufflevector <4 x double> %r0, <4 x double> %r1, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %ac23 = shufflevector <4 x double> %r2, <4 x double> %r3, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %bd23 = shufflevector <4 x double> %r2, <4 x double> %r3, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %a = shufflevector <4 x double> %ac01, <4 x double> %ac23, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %b = shufflevector <4 x double> %bd01, <4 x double> %bd23, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %c = shufflevector <4 x double> %ac01, <4 x double> %ac23, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %d = shufflevector <4 x double> %bd01, <4 x double> %bd23, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %f0 = insertvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } poison, <4 x double> %a, 0
  %f1 = insertvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %f0, <4 x double> %b, 1
  %f2 = insertvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %f1, <4 x double> %c, 2
  %f3 = insertvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %f2, <4 x double> %d, 3
  ret { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %f3
}

; One number in all four places.
define internal <4 x double> @four(double %x) alwaysinline {
  %one = insertelement <4 x double> poison, double %x, i32 0
  %all = shufflevector <4 x double> %one, <4 x double> poison, <4 x i32> zeroinitializer
  ret <4 x double> %all
}

; z*t + c, rounded twice.
define internal <4 x double> @step(<4 x double> %z, <4 x double> %t, <4 x double> %c) alwaysinline {
  %product = fmul <4 x double> %z, %t
  %sum = fadd <4 x double> %product, %c
  ret <4 x double> %sum
}

; Standard normal numbers of n words, n a positive multiple of 4, and their bounds, to which `slope`
; times the number's size is added. A row of `rows` is one cell: the coefficients 8 to 0, the inverse
; of the radius, the bound, and the middle (an integer). Beyond the table: 0, and infinity.
define void @normals(ptr %words, i64 %n, ptr %rows, double %slope, ptr %z, ptr %bound) {
entry:
  %slopes = call <4 x double> @four(double %slope)
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr i64, ptr %words, i64 %k
  %word = load <4 x i64>, ptr %from, align 1
  ; 2*tail + 1; its 52 high bits as a float, exactly: 2^52 and these, less 2^52
  %twice = shl <4 x i64> %word, <i64 1, i64 1, i64 1, i64 1>
  %odd = or <4 x i64> %twice, <i64 1, i64 1, i64 1, i64 1>
  %high = lshr <4 x i64> %odd, <i64 12, i64 12, i64 12, i64 12>
  %raised = or <4 x i64> %high, <i64 4841369599423283200, i64 4841369599423283200,
      i64 4841369599423283200, i64 4841369599423283200>
  %shifted = bitcast <4 x i64> %raised to <4 x double>
  %float = fsub <4 x double> %shifted, <double 0x4330000000000000, double 0x4330000000000000,
      double 0x4330000000000000, double 0x4330000000000000>
  ; exponent and first five bits, from those of the first cell, (1023 + 32)*32, on
  %pattern = bitcast <4 x double> %float to <4 x i64>
  %own = lshr <4 x i64> %pattern, <i64 47, i64 47, i64 47, i64 47>
  %cell = sub <4 x i64> %own, <i64 33760, i64 33760, i64 33760, i64 33760>
  %beyond = icmp slt <4 x i64> %cell, zeroinitializer
  %at = select <4 x i1> %beyond, <4 x i64> zeroinitializer, <4 x i64> %cell
  %h = call { <4 x double>, <4 x double>, <4 x double>, <4 x double> } @columns(
      ptr %rows, <4 x i64> %at, i64 8)
  %c0 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %h, 0
  %inverse = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %h, 1
  %stated = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %h, 2
  %middle = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %h, 3
  ; the difference to the middle as a float, rounded once: of its halves of 32 bits each is exact
  %middles = bitcast <4 x double> %middle to <4 x i64>
  %diff = sub <4 x i64> %odd, %middles
  %low = and <4 x i64> %diff, <i64 4294967295, i64 4294967295, i64 4294967295, i64 4294967295>
  %low1 = or <4 x i64> %low, <i64 4841369599423283200, i64 4841369599423283200,
      i64 4841369599423283200, i64 4841369599423283200>
  %low2 = bitcast <4 x i64> %low1 to <4 x double>
  %up = lshr <4 x i64> %diff, <i64 32, i64 32, i64 32, i64 32>
  %up1 = xor <4 x i64> %up, <i64 4985484789646622720, i64 4985484789646622720,
      i64 4985484789646622720, i64 4985484789646622720> ; 0x4530000080000000
  %up2 = bitcast <4 x i64> %up1 to <4 x double>
  %up3 = fsub <4 x double> %up2, <double 0x4530000080100000, double 0x4530000080100000,
      double 0x4530000080100000, double 0x4530000080100000> ; 2^84 + 2^63 + 2^52
  %off = fadd <4 x double> %up3, %low2
  %t = fmul <4 x double> %off, %inverse
  %g = call { <4 x double>, <4 x double>, <4 x double>, <4 x double> } @columns(
      ptr %rows, <4 x i64> %at, i64 0)
  %c8 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %g, 0
  %c7 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %g, 1
  %c6 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %g, 2
  %c5 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %g, 3
  %e = call { <4 x double>, <4 x double>, <4 x double>, <4 x double> } @columns(
      ptr %rows, <4 x i64> %at, i64 4)
  %c4 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %e, 0
  %c3 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %e, 1
  %c2 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %e, 2
  %c1 = extractvalue { <4 x double>, <4 x double>, <4 x double>, <4 x double> } %e, 3
  %z7 = call <4 x double> @step(<4 x double> %c8, <4 x double> %t, <4 x double> %c7)
  %z6 = call <4 x double> @step(<4 x double> %z7, <4 x double> %t, <4 x double> %c6)
  %z5 = call <4 x double> @step(<4 x double> %z6, <4 x double> %t, <4 x double> %c5)
  %z4 = call <4 x double> @step(<4 x double> %z5, <4 x double> %t, <4 x double> %c4)
  %z3 = call <4 x double> @step(<4 x double> %z4, <4 x double> %t, <4 x double> %c3)
  %z2 = call <4 x double> @step(<4 x double> %z3, <4 x double> %t, <4 x double> %c2)
  %z1 = call <4 x double> @step(<4 x double> %z2, <4 x double> %t, <4 x double> %c1)
  %z0 = call <4 x double> @step(<4 x double> %z1, <4 x double> %t, <4 x double> %c0)
  %found = select <4 x i1> %beyond, <4 x double> zeroinitializer, <4 x double> %z0
  %known = select <4 x i1> %beyond, <4 x double> <double 0x7FF0000000000000,
      double 0x7FF0000000000000, double 0x7FF0000000000000, double 0x7FF0000000000000>,
      <4 x double> %stated
  %size = call <4 x double> @llvm.fabs.v4f64(<4 x double> %found)
  %more_off = fmul <4 x double> %size, %slopes
  %whole_off = fadd <4 x double> %known, %more_off
  %sign = and <4 x i64> %word, <i64 -9223372036854775808, i64 -9223372036854775808,
      i64 -9223372036854775808, i64 -9223372036854775808>
  %bits = bitcast <4 x double> %found to <4 x i64>
  %signed = xor <4 x i64> %bits, %sign
  %to = getelementptr i64, ptr %z, i64 %k
  store <4 x i64> %signed, ptr %to, align 1
  %bound_to = getelementptr double, ptr %bound, i64 %k
  store <4 x double> %whole_off, ptr %bound_to, align 1
  %next = add i64 %k, 4
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; x - y of n numbers x, n at least 1, of n numbers y in a row or (step 0) of one; floats or integers.
define internal void @minus(ptr %x, ptr %y, i64 %step, i64 %n, i1 %floats, ptr %to) {
entry:
  %fours = and i64 %n, -4
  %first = load double, ptr %y, align 8
  %same = call <4 x double> @four(double %first)
  %alone = icmp eq i64 %step, 0
  %any = icmp sgt i64 %fours, 0
  br i1 %any, label %loop, label %rest
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %put ]
  br i1 %alone, label %got, label %load
load:
  %at = getelementptr double, ptr %y, i64 %k
  %own = load <4 x double>, ptr %at, align 1
  br label %got
got:
  %b = phi <4 x double> [ %same, %loop ], [ %own, %load ]
  %from = getelementptr double, ptr %x, i64 %k
  %a = load <4 x double>, ptr %from, align 1
  br i1 %floats, label %float, label %whole
float:
  %float_off = fsub <4 x double> %a, %b
  br label %put
whole:
  %whole_a = bitcast <4 x double> %a to <4 x i64>
  %whole_b = bitcast <4 x double> %b to <4 x i64>
  %whole_off = sub <4 x i64> %whole_a, %whole_b
  %whole_bits = bitcast <4 x i64> %whole_off to <4 x double>
  br label %put
put:
  %off = phi <4 x double> [ %float_off, %float ], [ %whole_bits, %whole ]
  %here = getelementptr double, ptr %to, i64 %k
  store <4 x double> %off, ptr %here, align 1
  %next = add i64 %k, 4
  %more = icmp slt i64 %next, %fours
  br i1 %more, label %loop, label %rest
rest:
  %left = icmp slt i64 %fours, %n
  br i1 %left, label %single, label %done
single:
  %j = phi i64 [ %fours, %rest ], [ %j1, %single_put ]
  %single_from = getelementptr double, ptr %x, i64 %j
  %single_a = load double, ptr %single_from, align 8
  %place = mul i64 %j, %step
  %single_at = getelementptr double, ptr %y, i64 %place
  %single_b = load double, ptr %single_at, align 8
  %single_to = getelementptr double, ptr %to, i64 %j
  br i1 %floats, label %single_float, label %single_whole
single_float:
  %single_off = fsub double %single_a, %single_b
  store double %single_off, ptr %single_to, align 8
  br label %single_put
single_whole:
  %int_a = bitcast double %single_a to i64
  %int_b = bitcast double %single_b to i64
  %int_off = sub i64 %int_a, %int_b
  store i64 %int_off, ptr %single_to, align 8
  br label %single_put
single_put:
  %j1 = add i64 %j, 1
  %again = icmp slt i64 %j1, %n
  br i1 %again, label %single, label %done
done:
  ret void
}

; A table (outer, n, inner), each of its rows less the last one of n: (outer, n - 1, inner), of floats
; or (kind 0) of integers. All sizes are at least 1, and n is at least 2. What comes may be put where the table is: it never
; goes beyond what is read, and the last row of n is read before anything is put there.
define void @less_last(ptr %table, i64 %outer, i64 %n, i64 %inner, i64 %kind, ptr %to) {
entry:
  %floats = icmp ne i64 %kind, 0
  %kept = sub i64 %n, 1
  %whole = mul i64 %n, %inner
  %less = mul i64 %kept, %inner
  %flat = icmp eq i64 %inner, 1
  br label %part
part:
  %o = phi i64 [ 0, %entry ], [ %o1, %over ]
  %at = mul i64 %o, %whole
  %x = getelementptr double, ptr %table, i64 %at
  %y = getelementptr double, ptr %x, i64 %less
  %put = mul i64 %o, %less
  %out = getelementptr double, ptr %to, i64 %put
  br i1 %flat, label %one, label %row
one:
  call void @minus(ptr %x, ptr %y, i64 0, i64 %kept, i1 %floats, ptr %out)
  br label %over
row:
  %i = phi i64 [ 0, %part ], [ %i1, %row ]
  %begin = mul i64 %i, %inner
  %row_x = getelementptr double, ptr %x, i64 %begin
  %row_to = getelementptr double, ptr %out, i64 %begin
  call void @minus(ptr %row_x, ptr %y, i64 1, i64 %inner, i1 %floats, ptr %row_to)
  %i1 = add i64 %i, 1
  %again = icmp slt i64 %i1, %kept
  br i1 %again, label %row, label %over
over:
  %o1 = add i64 %o, 1
  %more = icmp slt i64 %o1, %outer
  br i1 %more, label %part, label %done
done:
  ret void
}

; The integers next to numbers x, until one of the next four is in doubt: |x - integer| + doubt is 1/2
; or more, or the integer not below 2^51. Returns how many were found; n is a positive multiple of 4.
; Below 2^51, 1.5*2^52 more than a number is rounded to a whole one, to even where that is a tie. They
; may be put where the numbers are.
define i64 @nearest(ptr %values, i64 %n, double %doubt, ptr %found) {
entry:
  %doubts = call <4 x double> @four(double %doubt)
  %halves = call <4 x double> @four(double 0.5)
  %far = call <4 x double> @four(double 0x4338000000000000) ; 1.5*2^52
  %largest = call <4 x double> @four(double 0x4320000000000000) ; 2^51
  %zero = bitcast <4 x double> %far to <4 x i64>
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %put ]
  %from = getelementptr double, ptr %values, i64 %k
  %value = load <4 x double>, ptr %from, align 1
  %moved = fadd <4 x double> %value, %far
  %whole = fsub <4 x double> %moved, %far
  %off = fsub <4 x double> %value, %whole
  %size = call <4 x double> @llvm.fabs.v4f64(<4 x double> %off)
  %most = fadd <4 x double> %size, %doubts
  %near = fcmp olt <4 x double> %most, %halves
  %height = call <4 x double> @llvm.fabs.v4f64(<4 x double> %whole)
  %small = fcmp olt <4 x double> %height, %largest
  %sure = and <4 x i1> %near, %small
  %all = call i1 @llvm.vector.reduce.and.v4i1(<4 x i1> %sure)
  br i1 %all, label %put, label %done
put:
  %bits = bitcast <4 x double> %moved to <4 x i64>
  %integer = sub <4 x i64> %bits, %zero
  %to = getelementptr i64, ptr %found, i64 %k
  store <4 x i64> %integer, ptr %to, align 1
  %next = add i64 %k, 4
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %count = phi i64 [ %k, %loop ], [ %next, %put ]
  ret i64 %count
}

; The sum of n numbers in a row, n at least 1 and at most 128, as numpy adds them up: eight sums side
; by side, added in pairs, and then the rest one by one; of fewer than eight one by one.
define internal double @pairwise(ptr %x, i64 %n) {
entry:
  %eights = and i64 %n, -8
  %many = icmp sgt i64 %eights, 0
  br i1 %many, label %start, label %rest
start:
  %begin = load <8 x double>, ptr %x, align 1
  br label %check
check:
  %k = phi i64 [ 8, %start ], [ %k1, %loop ]
  %sums = phi <8 x double> [ %begin, %start ], [ %sums1, %loop ]
  %more = icmp slt i64 %k, %eights
  br i1 %more, label %loop, label %join
loop:
  %from = getelementptr double, ptr %x, i64 %k
  %own = load <8 x double>, ptr %from, align 1
  %sums1 = fadd <8 x double> %sums, %own
  %k1 = add i64 %k, 8
  br label %check
join:
  %even = shufflevector <8 x double> %sums, <8 x double> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %uneven = shufflevector <8 x double> %sums, <8 x double> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %pairs = fadd <4 x double> %even, %uneven
  %p0 = extractelement <4 x double> %pairs, i32 0
  %p1 = extractelement <4 x double> %pairs, i32 1
  %p2 = extractelement <4 x double> %pairs, i32 2
  %p3 = extractelement <4 x double> %pairs, i32 3
  %q0 = fadd double %p0, %p1
  %q1 = fadd double %p2, %p3
  %q = fadd double %q0, %q1
  br label %rest
rest:
  %i = phi i64 [ 0, %entry ], [ %eights, %join ], [ %i1, %single ]
  %sum = phi double [ 0.0, %entry ], [ %q, %join ], [ %sum1, %single ]
  %left = icmp slt i64 %i, %n
  br i1 %left, label %single, label %done
single:
  %at = getelementptr double, ptr %x, i64 %i
  %one = load double, ptr %at, align 8
  %sum1 = fadd double %sum, %one
  %i1 = add i64 %i, 1
  br label %rest
done:
  ret double %sum
}

; x + last of n numbers x, n at least 1, and after them last.
define internal void @against(ptr %x, i64 %n, double %last, ptr %to) {
entry:
  %fours = and i64 %n, -4
  %lasts = call <4 x double> @four(double %last)
  br label %check
check:
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %more = icmp slt i64 %k, %fours
  br i1 %more, label %loop, label %rest
loop:
  %from = getelementptr double, ptr %x, i64 %k
  %own = load <4 x double>, ptr %from, align 1
  %whole = fadd <4 x double> %own, %lasts
  %here = getelementptr double, ptr %to, i64 %k
  store <4 x double> %whole, ptr %here, align 1
  %k1 = add i64 %k, 4
  br label %check
rest:
  %i = phi i64 [ %fours, %check ], [ %i1, %single ]
  %left = icmp slt i64 %i, %n
  br i1 %left, label %single, label %done
single:
  %at = getelementptr double, ptr %x, i64 %i
  %one = load double, ptr %at, align 8
  %one_whole = fadd double %one, %last
  %put = getelementptr double, ptr %to, i64 %i
  store double %one_whole, ptr %put, align 8
  %i1 = add i64 %i, 1
  br label %rest
done:
  %end = getelementptr double, ptr %to, i64 %n
  store double %last, ptr %end, align 8
  ret void
}

; The table (outer, n + 1, inner) with these differences to its last row, (outer, n, inner), and these
; sums of all rows, (outer, inner): the last row is what sums are above those of differences, over
; n + 1. All sizes are at least 1; where inner is 1, n is at most 128. The differences may be at the
; end of the room for the table:
; each number is put at least `inner` places before it, or where one was that is needed no more.
define void @centered(ptr %table, i64 %outer, i64 %n, i64 %inner, ptr %totals, ptr %to) {
entry:
  %rows = add i64 %n, 1
  %count = sitofp i64 %rows to double
  %counts0 = insertelement <8 x double> poison, double %count, i32 0
  %counts = shufflevector <8 x double> %counts0, <8 x double> poison, <8 x i32> zeroinitializer
  %size = mul i64 %n, %inner
  %more_size = mul i64 %rows, %inner
  %eights = and i64 %inner, -8
  %flat = icmp eq i64 %inner, 1
  br label %part
part:
  %o = phi i64 [ 0, %entry ], [ %o1, %over ]
  %at = mul i64 %o, %size
  %x = getelementptr double, ptr %table, i64 %at
  %put = mul i64 %o, %more_size
  %out = getelementptr double, ptr %to, i64 %put
  %total_at = mul i64 %o, %inner
  %total = getelementptr double, ptr %totals, i64 %total_at
  br i1 %flat, label %row, label %strip

row:
  %row_sum = call double @pairwise(ptr %x, i64 %n)
  %row_total = load double, ptr %total, align 8
  %row_left = fsub double %row_total, %row_sum
  %row_last = fdiv double %row_left, %count
  call void @against(ptr %x, i64 %n, double %row_last, ptr %out)
  br label %over

strip:
  %j = phi i64 [ 0, %part ], [ %j1, %strip_end ]
  %left = icmp slt i64 %j, %eights
  br i1 %left, label %strip_start, label %column
strip_start:
  %strip_x = getelementptr double, ptr %x, i64 %j
  %strip_to = getelementptr double, ptr %out, i64 %j
  %strip_first = load <8 x double>, ptr %strip_x, align 1
  br label %add_check
add_check:
  %i = phi i64 [ 1, %strip_start ], [ %i1, %add ]
  %sum = phi <8 x double> [ %strip_first, %strip_start ], [ %sum1, %add ]
  %add_more = icmp slt i64 %i, %n
  br i1 %add_more, label %add, label %added
add:
  %add_place = mul i64 %i, %inner
  %add_from = getelementptr double, ptr %strip_x, i64 %add_place
  %add_own = load <8 x double>, ptr %add_from, align 1
  %sum1 = fadd <8 x double> %sum, %add_own
  %i1 = add i64 %i, 1
  br label %add_check
added:
  %total_from = getelementptr double, ptr %total, i64 %j
  %own_total = load <8 x double>, ptr %total_from, align 1
  %left_over = fsub <8 x double> %own_total, %sum
  %last = fdiv <8 x double> %left_over, %counts
  br label %more_rows
more_rows:
  %r = phi i64 [ 0, %added ], [ %r1, %more_rows ]
  %row_place = mul i64 %r, %inner
  %row_from = getelementptr double, ptr %strip_x, i64 %row_place
  %row_own = load <8 x double>, ptr %row_from, align 1
  %row_whole = fadd <8 x double> %row_own, %last
  %row_to = getelementptr double, ptr %strip_to, i64 %row_place
  store <8 x double> %row_whole, ptr %row_to, align 1
  %r1 = add i64 %r, 1
  %rows_left = icmp slt i64 %r1, %n
  br i1 %rows_left, label %more_rows, label %strip_end
strip_end:
  %last_to = getelementptr double, ptr %strip_to, i64 %size
  store <8 x double> %last, ptr %last_to, align 1
  %j1 = add i64 %j, 8
  br label %strip

column:
  %c = phi i64 [ %j, %strip ], [ %c1, %column_end ]
  %column_left = icmp slt i64 %c, %inner
  br i1 %column_left, label %column_start, label %over
column_start:
  %column_x = getelementptr double, ptr %x, i64 %c
  %column_to = getelementptr double, ptr %out, i64 %c
  %column_first = load double, ptr %column_x, align 8
  br label %single_check
single_check:
  %s = phi i64 [ 1, %column_start ], [ %s1, %single ]
  %single_sum = phi double [ %column_first, %column_start ], [ %single_sum1, %single ]
  %single_more = icmp slt i64 %s, %n
  br i1 %single_more, label %single, label %single_added
single:
  %single_place = mul i64 %s, %inner
  %single_from = getelementptr double, ptr %column_x, i64 %single_place
  %single_own = load double, ptr %single_from, align 8
  %single_sum1 = fadd double %single_sum, %single_own
  %s1 = add i64 %s, 1
  br label %single_check
single_added:
  %single_total_from = getelementptr double, ptr %total, i64 %c
  %single_total = load double, ptr %single_total_from, align 8
  %single_left = fsub double %single_total, %single_sum
  %single_last = fdiv double %single_left, %count
  br label %one
one:
  %e = phi i64 [ 0, %single_added ], [ %e1, %one ]
  %one_place = mul i64 %e, %inner
  %one_from = getelementptr double, ptr %column_x, i64 %one_place
  %one_own = load double, ptr %one_from, align 8
  %one_whole = fadd double %one_own, %single_last
  %one_to = getelementptr double, ptr %column_to, i64 %one_place
  store double %one_whole, ptr %one_to, align 8
  %e1 = add i64 %e, 1
  %one_more = icmp slt i64 %e1, %n
  br i1 %one_more, label %one, label %column_end
column_end:
  %end_to = getelementptr double, ptr %column_to, i64 %size
  store double %single_last, ptr %end_to, align 8
  %c1 = add i64 %c, 1
  br label %column

over:
  %o1 = add i64 %o, 1
  %more = icmp slt i64 %o1, %outer
  br i1 %more, label %part, label %done
done:
  ret void
}

declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare i1 @llvm.vector.reduce.and.v4i1(<4 x i1>)
