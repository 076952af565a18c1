//! What callgrind counted: files as it writes them, and what executed code needs.

use partune_kernels::counts::turns;
use partune_kernels::{CountsError, Executions, Needed, cores, kernels, x86};
use proptest::prelude::*;

/// Names and positions are short, as callgrind writes them: the second `+4` is from the line of a call, whose cost is not the caller's own.
const FILE: &str = "# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 7
cmd:  ./app 5
part: 1

positions: instr line
events: Ir
summary: 117

ob=(1) /bin/app
fl=(1) app.c
fn=(1) main
0x1000 1 1
+4 +1 50
cfn=(2) sin
cob=(2) /lib/libm.so.6
calls=10 0x2000 7
* * 9000
+4 * 40
jcnd=5/6 0x1000 1
* *
-8 -1 6

ob=(2)
fn=(2)
0x2000 7 10
ob=(1)
0x1004 2 10

totals: 117
";

#[test]
fn a_file_of_callgrind_is_read() {
    let read = Executions::callgrind(FILE).expect("it is whole");
    assert_eq!(read.command, "./app 5");
    let of = |object: &str| read.objects[object].iter().map(|(at, count)| (*at, *count)).collect::<Vec<_>>();
    assert_eq!(of("/bin/app"), [(0x1000, 7), (0x1004, 60), (0x1008, 40)]);
    assert_eq!(of("/lib/libm.so.6"), [(0x2000, 10)]);
    assert_eq!(read.program().map(|(path, _)| path), Some("/bin/app"));
}

#[test]
fn what_is_no_such_file_or_not_all_of_it_is_refused() {
    let read = |text: &str| Executions::callgrind(text).expect_err("it is wrong");
    assert_eq!(read("version: 1\n"), CountsError::NotCallgrind);
    assert_eq!(read(""), CountsError::NotCallgrind);
    assert_eq!(read(&FILE.replace("instr line", "line")), CountsError::NoInstructions);
    assert_eq!(read(&FILE.replace("+4 * 40", "+4 * many")), CountsError::Line(21));
    assert_eq!(read(&FILE.replace("ob=(1)\n", "ob=(9)\n")), CountsError::Line(29));
    assert_eq!(read(FILE.split("ob=(2)\nfn").next().unwrap_or_default()), CountsError::Sum { found: 97, said: 0 });
}

/// for (i = 0; i < 100; i++) sum += a[i] * b[i], and what returns it.
#[test]
fn loops_need_their_bounds_and_other_code_its_instructions() {
    const DOT: [u8; 28] = [
        0xf2, 0x0f, 0x10, 0x04, 0x06, // movsd (%rsi,%rax),%xmm0
        0xf2, 0x0f, 0x59, 0x04, 0x01, // mulsd (%rcx,%rax),%xmm0
        0x48, 0x83, 0xc0, 0x08, // add $8,%rax
        0xf2, 0x0f, 0x58, 0xc8, // addsd %xmm0,%xmm1
        0x48, 0x39, 0xc2, // cmp %rax,%rdx
        0x75, 0xe9, // jne, to the first
        0x66, 0x0f, 0x28, 0xc1, // movapd %xmm1,%xmm0
        0xc3,
    ];
    let core = cores().iter().find(|core| core.id == "zen4").expect("it is known");
    let code = x86::decode(&DOT, 0x1000);
    let found = kernels(&code, core);
    let bounds = found[0].bounds.as_ref().expect("it calls nothing");
    let turns = |at: usize| if at < 6 { 100 } else { 1 };
    let counts = code.iter().enumerate().map(|(at, it)| (it.address, turns(at))).collect();
    let needed = Needed::of(&code, &found, core, &counts);
    assert_eq!((needed.instructions, needed.in_loops), (602, 600));
    let near = |is: f64, should: f64| assert!((is - should).abs() < 1e-6 * should, "{is} for {should}");
    // Two floating-point operations a turn, of 24 a cycle; an addition that waits for the one before takes three cycles; two instructions of six a cycle.
    near(needed.m, 100.0 * 2.0 / 24.0);
    near(needed.ma, 100.0 * bounds.ma);
    near(needed.mac, 100.0 * bounds.mac + 2.0 / 6.0);
    near(needed.macs, 100.0 * 3.0 + 2.0 / 6.0);
    let nothing = Needed::of(&code, &found, core, &[(0x5000, 3)].into());
    assert_eq!(nothing, Needed::default());
}

/// A loop whose second half lies behind another loop, as compilers put what an exchange does that failed.
#[test]
fn a_loop_has_its_own_code_and_not_what_lies_between_its_pieces() {
    const CODE: [u8; 16] = [
        0x48, 0xff, 0xc9, // dec %rcx
        0x75, 0x06, // jne, to inc
        0x48, 0xff, 0xc8, // dec %rax
        0x75, 0xfb, // jne, to the dec before it
        0xc3, //
        0x48, 0xff, 0xc2, // inc %rdx
        0xeb, 0xf0, // jmp, to the first
    ];
    let core = &cores()[0];
    let code = x86::decode(&CODE, 0x1000);
    let found = kernels(&code, core);
    let pieces: Vec<&[(u64, u64)]> = found.iter().map(|it| &it.pieces[..]).collect();
    assert_eq!(pieces, [&[(0x1000, 0x1003), (0x100b, 0x100e)][..], &[(0x1005, 0x1008)]]);
    let counts = [3, 3, 500, 500, 1, 2, 2].into_iter().zip(&code).map(|(count, it)| (it.address, count)).collect();
    assert_eq!(found.iter().map(|it| turns(it, &counts)).collect::<Vec<_>>(), [3, 500]);
    let needed = Needed::of(&code, &found, core, &counts);
    assert_eq!((needed.instructions, needed.in_loops), (1011, 1010));
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(at in 0..FILE.len(), with in "[ -~\n]{0,6}", keep in 0_usize..9) {
        let end = (at + keep).min(FILE.len());
        let text = format!("{}{with}{}", &FILE[..at], &FILE[end..]);
        if let Ok(read) = Executions::callgrind(&text) {
            prop_assert!(read.objects.values().flat_map(|it| it.values()).all(|count| *count > 0));
        }
    }
}
