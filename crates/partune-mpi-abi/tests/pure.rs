//! What needs no library: detection, handles from registers, statuses, and the standard interface's own rules.

use partune_mpi_abi::{
    Abi, Error, Evidence, Handle, Kind, Place, StatusLayout, detect, launched, sonames, world_variables,
};
use std::collections::BTreeSet;

#[test]
fn evidence_decides_and_doubt_does_not() {
    let check = |abi_major, open_mpi_world, library_version, expected| {
        assert_eq!(detect(&Evidence { abi_major, open_mpi_world, library_version }), expected);
    };
    check(None, true, None, Some(Abi::OpenMpi));
    check(None, false, Some("MPICH Version:\t4.0.2\nMPICH Release date:\t..."), Some(Abi::Mpich));
    check(None, false, Some("Intel(R) MPI Library 2021.9 for Linux* OS"), Some(Abi::Mpich));
    check(None, false, Some("MVAPICH2 Version      :\t2.3.7"), Some(Abi::Mpich));
    check(Some(1), false, Some("MPICH Version:\t5.0.0"), Some(Abi::Standard));
    // A library with the standard interface above Open MPI's own.
    check(Some(1), true, Some("Open MPI v6.0.0"), Some(Abi::Standard));
    // The function exists, and says that this is not the standard interface.
    check(Some(-1), false, Some("MPICH Version:\t4.3.0"), Some(Abi::Mpich));
    check(Some(-1), true, None, Some(Abi::OpenMpi));
    check(None, false, Some("SomeMPI 1.0"), None);
    check(None, false, None, None);
}

#[test]
fn launchers_are_known_by_their_environment() {
    let with = |set: &'static str| launched(move |name| name == set);
    assert_eq!(with("OMPI_COMM_WORLD_RANK"), Some(Abi::OpenMpi));
    assert_eq!(with("PMI_RANK"), Some(Abi::Mpich));
    assert_eq!(with("PMIX_RANK"), Some(Abi::OpenMpi));
    assert_eq!(with("MV2_COMM_WORLD_RANK"), Some(Abi::Mpich));
    assert_eq!(with("HOME"), None);
    for abi in Abi::ALL {
        assert!(!sonames(abi).is_empty());
        assert!(world_variables(abi).iter().all(|(rank, size)| rank != size));
    }
}

#[test]
fn narrow_handles_lose_the_undefined_half_and_wide_ones_keep_it() {
    let dirty = 0xdead_beef_4400_0000;
    assert_eq!(Abi::Mpich.normalise(Kind::Comm, dirty), 0x4400_0000);
    assert_eq!(Abi::Mpich.normalise(Kind::File, dirty), dirty);
    assert_eq!(Abi::OpenMpi.normalise(Kind::Comm, dirty), dirty);
    assert_eq!(Abi::Standard.normalise(Kind::Request, dirty), dirty);
    assert_eq!(Abi::Mpich.handle_size(Kind::Request), 4);
    assert_eq!(Abi::OpenMpi.handle_size(Kind::Request), 8);
}

#[test]
fn statuses_are_read() {
    let read = |abi: Abi, status: &[i32]| abi.status().read(status);
    let open = read(Abi::OpenMpi, &[3, 7, 0, 0, 80, 1]).unwrap();
    assert_eq!((open.source, open.tag, open.error, open.bytes), (3, 7, 0, Some((1 << 32) + 80)));
    // The lowest bit of the second int says "cancelled" and is no part of the count.
    let mpich = read(Abi::Mpich, &[80, 0b11, 3, 7, 0]).unwrap();
    assert_eq!((mpich.source, mpich.tag, mpich.error, mpich.bytes), (3, 7, 0, Some((1 << 32) + 80)));
    let standard = read(Abi::Standard, &[3, 7, 0, 1, 2, 3, 4, 5]).unwrap();
    assert_eq!((standard.source, standard.tag, standard.bytes), (3, 7, None));
    assert_eq!(read(Abi::Mpich, &[0; 4]), None);
    assert_eq!(Abi::ALL.map(|abi| abi.status().bytes()), [24, 20, 32]);
    assert!(Abi::ALL.iter().all(|abi| abi.status().ints <= StatusLayout::MOST));
}

#[test]
fn tables_are_unambiguous() {
    for abi in Abi::ALL {
        for kind in [Kind::Comm, Kind::Group, Kind::Datatype, Kind::Op, Kind::Errhandler, Kind::Info, Kind::Message] {
            let of_kind: Vec<_> = Handle::ALL.iter().filter(|handle| handle.kind() == kind).collect();
            let places: BTreeSet<String> = of_kind.iter().map(|handle| format!("{:?}", handle.place(abi))).collect();
            assert_eq!(places.len(), of_kind.len(), "{abi} {kind:?}");
        }
        let classes: BTreeSet<i32> = Error::ALL.iter().map(|error| error.class(abi)).collect();
        assert_eq!(classes.len(), Error::ALL.len(), "{abi}");
        assert_eq!(Error::of(Error::Truncate.class(abi), abi), Some(Error::Truncate));
        assert_eq!(Error::of(0, abi), None);
    }
}

/// MPI 5.0, appendix on the ABI: predefined handles are numbers below 0x400 and never zero, and the third hexadecimal
/// digit and those below group them by kind; wildcards and sentinels are negative and differ from each other.
#[test]
fn the_standard_interface_keeps_its_rules() {
    for handle in Handle::ALL {
        let Place::Number(value) = handle.place(Abi::Standard) else { panic!("{}", handle.name()) };
        let range = match handle.kind() {
            Kind::Op => 0x20..0x40,
            Kind::Comm => 0x100..0x104,
            Kind::Group => 0x108..0x10c,
            Kind::Win => 0x110..0x114,
            Kind::File => 0x118..0x11c,
            Kind::Message => 0x128..0x12c,
            Kind::Info => 0x130..0x134,
            Kind::Errhandler => 0x140..0x148,
            Kind::Request => 0x180..0x184,
            Kind::Datatype => 0x200..0x400,
        };
        assert!(range.contains(&value), "{} is {value:#x}", handle.name());
    }
    let numbers = Abi::Standard.numbers();
    let sentinels = [numbers.any_source, numbers.any_tag, numbers.proc_null, numbers.root, numbers.undefined];
    assert_eq!(sentinels, [-1, -2, -3, -4, -32766]);
}

#[test]
fn values_come_from_symbols_where_they_are_addresses() {
    let found = Handle::CommWorld.value(Abi::OpenMpi, |name| (name == c"ompi_mpi_comm_world").then_some(4096));
    assert_eq!(found, Some(4096));
    assert_eq!(Handle::CommWorld.value(Abi::OpenMpi, |_| None), None);
    assert_eq!(Handle::CommWorld.value(Abi::Mpich, |_| None), Some(0x4400_0000));
}
