; The Livermore kernels 1, 3, 5, 7 and 12 of bench/kernels/livermore.c, as Clang 19 with
; -O0 -Xclang -disable-O0-optnone -gline-tables-only -S -emit-llvm, and then opt -S -passes=mem2reg,sroa write them.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@q = external global double, align 8
@r = external global double, align 8
@t = external global double, align 8
@y = external global [1024 x double], align 16
@z = external global [1024 x double], align 16
@x = external global [1024 x double], align 16
@w = external global [1024 x double], align 16
@u = external global [1024 x double], align 16

define dso_local i64 @lfk1() !dbg !10 {
  %1 = load double, ptr @q, align 8, !dbg !13
  %2 = load double, ptr @r, align 8, !dbg !14
  %3 = load double, ptr @t, align 8, !dbg !15
  br label %4, !dbg !16

4:                                                ; preds = %23, %0
  %.0 = phi i32 [ 0, %0 ], [ %24, %23 ], !dbg !17
  %5 = icmp slt i32 %.0, 480, !dbg !18
  br i1 %5, label %6, label %25, !dbg !19

6:                                                ; preds = %4
  %7 = sext i32 %.0 to i64, !dbg !20
  %8 = getelementptr inbounds [1024 x double], ptr @y, i64 0, i64 %7, !dbg !20
  %9 = load double, ptr %8, align 8, !dbg !20
  %10 = add nsw i32 %.0, 10, !dbg !21
  %11 = sext i32 %10 to i64, !dbg !22
  %12 = getelementptr inbounds [1024 x double], ptr @z, i64 0, i64 %11, !dbg !22
  %13 = load double, ptr %12, align 8, !dbg !22
  %14 = add nsw i32 %.0, 11, !dbg !23
  %15 = sext i32 %14 to i64, !dbg !24
  %16 = getelementptr inbounds [1024 x double], ptr @z, i64 0, i64 %15, !dbg !24
  %17 = load double, ptr %16, align 8, !dbg !24
  %18 = fmul double %3, %17, !dbg !25
  %19 = call double @llvm.fmuladd.f64(double %2, double %13, double %18), !dbg !26
  %20 = call double @llvm.fmuladd.f64(double %9, double %19, double %1), !dbg !27
  %21 = sext i32 %.0 to i64, !dbg !28
  %22 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %21, !dbg !28
  store double %20, ptr %22, align 8, !dbg !29
  br label %23, !dbg !28

23:                                               ; preds = %6
  %24 = add nsw i32 %.0, 1, !dbg !30
  br label %4, !dbg !19, !llvm.loop !31

25:                                               ; preds = %4
  ret i64 480, !dbg !34
}

declare double @llvm.fmuladd.f64(double, double, double) #1

define dso_local i64 @lfk3() !dbg !35 {
  %1 = load double, ptr @w, align 16, !dbg !36
  br label %2, !dbg !37

2:                                                ; preds = %12, %0
  %.01 = phi i32 [ 0, %0 ], [ %13, %12 ], !dbg !38
  %.0 = phi double [ %1, %0 ], [ %11, %12 ], !dbg !39
  %3 = icmp slt i32 %.01, 480, !dbg !40
  br i1 %3, label %4, label %14, !dbg !41

4:                                                ; preds = %2
  %5 = sext i32 %.01 to i64, !dbg !42
  %6 = getelementptr inbounds [1024 x double], ptr @z, i64 0, i64 %5, !dbg !42
  %7 = load double, ptr %6, align 8, !dbg !42
  %8 = sext i32 %.01 to i64, !dbg !43
  %9 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %8, !dbg !43
  %10 = load double, ptr %9, align 8, !dbg !43
  %11 = call double @llvm.fmuladd.f64(double %7, double %10, double %.0), !dbg !44
  br label %12, !dbg !45

12:                                               ; preds = %4
  %13 = add nsw i32 %.01, 1, !dbg !46
  br label %2, !dbg !41, !llvm.loop !47

14:                                               ; preds = %2
  store double %.0, ptr @w, align 16, !dbg !49
  ret i64 480, !dbg !50
}

define dso_local i64 @lfk5() !dbg !51 {
  %1 = load double, ptr getelementptr inbounds ([1024 x double], ptr @x, i64 0, i64 479), align 8, !dbg !52
  store double %1, ptr @x, align 16, !dbg !53
  br label %2, !dbg !54

2:                                                ; preds = %19, %0
  %.0 = phi i32 [ 1, %0 ], [ %20, %19 ], !dbg !55
  %3 = icmp slt i32 %.0, 480, !dbg !56
  br i1 %3, label %4, label %21, !dbg !57

4:                                                ; preds = %2
  %5 = sext i32 %.0 to i64, !dbg !58
  %6 = getelementptr inbounds [1024 x double], ptr @z, i64 0, i64 %5, !dbg !58
  %7 = load double, ptr %6, align 8, !dbg !58
  %8 = sext i32 %.0 to i64, !dbg !59
  %9 = getelementptr inbounds [1024 x double], ptr @y, i64 0, i64 %8, !dbg !59
  %10 = load double, ptr %9, align 8, !dbg !59
  %11 = sub nsw i32 %.0, 1, !dbg !60
  %12 = sext i32 %11 to i64, !dbg !61
  %13 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %12, !dbg !61
  %14 = load double, ptr %13, align 8, !dbg !61
  %15 = fsub double %10, %14, !dbg !62
  %16 = fmul double %7, %15, !dbg !63
  %17 = sext i32 %.0 to i64, !dbg !64
  %18 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %17, !dbg !64
  store double %16, ptr %18, align 8, !dbg !65
  br label %19, !dbg !64

19:                                               ; preds = %4
  %20 = add nsw i32 %.0, 1, !dbg !66
  br label %2, !dbg !57, !llvm.loop !67

21:                                               ; preds = %2
  ret i64 479, !dbg !69
}

define dso_local i64 @lfk7() !dbg !70 {
  %1 = load double, ptr @q, align 8, !dbg !71
  %2 = load double, ptr @r, align 8, !dbg !72
  %3 = load double, ptr @t, align 8, !dbg !73
  br label %4, !dbg !74

4:                                                ; preds = %50, %0
  %.0 = phi i32 [ 0, %0 ], [ %51, %50 ], !dbg !75
  %5 = icmp slt i32 %.0, 480, !dbg !76
  br i1 %5, label %6, label %52, !dbg !77

6:                                                ; preds = %4
  %7 = sext i32 %.0 to i64, !dbg !78
  %8 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %7, !dbg !78
  %9 = load double, ptr %8, align 8, !dbg !78
  %10 = sext i32 %.0 to i64, !dbg !79
  %11 = getelementptr inbounds [1024 x double], ptr @z, i64 0, i64 %10, !dbg !79
  %12 = load double, ptr %11, align 8, !dbg !79
  %13 = sext i32 %.0 to i64, !dbg !80
  %14 = getelementptr inbounds [1024 x double], ptr @y, i64 0, i64 %13, !dbg !80
  %15 = load double, ptr %14, align 8, !dbg !80
  %16 = call double @llvm.fmuladd.f64(double %2, double %15, double %12), !dbg !81
  %17 = call double @llvm.fmuladd.f64(double %2, double %16, double %9), !dbg !82
  %18 = add nsw i32 %.0, 3, !dbg !83
  %19 = sext i32 %18 to i64, !dbg !84
  %20 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %19, !dbg !84
  %21 = load double, ptr %20, align 8, !dbg !84
  %22 = add nsw i32 %.0, 2, !dbg !85
  %23 = sext i32 %22 to i64, !dbg !86
  %24 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %23, !dbg !86
  %25 = load double, ptr %24, align 8, !dbg !86
  %26 = add nsw i32 %.0, 1, !dbg !87
  %27 = sext i32 %26 to i64, !dbg !88
  %28 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %27, !dbg !88
  %29 = load double, ptr %28, align 8, !dbg !88
  %30 = call double @llvm.fmuladd.f64(double %2, double %29, double %25), !dbg !89
  %31 = call double @llvm.fmuladd.f64(double %2, double %30, double %21), !dbg !90
  %32 = add nsw i32 %.0, 6, !dbg !91
  %33 = sext i32 %32 to i64, !dbg !92
  %34 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %33, !dbg !92
  %35 = load double, ptr %34, align 8, !dbg !92
  %36 = add nsw i32 %.0, 5, !dbg !93
  %37 = sext i32 %36 to i64, !dbg !94
  %38 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %37, !dbg !94
  %39 = load double, ptr %38, align 8, !dbg !94
  %40 = add nsw i32 %.0, 4, !dbg !95
  %41 = sext i32 %40 to i64, !dbg !96
  %42 = getelementptr inbounds [1024 x double], ptr @u, i64 0, i64 %41, !dbg !96
  %43 = load double, ptr %42, align 8, !dbg !96
  %44 = call double @llvm.fmuladd.f64(double %1, double %43, double %39), !dbg !97
  %45 = call double @llvm.fmuladd.f64(double %1, double %44, double %35), !dbg !98
  %46 = call double @llvm.fmuladd.f64(double %3, double %45, double %31), !dbg !99
  %47 = call double @llvm.fmuladd.f64(double %3, double %46, double %17), !dbg !100
  %48 = sext i32 %.0 to i64, !dbg !101
  %49 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %48, !dbg !101
  store double %47, ptr %49, align 8, !dbg !102
  br label %50, !dbg !101

50:                                               ; preds = %6
  %51 = add nsw i32 %.0, 1, !dbg !103
  br label %4, !dbg !77, !llvm.loop !104

52:                                               ; preds = %4
  ret i64 480, !dbg !106
}

define dso_local i64 @lfk12() !dbg !107 {
  br label %1, !dbg !108

1:                                                ; preds = %14, %0
  %.0 = phi i32 [ 0, %0 ], [ %15, %14 ], !dbg !109
  %2 = icmp slt i32 %.0, 480, !dbg !110
  br i1 %2, label %3, label %16, !dbg !111

3:                                                ; preds = %1
  %4 = add nsw i32 %.0, 1, !dbg !112
  %5 = sext i32 %4 to i64, !dbg !113
  %6 = getelementptr inbounds [1024 x double], ptr @y, i64 0, i64 %5, !dbg !113
  %7 = load double, ptr %6, align 8, !dbg !113
  %8 = sext i32 %.0 to i64, !dbg !114
  %9 = getelementptr inbounds [1024 x double], ptr @y, i64 0, i64 %8, !dbg !114
  %10 = load double, ptr %9, align 8, !dbg !114
  %11 = fsub double %7, %10, !dbg !115
  %12 = sext i32 %.0 to i64, !dbg !116
  %13 = getelementptr inbounds [1024 x double], ptr @x, i64 0, i64 %12, !dbg !116
  store double %11, ptr %13, align 8, !dbg !117
  br label %14, !dbg !116

14:                                               ; preds = %3
  %15 = add nsw i32 %.0, 1, !dbg !118
  br label %1, !dbg !111, !llvm.loop !119

16:                                               ; preds = %1
  ret i64 480, !dbg !121
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 19.1.7 (3~deb12u1)", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "livermore.c", directory: "/src", checksumkind: CSK_MD5, checksum: "3dac554c56166d7b4edbc50ac3327bef")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"frame-pointer", i32 2}
!9 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!10 = distinct !DISubprogram(name: "lfk1", scope: !1, file: !1, line: 11, type: !11, scopeLine: 12, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!11 = !DISubroutineType(types: !12)
!12 = !{}
!13 = !DILocation(line: 13, column: 22, scope: !10)
!14 = !DILocation(line: 13, column: 29, scope: !10)
!15 = !DILocation(line: 13, column: 36, scope: !10)
!16 = !DILocation(line: 14, column: 10, scope: !10)
!17 = !DILocation(line: 14, scope: !10)
!18 = !DILocation(line: 14, column: 23, scope: !10)
!19 = !DILocation(line: 14, column: 5, scope: !10)
!20 = !DILocation(line: 15, column: 20, scope: !10)
!21 = !DILocation(line: 15, column: 36, scope: !10)
!22 = !DILocation(line: 15, column: 32, scope: !10)
!23 = !DILocation(line: 15, column: 52, scope: !10)
!24 = !DILocation(line: 15, column: 48, scope: !10)
!25 = !DILocation(line: 15, column: 46, scope: !10)
!26 = !DILocation(line: 15, column: 42, scope: !10)
!27 = !DILocation(line: 15, column: 18, scope: !10)
!28 = !DILocation(line: 15, column: 9, scope: !10)
!29 = !DILocation(line: 15, column: 14, scope: !10)
!30 = !DILocation(line: 14, column: 28, scope: !10)
!31 = distinct !{!31, !19, !32, !33}
!32 = !DILocation(line: 15, column: 57, scope: !10)
!33 = !{!"llvm.loop.mustprogress"}
!34 = !DILocation(line: 16, column: 5, scope: !10)
!35 = distinct !DISubprogram(name: "lfk3", scope: !1, file: !1, line: 20, type: !11, scopeLine: 21, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!36 = !DILocation(line: 22, column: 18, scope: !35)
!37 = !DILocation(line: 23, column: 10, scope: !35)
!38 = !DILocation(line: 23, scope: !35)
!39 = !DILocation(line: 0, scope: !35)
!40 = !DILocation(line: 23, column: 23, scope: !35)
!41 = !DILocation(line: 23, column: 5, scope: !35)
!42 = !DILocation(line: 24, column: 16, scope: !35)
!43 = !DILocation(line: 24, column: 23, scope: !35)
!44 = !DILocation(line: 24, column: 13, scope: !35)
!45 = !DILocation(line: 24, column: 9, scope: !35)
!46 = !DILocation(line: 23, column: 28, scope: !35)
!47 = distinct !{!47, !41, !48, !33}
!48 = !DILocation(line: 24, column: 26, scope: !35)
!49 = !DILocation(line: 25, column: 10, scope: !35)
!50 = !DILocation(line: 26, column: 5, scope: !35)
!51 = distinct !DISubprogram(name: "lfk5", scope: !1, file: !1, line: 30, type: !11, scopeLine: 31, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!52 = !DILocation(line: 32, column: 12, scope: !51)
!53 = !DILocation(line: 32, column: 10, scope: !51)
!54 = !DILocation(line: 33, column: 10, scope: !51)
!55 = !DILocation(line: 33, scope: !51)
!56 = !DILocation(line: 33, column: 23, scope: !51)
!57 = !DILocation(line: 33, column: 5, scope: !51)
!58 = !DILocation(line: 34, column: 16, scope: !51)
!59 = !DILocation(line: 34, column: 24, scope: !51)
!60 = !DILocation(line: 34, column: 35, scope: !51)
!61 = !DILocation(line: 34, column: 31, scope: !51)
!62 = !DILocation(line: 34, column: 29, scope: !51)
!63 = !DILocation(line: 34, column: 21, scope: !51)
!64 = !DILocation(line: 34, column: 9, scope: !51)
!65 = !DILocation(line: 34, column: 14, scope: !51)
!66 = !DILocation(line: 33, column: 28, scope: !51)
!67 = distinct !{!67, !57, !68, !33}
!68 = !DILocation(line: 34, column: 39, scope: !51)
!69 = !DILocation(line: 35, column: 5, scope: !51)
!70 = distinct !DISubprogram(name: "lfk7", scope: !1, file: !1, line: 39, type: !11, scopeLine: 40, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!71 = !DILocation(line: 41, column: 22, scope: !70)
!72 = !DILocation(line: 41, column: 29, scope: !70)
!73 = !DILocation(line: 41, column: 36, scope: !70)
!74 = !DILocation(line: 42, column: 10, scope: !70)
!75 = !DILocation(line: 42, scope: !70)
!76 = !DILocation(line: 42, column: 23, scope: !70)
!77 = !DILocation(line: 42, column: 5, scope: !70)
!78 = !DILocation(line: 43, column: 16, scope: !70)
!79 = !DILocation(line: 43, column: 28, scope: !70)
!80 = !DILocation(line: 43, column: 39, scope: !70)
!81 = !DILocation(line: 43, column: 33, scope: !70)
!82 = !DILocation(line: 43, column: 21, scope: !70)
!83 = !DILocation(line: 44, column: 25, scope: !70)
!84 = !DILocation(line: 44, column: 21, scope: !70)
!85 = !DILocation(line: 44, column: 41, scope: !70)
!86 = !DILocation(line: 44, column: 37, scope: !70)
!87 = !DILocation(line: 44, column: 56, scope: !70)
!88 = !DILocation(line: 44, column: 52, scope: !70)
!89 = !DILocation(line: 44, column: 46, scope: !70)
!90 = !DILocation(line: 44, column: 30, scope: !70)
!91 = !DILocation(line: 44, column: 73, scope: !70)
!92 = !DILocation(line: 44, column: 69, scope: !70)
!93 = !DILocation(line: 44, column: 89, scope: !70)
!94 = !DILocation(line: 44, column: 85, scope: !70)
!95 = !DILocation(line: 44, column: 104, scope: !70)
!96 = !DILocation(line: 44, column: 100, scope: !70)
!97 = !DILocation(line: 44, column: 94, scope: !70)
!98 = !DILocation(line: 44, column: 78, scope: !70)
!99 = !DILocation(line: 44, column: 62, scope: !70)
!100 = !DILocation(line: 43, column: 45, scope: !70)
!101 = !DILocation(line: 43, column: 9, scope: !70)
!102 = !DILocation(line: 43, column: 14, scope: !70)
!103 = !DILocation(line: 42, column: 28, scope: !70)
!104 = distinct !{!104, !77, !105, !33}
!105 = !DILocation(line: 44, column: 110, scope: !70)
!106 = !DILocation(line: 45, column: 5, scope: !70)
!107 = distinct !DISubprogram(name: "lfk12", scope: !1, file: !1, line: 49, type: !11, scopeLine: 50, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!108 = !DILocation(line: 51, column: 10, scope: !107)
!109 = !DILocation(line: 51, scope: !107)
!110 = !DILocation(line: 51, column: 23, scope: !107)
!111 = !DILocation(line: 51, column: 5, scope: !107)
!112 = !DILocation(line: 52, column: 20, scope: !107)
!113 = !DILocation(line: 52, column: 16, scope: !107)
!114 = !DILocation(line: 52, column: 27, scope: !107)
!115 = !DILocation(line: 52, column: 25, scope: !107)
!116 = !DILocation(line: 52, column: 9, scope: !107)
!117 = !DILocation(line: 52, column: 14, scope: !107)
!118 = !DILocation(line: 51, column: 28, scope: !107)
!119 = distinct !{!119, !111, !120, !33}
!120 = !DILocation(line: 52, column: 30, scope: !107)
!121 = !DILocation(line: 53, column: 5, scope: !107)
