//! Constants of the standard that are numbers or special addresses in all three interfaces.

use crate::Abi;

/// One constant: its name in the standard, and its value in one interface.
pub type Name = (&'static str, isize);

macro_rules! numbers {
    ($($(#[$doc:meta])* $field:ident $kind:ty: $name:literal $open_mpi:literal $mpich:literal $standard:literal;)*) => {
        /// The constants of one interface. Special addresses are `usize`; ranks, levels and sizes `i32`, as in C.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Numbers { $($(#[$doc])* pub $field: $kind),* }

        impl Numbers {
            /// Every constant with its name in the standard, in the order of the table.
            pub fn names(&self) -> impl Iterator<Item = Name> + use<> {
                [$(($name, self.$field as isize)),*].into_iter()
            }
        }

        const NUMBERS: [Numbers; 3] = [
            Numbers { $($field: $open_mpi as $kind),* },
            Numbers { $($field: $mpich as $kind),* },
            Numbers { $($field: $standard as $kind),* },
        ];
    };
}

impl Abi {
    /// The constants of this interface.
    pub const fn numbers(self) -> &'static Numbers {
        &NUMBERS[self.column()]
    }
}

numbers! {
    any_source i32:           "MPI_ANY_SOURCE"                 -1     -2          -1;
    any_tag i32:              "MPI_ANY_TAG"                    -1     -1          -2;
    proc_null i32:            "MPI_PROC_NULL"                  -2     -1          -3;
    root i32:                 "MPI_ROOT"                       -4     -3          -4;
    undefined i32:            "MPI_UNDEFINED"                  -32766 -32766      -32766;
    keyval_invalid i32:       "MPI_KEYVAL_INVALID"             -1     0x2400_0000 0;

    /// Stands for the send buffer, or the receive buffer of `MPI_Scatter`'s root.
    in_place usize:           "MPI_IN_PLACE"                   1_isize -1_isize   1_isize;
    bottom usize:             "MPI_BOTTOM"                     0      0           0;
    status_ignore usize:      "MPI_STATUS_IGNORE"              0      1           0;
    statuses_ignore usize:    "MPI_STATUSES_IGNORE"            0      1           0;
    errcodes_ignore usize:    "MPI_ERRCODES_IGNORE"            0      0           0;

    thread_single i32:        "MPI_THREAD_SINGLE"              0      0           0;
    thread_funneled i32:      "MPI_THREAD_FUNNELED"            1      1           1024;
    thread_serialized i32:    "MPI_THREAD_SERIALIZED"          2      2           2048;
    thread_multiple i32:      "MPI_THREAD_MULTIPLE"            3      3           4096;

    lock_exclusive i32:       "MPI_LOCK_EXCLUSIVE"             1      234         301;
    lock_shared i32:          "MPI_LOCK_SHARED"                2      235         302;

    mode_nocheck i32:         "MPI_MODE_NOCHECK"               1      1024        1024;
    mode_noprecede i32:       "MPI_MODE_NOPRECEDE"             2      8192        2048;
    mode_noput i32:           "MPI_MODE_NOPUT"                 4      4096        4096;
    mode_nostore i32:         "MPI_MODE_NOSTORE"               8      2048        8192;
    mode_nosucceed i32:       "MPI_MODE_NOSUCCEED"             16     16384       16384;

    win_flavor_create i32:    "MPI_WIN_FLAVOR_CREATE"          1      1           311;
    win_flavor_allocate i32:  "MPI_WIN_FLAVOR_ALLOCATE"        2      2           312;
    win_flavor_dynamic i32:   "MPI_WIN_FLAVOR_DYNAMIC"         3      3           313;
    win_flavor_shared i32:    "MPI_WIN_FLAVOR_SHARED"          4      4           314;

    ident i32:                "MPI_IDENT"                      0      0           201;
    congruent i32:            "MPI_CONGRUENT"                  1      1           202;
    similar i32:              "MPI_SIMILAR"                    2      2           203;
    unequal i32:              "MPI_UNEQUAL"                    3      3           204;

    cart i32:                 "MPI_CART"                       1      2           211;
    graph i32:                "MPI_GRAPH"                      2      1           212;
    dist_graph i32:           "MPI_DIST_GRAPH"                 3      3           213;

    comm_type_shared i32:     "MPI_COMM_TYPE_SHARED"           0      1           221;

    max_processor_name i32:   "MPI_MAX_PROCESSOR_NAME"         256    128         256;
    max_object_name i32:      "MPI_MAX_OBJECT_NAME"            64     128         128;
    max_error_string i32:     "MPI_MAX_ERROR_STRING"           256    512         512;
    max_library_version i32:  "MPI_MAX_LIBRARY_VERSION_STRING" 256    8192        8192;
    bsend_overhead i32:       "MPI_BSEND_OVERHEAD"             128    96          512;
}
