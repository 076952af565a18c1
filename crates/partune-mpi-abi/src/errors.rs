//! Classes of errors, as `MPI_Error_class` gives them.
//!
//! What a call returns is a code, and a library may have many codes in one class (MPICH does); compare classes. A
//! successful call returns [`SUCCESS`] in every interface.

use crate::Abi;

/// `MPI_SUCCESS`.
pub const SUCCESS: i32 = 0;

macro_rules! errors {
    ($($variant:ident $name:literal $open_mpi:literal $mpich:literal $standard:literal;)*) => {
        /// A class of errors. The name of a variant is that of the standard without its prefix.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Error { $($variant),* }

        impl Error {
            /// All, in the order of the standard interface.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in the MPI standard.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Its number in a library of this interface.
            pub const fn class(self, abi: Abi) -> i32 {
                let columns: [i32; 3] = match self { $(Self::$variant => [$open_mpi, $mpich, $standard]),* };
                columns[abi.column()]
            }
        }
    };
}

impl Error {
    /// The class with this number in a library of this interface; none for success and for the user's own classes.
    pub fn of(class: i32, abi: Abi) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| error.class(abi) == class)
    }
}

errors! {
    Buffer               "MPI_ERR_BUFFER"                 1 1 1;
    Count                "MPI_ERR_COUNT"                  2 2 2;
    Type                 "MPI_ERR_TYPE"                   3 3 3;
    Tag                  "MPI_ERR_TAG"                    4 4 4;
    Comm                 "MPI_ERR_COMM"                   5 5 5;
    Rank                 "MPI_ERR_RANK"                   6 6 6;
    Request              "MPI_ERR_REQUEST"                7 19 7;
    Root                 "MPI_ERR_ROOT"                   8 7 8;
    Group                "MPI_ERR_GROUP"                  9 8 9;
    Op                   "MPI_ERR_OP"                     10 9 10;
    Topology             "MPI_ERR_TOPOLOGY"               11 10 11;
    Dims                 "MPI_ERR_DIMS"                   12 11 12;
    Arg                  "MPI_ERR_ARG"                    13 12 13;
    Unknown              "MPI_ERR_UNKNOWN"                14 13 14;
    Truncate             "MPI_ERR_TRUNCATE"               15 14 15;
    Other                "MPI_ERR_OTHER"                  16 15 16;
    Intern               "MPI_ERR_INTERN"                 17 16 17;
    Pending              "MPI_ERR_PENDING"                19 18 18;
    InStatus             "MPI_ERR_IN_STATUS"              18 17 19;
    Access               "MPI_ERR_ACCESS"                 20 20 20;
    Amode                "MPI_ERR_AMODE"                  21 21 21;
    Assert               "MPI_ERR_ASSERT"                 22 53 22;
    BadFile              "MPI_ERR_BAD_FILE"               23 22 23;
    Base                 "MPI_ERR_BASE"                   24 46 24;
    Conversion           "MPI_ERR_CONVERSION"             25 23 25;
    Disp                 "MPI_ERR_DISP"                   26 52 26;
    DupDatarep           "MPI_ERR_DUP_DATAREP"            27 24 27;
    FileExists           "MPI_ERR_FILE_EXISTS"            28 25 28;
    FileInUse            "MPI_ERR_FILE_IN_USE"            29 26 29;
    File                 "MPI_ERR_FILE"                   30 27 30;
    InfoKey              "MPI_ERR_INFO_KEY"               31 29 31;
    InfoNokey            "MPI_ERR_INFO_NOKEY"             32 31 32;
    InfoValue            "MPI_ERR_INFO_VALUE"             33 30 33;
    Info                 "MPI_ERR_INFO"                   34 28 34;
    Io                   "MPI_ERR_IO"                     35 32 35;
    Keyval               "MPI_ERR_KEYVAL"                 36 48 36;
    Locktype             "MPI_ERR_LOCKTYPE"               37 47 37;
    Name                 "MPI_ERR_NAME"                   38 33 38;
    NoMem                "MPI_ERR_NO_MEM"                 39 34 39;
    NotSame              "MPI_ERR_NOT_SAME"               40 35 40;
    NoSpace              "MPI_ERR_NO_SPACE"               41 36 41;
    NoSuchFile           "MPI_ERR_NO_SUCH_FILE"           42 37 42;
    Port                 "MPI_ERR_PORT"                   43 38 43;
    Quota                "MPI_ERR_QUOTA"                  44 39 44;
    ReadOnly             "MPI_ERR_READ_ONLY"              45 40 45;
    RmaAttach            "MPI_ERR_RMA_ATTACH"             69 56 46;
    RmaConflict          "MPI_ERR_RMA_CONFLICT"           46 49 47;
    RmaRange             "MPI_ERR_RMA_RANGE"              68 55 48;
    RmaShared            "MPI_ERR_RMA_SHARED"             71 57 49;
    RmaSync              "MPI_ERR_RMA_SYNC"               47 50 50;
    Service              "MPI_ERR_SERVICE"                48 41 51;
    Size                 "MPI_ERR_SIZE"                   49 51 52;
    Spawn                "MPI_ERR_SPAWN"                  50 42 53;
    UnsupportedDatarep   "MPI_ERR_UNSUPPORTED_DATAREP"    51 43 54;
    UnsupportedOperation "MPI_ERR_UNSUPPORTED_OPERATION"  52 44 55;
    Win                  "MPI_ERR_WIN"                    53 45 56;
    RmaFlavor            "MPI_ERR_RMA_FLAVOR"             70 58 57;
}
