; Loops in which something has to be told apart, as Clang 19 with
; -O0 -Xclang -disable-O0-optnone -gline-tables-only -S -emit-llvm, and then opt -S -passes=mem2reg,sroa write them.
; Its source:
;   struct point { float mass; double at[3]; };
;   extern struct point points[1000];
;   double *data; int count, width;
;   extern double f(double);
;   void scale(double by) { for (int i = 0; i < count; ++i) data[i] = data[i] * by / 3.0; }
;   float masses(void) { float sum = 0; for (int i = 0; i < 1000; ++i) sum += points[i].mass; return sum; }
;   double middles(void) { double sum = 0; for (int i = 0; i < 1000; ++i) sum += points[i].at[1] * points[i].at[1] - points[i].at[2]; return sum; }
;   void rows(double *restrict to, const double *restrict from) { for (int j = 0; j < width; ++j) for (int i = 0; i < width; ++i) to[j * width + i] = from[j * width + i] + from[j * width + i + 1]; }
;   double gather(const double *x, const int *at, long n) { double sum = 0; for (long i = 0; i < n; ++i) sum += x[at[i]]; return sum; }
;   double calls(const double *x, long n) { double sum = 0; for (long i = 0; i < n; ++i) sum += f(x[i]); return sum; }
;   double some(const double *x, long n) { double sum = 0; for (long i = 0; i < n; ++i) if (x[i] > 0) sum += x[i]; return sum; }
;   double walk(const double *x, const double *end) { double sum = 0; while (x != end) sum += __builtin_sqrt(*x++); return sum; }
;   void backwards(double *x, long n) { for (long i = n - 1; i >= 0; --i) x[i] = x[i + 1] + x[i + 2]; }
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.point = type { float, [3 x double] }

@count = dso_local global i32 0, align 4
@data = dso_local global ptr null, align 8
@points = external global [1000 x %struct.point], align 16
@width = dso_local global i32 0, align 4

define dso_local void @scale(double noundef %0) !dbg !10 {
  br label %2, !dbg !13

2:                                                ; preds = %15, %1
  %.0 = phi i32 [ 0, %1 ], [ %16, %15 ], !dbg !14
  %3 = load i32, ptr @count, align 4, !dbg !15
  %4 = icmp slt i32 %.0, %3, !dbg !16
  br i1 %4, label %5, label %17, !dbg !17

5:                                                ; preds = %2
  %6 = load ptr, ptr @data, align 8, !dbg !18
  %7 = sext i32 %.0 to i64, !dbg !18
  %8 = getelementptr inbounds double, ptr %6, i64 %7, !dbg !18
  %9 = load double, ptr %8, align 8, !dbg !18
  %10 = fmul double %9, %0, !dbg !19
  %11 = fdiv double %10, 3.000000e+00, !dbg !20
  %12 = load ptr, ptr @data, align 8, !dbg !21
  %13 = sext i32 %.0 to i64, !dbg !21
  %14 = getelementptr inbounds double, ptr %12, i64 %13, !dbg !21
  store double %11, ptr %14, align 8, !dbg !22
  br label %15, !dbg !21

15:                                               ; preds = %5
  %16 = add nsw i32 %.0, 1, !dbg !23
  br label %2, !dbg !17, !llvm.loop !24

17:                                               ; preds = %2
  ret void, !dbg !27
}

define dso_local float @masses() !dbg !28 {
  br label %1, !dbg !29

1:                                                ; preds = %9, %0
  %.01 = phi i32 [ 0, %0 ], [ %10, %9 ], !dbg !30
  %.0 = phi float [ 0.000000e+00, %0 ], [ %8, %9 ], !dbg !30
  %2 = icmp slt i32 %.01, 1000, !dbg !31
  br i1 %2, label %3, label %11, !dbg !32

3:                                                ; preds = %1
  %4 = sext i32 %.01 to i64, !dbg !33
  %5 = getelementptr inbounds [1000 x %struct.point], ptr @points, i64 0, i64 %4, !dbg !33
  %6 = getelementptr inbounds %struct.point, ptr %5, i32 0, i32 0, !dbg !34
  %7 = load float, ptr %6, align 16, !dbg !34
  %8 = fadd float %.0, %7, !dbg !35
  br label %9, !dbg !36

9:                                                ; preds = %3
  %10 = add nsw i32 %.01, 1, !dbg !37
  br label %1, !dbg !32, !llvm.loop !38

11:                                               ; preds = %1
  ret float %.0, !dbg !39
}

define dso_local double @middles() !dbg !40 {
  br label %1, !dbg !41

1:                                                ; preds = %22, %0
  %.01 = phi i32 [ 0, %0 ], [ %23, %22 ], !dbg !42
  %.0 = phi double [ 0.000000e+00, %0 ], [ %21, %22 ], !dbg !42
  %2 = icmp slt i32 %.01, 1000, !dbg !43
  br i1 %2, label %3, label %24, !dbg !44

3:                                                ; preds = %1
  %4 = sext i32 %.01 to i64, !dbg !45
  %5 = getelementptr inbounds [1000 x %struct.point], ptr @points, i64 0, i64 %4, !dbg !45
  %6 = getelementptr inbounds %struct.point, ptr %5, i32 0, i32 1, !dbg !46
  %7 = getelementptr inbounds [3 x double], ptr %6, i64 0, i64 1, !dbg !45
  %8 = load double, ptr %7, align 8, !dbg !45
  %9 = sext i32 %.01 to i64, !dbg !47
  %10 = getelementptr inbounds [1000 x %struct.point], ptr @points, i64 0, i64 %9, !dbg !47
  %11 = getelementptr inbounds %struct.point, ptr %10, i32 0, i32 1, !dbg !48
  %12 = getelementptr inbounds [3 x double], ptr %11, i64 0, i64 1, !dbg !47
  %13 = load double, ptr %12, align 8, !dbg !47
  %14 = sext i32 %.01 to i64, !dbg !49
  %15 = getelementptr inbounds [1000 x %struct.point], ptr @points, i64 0, i64 %14, !dbg !49
  %16 = getelementptr inbounds %struct.point, ptr %15, i32 0, i32 1, !dbg !50
  %17 = getelementptr inbounds [3 x double], ptr %16, i64 0, i64 2, !dbg !49
  %18 = load double, ptr %17, align 8, !dbg !49
  %19 = fneg double %18, !dbg !51
  %20 = call double @llvm.fmuladd.f64(double %8, double %13, double %19), !dbg !51
  %21 = fadd double %.0, %20, !dbg !52
  br label %22, !dbg !53

22:                                               ; preds = %3
  %23 = add nsw i32 %.01, 1, !dbg !54
  br label %1, !dbg !44, !llvm.loop !55

24:                                               ; preds = %1
  ret double %.0, !dbg !57
}

declare double @llvm.fmuladd.f64(double, double, double) #1

define dso_local void @rows(ptr noalias noundef %0, ptr noalias noundef %1) !dbg !58 {
  br label %3, !dbg !59

3:                                                ; preds = %33, %2
  %.01 = phi i32 [ 0, %2 ], [ %34, %33 ], !dbg !60
  %4 = load i32, ptr @width, align 4, !dbg !61
  %5 = icmp slt i32 %.01, %4, !dbg !62
  br i1 %5, label %6, label %35, !dbg !63

6:                                                ; preds = %3
  br label %7, !dbg !64

7:                                                ; preds = %30, %6
  %.0 = phi i32 [ 0, %6 ], [ %31, %30 ], !dbg !60
  %8 = load i32, ptr @width, align 4, !dbg !65
  %9 = icmp slt i32 %.0, %8, !dbg !66
  br i1 %9, label %10, label %32, !dbg !67

10:                                               ; preds = %7
  %11 = load i32, ptr @width, align 4, !dbg !68
  %12 = mul nsw i32 %.01, %11, !dbg !69
  %13 = add nsw i32 %12, %.0, !dbg !70
  %14 = sext i32 %13 to i64, !dbg !71
  %15 = getelementptr inbounds double, ptr %1, i64 %14, !dbg !71
  %16 = load double, ptr %15, align 8, !dbg !71
  %17 = load i32, ptr @width, align 4, !dbg !72
  %18 = mul nsw i32 %.01, %17, !dbg !73
  %19 = add nsw i32 %18, %.0, !dbg !74
  %20 = add nsw i32 %19, 1, !dbg !75
  %21 = sext i32 %20 to i64, !dbg !76
  %22 = getelementptr inbounds double, ptr %1, i64 %21, !dbg !76
  %23 = load double, ptr %22, align 8, !dbg !76
  %24 = fadd double %16, %23, !dbg !77
  %25 = load i32, ptr @width, align 4, !dbg !78
  %26 = mul nsw i32 %.01, %25, !dbg !79
  %27 = add nsw i32 %26, %.0, !dbg !80
  %28 = sext i32 %27 to i64, !dbg !81
  %29 = getelementptr inbounds double, ptr %0, i64 %28, !dbg !81
  store double %24, ptr %29, align 8, !dbg !82
  br label %30, !dbg !81

30:                                               ; preds = %10
  %31 = add nsw i32 %.0, 1, !dbg !83
  br label %7, !dbg !67, !llvm.loop !84

32:                                               ; preds = %7
  br label %33, !dbg !85

33:                                               ; preds = %32
  %34 = add nsw i32 %.01, 1, !dbg !86
  br label %3, !dbg !63, !llvm.loop !87

35:                                               ; preds = %3
  ret void, !dbg !88
}

define dso_local double @gather(ptr noundef %0, ptr noundef %1, i64 noundef %2) !dbg !89 {
  br label %4, !dbg !90

4:                                                ; preds = %13, %3
  %.01 = phi double [ 0.000000e+00, %3 ], [ %12, %13 ], !dbg !91
  %.0 = phi i64 [ 0, %3 ], [ %14, %13 ], !dbg !91
  %5 = icmp slt i64 %.0, %2, !dbg !92
  br i1 %5, label %6, label %15, !dbg !93

6:                                                ; preds = %4
  %7 = getelementptr inbounds i32, ptr %1, i64 %.0, !dbg !94
  %8 = load i32, ptr %7, align 4, !dbg !94
  %9 = sext i32 %8 to i64, !dbg !95
  %10 = getelementptr inbounds double, ptr %0, i64 %9, !dbg !95
  %11 = load double, ptr %10, align 8, !dbg !95
  %12 = fadd double %.01, %11, !dbg !96
  br label %13, !dbg !97

13:                                               ; preds = %6
  %14 = add nsw i64 %.0, 1, !dbg !98
  br label %4, !dbg !93, !llvm.loop !99

15:                                               ; preds = %4
  ret double %.01, !dbg !101
}

define dso_local double @calls(ptr noundef %0, i64 noundef %1) !dbg !102 {
  br label %3, !dbg !103

3:                                                ; preds = %10, %2
  %.01 = phi double [ 0.000000e+00, %2 ], [ %9, %10 ], !dbg !104
  %.0 = phi i64 [ 0, %2 ], [ %11, %10 ], !dbg !104
  %4 = icmp slt i64 %.0, %1, !dbg !105
  br i1 %4, label %5, label %12, !dbg !106

5:                                                ; preds = %3
  %6 = getelementptr inbounds double, ptr %0, i64 %.0, !dbg !107
  %7 = load double, ptr %6, align 8, !dbg !107
  %8 = call double @f(double noundef %7), !dbg !108
  %9 = fadd double %.01, %8, !dbg !109
  br label %10, !dbg !110

10:                                               ; preds = %5
  %11 = add nsw i64 %.0, 1, !dbg !111
  br label %3, !dbg !106, !llvm.loop !112

12:                                               ; preds = %3
  ret double %.01, !dbg !114
}

declare double @f(double noundef) #2

define dso_local double @some(ptr noundef %0, i64 noundef %1) !dbg !115 {
  br label %3, !dbg !116

3:                                                ; preds = %14, %2
  %.01 = phi double [ 0.000000e+00, %2 ], [ %.1, %14 ], !dbg !117
  %.0 = phi i64 [ 0, %2 ], [ %15, %14 ], !dbg !117
  %4 = icmp slt i64 %.0, %1, !dbg !118
  br i1 %4, label %5, label %16, !dbg !119

5:                                                ; preds = %3
  %6 = getelementptr inbounds double, ptr %0, i64 %.0, !dbg !120
  %7 = load double, ptr %6, align 8, !dbg !120
  %8 = fcmp ogt double %7, 0.000000e+00, !dbg !121
  br i1 %8, label %9, label %13, !dbg !120

9:                                                ; preds = %5
  %10 = getelementptr inbounds double, ptr %0, i64 %.0, !dbg !122
  %11 = load double, ptr %10, align 8, !dbg !122
  %12 = fadd double %.01, %11, !dbg !123
  br label %13, !dbg !124

13:                                               ; preds = %9, %5
  %.1 = phi double [ %12, %9 ], [ %.01, %5 ], !dbg !117
  br label %14, !dbg !125

14:                                               ; preds = %13
  %15 = add nsw i64 %.0, 1, !dbg !126
  br label %3, !dbg !119, !llvm.loop !127

16:                                               ; preds = %3
  ret double %.01, !dbg !129
}

define dso_local double @walk(ptr noundef %0, ptr noundef %1) !dbg !130 {
  br label %3, !dbg !131

3:                                                ; preds = %5, %2
  %.01 = phi double [ 0.000000e+00, %2 ], [ %9, %5 ], !dbg !132
  %.0 = phi ptr [ %0, %2 ], [ %6, %5 ]
  %4 = icmp ne ptr %.0, %1, !dbg !133
  br i1 %4, label %5, label %10, !dbg !131

5:                                                ; preds = %3
  %6 = getelementptr inbounds double, ptr %.0, i32 1, !dbg !134
  %7 = load double, ptr %.0, align 8, !dbg !135
  %8 = call double @sqrt(double noundef %7) #4, !dbg !136
  %9 = fadd double %.01, %8, !dbg !137
  br label %3, !dbg !131, !llvm.loop !138

10:                                               ; preds = %3
  ret double %.01, !dbg !140
}

declare double @sqrt(double noundef) #3

define dso_local void @backwards(ptr noundef %0, i64 noundef %1) !dbg !141 {
  %3 = sub nsw i64 %1, 1, !dbg !142
  br label %4, !dbg !143

4:                                                ; preds = %15, %2
  %.0 = phi i64 [ %3, %2 ], [ %16, %15 ], !dbg !144
  %5 = icmp sge i64 %.0, 0, !dbg !145
  br i1 %5, label %6, label %17, !dbg !146

6:                                                ; preds = %4
  %7 = add nsw i64 %.0, 1, !dbg !147
  %8 = getelementptr inbounds double, ptr %0, i64 %7, !dbg !148
  %9 = load double, ptr %8, align 8, !dbg !148
  %10 = add nsw i64 %.0, 2, !dbg !149
  %11 = getelementptr inbounds double, ptr %0, i64 %10, !dbg !150
  %12 = load double, ptr %11, align 8, !dbg !150
  %13 = fadd double %9, %12, !dbg !151
  %14 = getelementptr inbounds double, ptr %0, i64 %.0, !dbg !152
  store double %13, ptr %14, align 8, !dbg !153
  br label %15, !dbg !152

15:                                               ; preds = %6
  %16 = add nsw i64 %.0, -1, !dbg !154
  br label %4, !dbg !146, !llvm.loop !155

17:                                               ; preds = %4
  ret void, !dbg !157
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 19.1.7 (3~deb12u1)", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "strange.c", directory: "/src", checksumkind: CSK_MD5, checksum: "21a25b269b3982ebb27d8f8654307acd")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"frame-pointer", i32 2}
!9 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!10 = distinct !DISubprogram(name: "scale", scope: !1, file: !1, line: 5, type: !11, scopeLine: 5, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!11 = !DISubroutineType(types: !12)
!12 = !{}
!13 = !DILocation(line: 5, column: 30, scope: !10)
!14 = !DILocation(line: 5, scope: !10)
!15 = !DILocation(line: 5, column: 45, scope: !10)
!16 = !DILocation(line: 5, column: 43, scope: !10)
!17 = !DILocation(line: 5, column: 25, scope: !10)
!18 = !DILocation(line: 5, column: 67, scope: !10)
!19 = !DILocation(line: 5, column: 75, scope: !10)
!20 = !DILocation(line: 5, column: 80, scope: !10)
!21 = !DILocation(line: 5, column: 57, scope: !10)
!22 = !DILocation(line: 5, column: 65, scope: !10)
!23 = !DILocation(line: 5, column: 52, scope: !10)
!24 = distinct !{!24, !17, !25, !26}
!25 = !DILocation(line: 5, column: 82, scope: !10)
!26 = !{!"llvm.loop.mustprogress"}
!27 = !DILocation(line: 5, column: 87, scope: !10)
!28 = distinct !DISubprogram(name: "masses", scope: !1, file: !1, line: 6, type: !11, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!29 = !DILocation(line: 6, column: 42, scope: !28)
!30 = !DILocation(line: 6, scope: !28)
!31 = !DILocation(line: 6, column: 55, scope: !28)
!32 = !DILocation(line: 6, column: 37, scope: !28)
!33 = !DILocation(line: 6, column: 75, scope: !28)
!34 = !DILocation(line: 6, column: 85, scope: !28)
!35 = !DILocation(line: 6, column: 72, scope: !28)
!36 = !DILocation(line: 6, column: 68, scope: !28)
!37 = !DILocation(line: 6, column: 63, scope: !28)
!38 = distinct !{!38, !32, !34, !26}
!39 = !DILocation(line: 6, column: 91, scope: !28)
!40 = distinct !DISubprogram(name: "middles", scope: !1, file: !1, line: 7, type: !11, scopeLine: 7, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!41 = !DILocation(line: 7, column: 45, scope: !40)
!42 = !DILocation(line: 7, scope: !40)
!43 = !DILocation(line: 7, column: 58, scope: !40)
!44 = !DILocation(line: 7, column: 40, scope: !40)
!45 = !DILocation(line: 7, column: 78, scope: !40)
!46 = !DILocation(line: 7, column: 88, scope: !40)
!47 = !DILocation(line: 7, column: 96, scope: !40)
!48 = !DILocation(line: 7, column: 106, scope: !40)
!49 = !DILocation(line: 7, column: 114, scope: !40)
!50 = !DILocation(line: 7, column: 124, scope: !40)
!51 = !DILocation(line: 7, column: 112, scope: !40)
!52 = !DILocation(line: 7, column: 75, scope: !40)
!53 = !DILocation(line: 7, column: 71, scope: !40)
!54 = !DILocation(line: 7, column: 66, scope: !40)
!55 = distinct !{!55, !44, !56, !26}
!56 = !DILocation(line: 7, column: 128, scope: !40)
!57 = !DILocation(line: 7, column: 131, scope: !40)
!58 = distinct !DISubprogram(name: "rows", scope: !1, file: !1, line: 8, type: !11, scopeLine: 8, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!59 = !DILocation(line: 8, column: 68, scope: !58)
!60 = !DILocation(line: 8, scope: !58)
!61 = !DILocation(line: 8, column: 83, scope: !58)
!62 = !DILocation(line: 8, column: 81, scope: !58)
!63 = !DILocation(line: 8, column: 63, scope: !58)
!64 = !DILocation(line: 8, column: 100, scope: !58)
!65 = !DILocation(line: 8, column: 115, scope: !58)
!66 = !DILocation(line: 8, column: 113, scope: !58)
!67 = !DILocation(line: 8, column: 95, scope: !58)
!68 = !DILocation(line: 8, column: 156, scope: !58)
!69 = !DILocation(line: 8, column: 154, scope: !58)
!70 = !DILocation(line: 8, column: 162, scope: !58)
!71 = !DILocation(line: 8, column: 147, scope: !58)
!72 = !DILocation(line: 8, column: 178, scope: !58)
!73 = !DILocation(line: 8, column: 176, scope: !58)
!74 = !DILocation(line: 8, column: 184, scope: !58)
!75 = !DILocation(line: 8, column: 188, scope: !58)
!76 = !DILocation(line: 8, column: 169, scope: !58)
!77 = !DILocation(line: 8, column: 167, scope: !58)
!78 = !DILocation(line: 8, column: 134, scope: !58)
!79 = !DILocation(line: 8, column: 132, scope: !58)
!80 = !DILocation(line: 8, column: 140, scope: !58)
!81 = !DILocation(line: 8, column: 127, scope: !58)
!82 = !DILocation(line: 8, column: 145, scope: !58)
!83 = !DILocation(line: 8, column: 122, scope: !58)
!84 = distinct !{!84, !67, !85, !26}
!85 = !DILocation(line: 8, column: 191, scope: !58)
!86 = !DILocation(line: 8, column: 90, scope: !58)
!87 = distinct !{!87, !63, !85, !26}
!88 = !DILocation(line: 8, column: 194, scope: !58)
!89 = distinct !DISubprogram(name: "gather", scope: !1, file: !1, line: 9, type: !11, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!90 = !DILocation(line: 9, column: 78, scope: !89)
!91 = !DILocation(line: 9, scope: !89)
!92 = !DILocation(line: 9, column: 92, scope: !89)
!93 = !DILocation(line: 9, column: 73, scope: !89)
!94 = !DILocation(line: 9, column: 111, scope: !89)
!95 = !DILocation(line: 9, column: 109, scope: !89)
!96 = !DILocation(line: 9, column: 106, scope: !89)
!97 = !DILocation(line: 9, column: 102, scope: !89)
!98 = !DILocation(line: 9, column: 97, scope: !89)
!99 = distinct !{!99, !93, !100, !26}
!100 = !DILocation(line: 9, column: 116, scope: !89)
!101 = !DILocation(line: 9, column: 119, scope: !89)
!102 = distinct !DISubprogram(name: "calls", scope: !1, file: !1, line: 10, type: !11, scopeLine: 10, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!103 = !DILocation(line: 10, column: 62, scope: !102)
!104 = !DILocation(line: 10, scope: !102)
!105 = !DILocation(line: 10, column: 76, scope: !102)
!106 = !DILocation(line: 10, column: 57, scope: !102)
!107 = !DILocation(line: 10, column: 95, scope: !102)
!108 = !DILocation(line: 10, column: 93, scope: !102)
!109 = !DILocation(line: 10, column: 90, scope: !102)
!110 = !DILocation(line: 10, column: 86, scope: !102)
!111 = !DILocation(line: 10, column: 81, scope: !102)
!112 = distinct !{!112, !106, !113, !26}
!113 = !DILocation(line: 10, column: 99, scope: !102)
!114 = !DILocation(line: 10, column: 102, scope: !102)
!115 = distinct !DISubprogram(name: "some", scope: !1, file: !1, line: 11, type: !11, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!116 = !DILocation(line: 11, column: 61, scope: !115)
!117 = !DILocation(line: 11, scope: !115)
!118 = !DILocation(line: 11, column: 75, scope: !115)
!119 = !DILocation(line: 11, column: 56, scope: !115)
!120 = !DILocation(line: 11, column: 89, scope: !115)
!121 = !DILocation(line: 11, column: 94, scope: !115)
!122 = !DILocation(line: 11, column: 106, scope: !115)
!123 = !DILocation(line: 11, column: 103, scope: !115)
!124 = !DILocation(line: 11, column: 99, scope: !115)
!125 = !DILocation(line: 11, column: 96, scope: !115)
!126 = !DILocation(line: 11, column: 80, scope: !115)
!127 = distinct !{!127, !119, !128, !26}
!128 = !DILocation(line: 11, column: 109, scope: !115)
!129 = !DILocation(line: 11, column: 112, scope: !115)
!130 = distinct !DISubprogram(name: "walk", scope: !1, file: !1, line: 12, type: !11, scopeLine: 12, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!131 = !DILocation(line: 12, column: 67, scope: !130)
!132 = !DILocation(line: 12, scope: !130)
!133 = !DILocation(line: 12, column: 76, scope: !130)
!134 = !DILocation(line: 12, column: 108, scope: !130)
!135 = !DILocation(line: 12, column: 106, scope: !130)
!136 = !DILocation(line: 12, column: 91, scope: !130)
!137 = !DILocation(line: 12, column: 88, scope: !130)
!138 = distinct !{!138, !131, !139, !26}
!139 = !DILocation(line: 12, column: 110, scope: !130)
!140 = !DILocation(line: 12, column: 113, scope: !130)
!141 = distinct !DISubprogram(name: "backwards", scope: !1, file: !1, line: 13, type: !11, scopeLine: 13, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!142 = !DILocation(line: 13, column: 53, scope: !141)
!143 = !DILocation(line: 13, column: 42, scope: !141)
!144 = !DILocation(line: 13, scope: !141)
!145 = !DILocation(line: 13, column: 60, scope: !141)
!146 = !DILocation(line: 13, column: 37, scope: !141)
!147 = !DILocation(line: 13, column: 82, scope: !141)
!148 = !DILocation(line: 13, column: 78, scope: !141)
!149 = !DILocation(line: 13, column: 93, scope: !141)
!150 = !DILocation(line: 13, column: 89, scope: !141)
!151 = !DILocation(line: 13, column: 87, scope: !141)
!152 = !DILocation(line: 13, column: 71, scope: !141)
!153 = !DILocation(line: 13, column: 76, scope: !141)
!154 = !DILocation(line: 13, column: 66, scope: !141)
!155 = distinct !{!155, !146, !156, !26}
!156 = !DILocation(line: 13, column: 96, scope: !141)
!157 = !DILocation(line: 13, column: 99, scope: !141)
