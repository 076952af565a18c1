//! Predefined handles: numbers in MPICH and the standard interface, addresses of data in Open MPI.

use crate::{Abi, Kind};
use core::ffi::CStr;

/// Where the value of a predefined handle is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The value itself.
    Number(usize),
    /// The value is the address of this data symbol: what `dlsym` returns.
    AddressOf(&'static CStr),
}

macro_rules! handles {
    ($($variant:ident $kind:ident $name:literal $open_mpi:literal $mpich:literal $standard:literal;)*) => {
        /// A predefined handle. The name of a variant is that of the standard without its prefix.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Handle { $($variant),* }

        impl Handle {
            /// All, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in the MPI standard.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it stands for.
            pub const fn kind(self) -> Kind {
                match self { $(Self::$variant => Kind::$kind),* }
            }

            /// Where its value is in a library of this interface.
            pub const fn place(self, abi: Abi) -> Place {
                match abi {
                    Abi::OpenMpi => Place::AddressOf(match self { $(Self::$variant => $open_mpi),* }),
                    Abi::Mpich => Place::Number(match self { $(Self::$variant => $mpich),* }),
                    Abi::Standard => Place::Number(match self { $(Self::$variant => $standard),* }),
                }
            }

            /// Its value in a library of this interface; `symbol` finds the address of a data symbol, as `dlsym`
            /// does. None if the library lacks the symbol.
            pub fn value(self, abi: Abi, symbol: impl FnOnce(&CStr) -> Option<usize>) -> Option<usize> {
                match self.place(abi) {
                    Place::Number(value) => Some(value),
                    Place::AddressOf(name) => symbol(name),
                }
            }
        }
    };
}

// The sizes of `long`, `wchar_t` and `long double` are in MPICH's numbers; these are of 64-bit Linux.
handles! {
    CommNull             Comm       "MPI_COMM_NULL"            c"ompi_mpi_comm_null"             0x0400_0000 0x100;
    CommWorld            Comm       "MPI_COMM_WORLD"           c"ompi_mpi_comm_world"            0x4400_0000 0x101;
    CommSelf             Comm       "MPI_COMM_SELF"            c"ompi_mpi_comm_self"             0x4400_0001 0x102;
    GroupNull            Group      "MPI_GROUP_NULL"           c"ompi_mpi_group_null"            0x0800_0000 0x108;
    GroupEmpty           Group      "MPI_GROUP_EMPTY"          c"ompi_mpi_group_empty"           0x4800_0000 0x109;
    WinNull              Win        "MPI_WIN_NULL"             c"ompi_mpi_win_null"              0x2000_0000 0x110;
    FileNull             File       "MPI_FILE_NULL"            c"ompi_mpi_file_null"             0           0x118;
    MessageNull          Message    "MPI_MESSAGE_NULL"         c"ompi_message_null"              0x2c00_0000 0x128;
    MessageNoProc        Message    "MPI_MESSAGE_NO_PROC"      c"ompi_message_no_proc"           0x6c00_0000 0x129;
    InfoNull             Info       "MPI_INFO_NULL"            c"ompi_mpi_info_null"             0x1c00_0000 0x130;
    InfoEnv              Info       "MPI_INFO_ENV"             c"ompi_mpi_info_env"              0x5c00_0001 0x131;
    ErrhandlerNull       Errhandler "MPI_ERRHANDLER_NULL"      c"ompi_mpi_errhandler_null"       0x1400_0000 0x140;
    ErrorsAreFatal       Errhandler "MPI_ERRORS_ARE_FATAL"     c"ompi_mpi_errors_are_fatal"      0x5400_0000 0x141;
    ErrorsReturn         Errhandler "MPI_ERRORS_RETURN"        c"ompi_mpi_errors_return"         0x5400_0001 0x142;
    RequestNull          Request    "MPI_REQUEST_NULL"         c"ompi_request_null"              0x2c00_0000 0x180;

    OpNull               Op         "MPI_OP_NULL"              c"ompi_mpi_op_null"               0x1800_0000 0x20;
    Sum                  Op         "MPI_SUM"                  c"ompi_mpi_op_sum"                0x5800_0003 0x21;
    Min                  Op         "MPI_MIN"                  c"ompi_mpi_op_min"                0x5800_0002 0x22;
    Max                  Op         "MPI_MAX"                  c"ompi_mpi_op_max"                0x5800_0001 0x23;
    Prod                 Op         "MPI_PROD"                 c"ompi_mpi_op_prod"               0x5800_0004 0x24;
    Band                 Op         "MPI_BAND"                 c"ompi_mpi_op_band"               0x5800_0006 0x28;
    Bor                  Op         "MPI_BOR"                  c"ompi_mpi_op_bor"                0x5800_0008 0x29;
    Bxor                 Op         "MPI_BXOR"                 c"ompi_mpi_op_bxor"               0x5800_000a 0x2a;
    Land                 Op         "MPI_LAND"                 c"ompi_mpi_op_land"               0x5800_0005 0x30;
    Lor                  Op         "MPI_LOR"                  c"ompi_mpi_op_lor"                0x5800_0007 0x31;
    Lxor                 Op         "MPI_LXOR"                 c"ompi_mpi_op_lxor"               0x5800_0009 0x32;
    Minloc               Op         "MPI_MINLOC"               c"ompi_mpi_op_minloc"             0x5800_000b 0x38;
    Maxloc               Op         "MPI_MAXLOC"               c"ompi_mpi_op_maxloc"             0x5800_000c 0x39;
    Replace              Op         "MPI_REPLACE"              c"ompi_mpi_op_replace"            0x5800_000d 0x3c;
    NoOp                 Op         "MPI_NO_OP"                c"ompi_mpi_op_no_op"              0x5800_000e 0x3d;

    DatatypeNull         Datatype   "MPI_DATATYPE_NULL"        c"ompi_mpi_datatype_null"         0x0c00_0000 0x200;
    Aint                 Datatype   "MPI_AINT"                 c"ompi_mpi_aint"                  0x4c00_0843 0x201;
    Count                Datatype   "MPI_COUNT"                c"ompi_mpi_count"                 0x4c00_0845 0x202;
    Offset               Datatype   "MPI_OFFSET"               c"ompi_mpi_offset"                0x4c00_0844 0x203;
    Packed               Datatype   "MPI_PACKED"               c"ompi_mpi_packed"                0x4c00_010f 0x207;
    Short                Datatype   "MPI_SHORT"                c"ompi_mpi_short"                 0x4c00_0203 0x208;
    Int                  Datatype   "MPI_INT"                  c"ompi_mpi_int"                   0x4c00_0405 0x209;
    Long                 Datatype   "MPI_LONG"                 c"ompi_mpi_long"                  0x4c00_0807 0x20a;
    LongLong             Datatype   "MPI_LONG_LONG"            c"ompi_mpi_long_long_int"         0x4c00_0809 0x20b;
    UnsignedShort        Datatype   "MPI_UNSIGNED_SHORT"       c"ompi_mpi_unsigned_short"        0x4c00_0204 0x20c;
    Unsigned             Datatype   "MPI_UNSIGNED"             c"ompi_mpi_unsigned"              0x4c00_0406 0x20d;
    UnsignedLong         Datatype   "MPI_UNSIGNED_LONG"        c"ompi_mpi_unsigned_long"         0x4c00_0808 0x20e;
    UnsignedLongLong     Datatype   "MPI_UNSIGNED_LONG_LONG"   c"ompi_mpi_unsigned_long_long"    0x4c00_0819 0x20f;
    Float                Datatype   "MPI_FLOAT"                c"ompi_mpi_float"                 0x4c00_040a 0x210;
    CFloatComplex        Datatype   "MPI_C_FLOAT_COMPLEX"      c"ompi_mpi_c_float_complex"       0x4c00_0840 0x212;
    Double               Datatype   "MPI_DOUBLE"               c"ompi_mpi_double"                0x4c00_080b 0x214;
    CDoubleComplex       Datatype   "MPI_C_DOUBLE_COMPLEX"     c"ompi_mpi_c_double_complex"      0x4c00_1041 0x216;
    Logical              Datatype   "MPI_LOGICAL"              c"ompi_mpi_logical"               0x4c00_041d 0x218;
    Integer              Datatype   "MPI_INTEGER"              c"ompi_mpi_integer"               0x4c00_041b 0x219;
    Real                 Datatype   "MPI_REAL"                 c"ompi_mpi_real"                  0x4c00_041c 0x21a;
    Complex              Datatype   "MPI_COMPLEX"              c"ompi_mpi_cplex"                 0x4c00_081e 0x21b;
    DoublePrecision      Datatype   "MPI_DOUBLE_PRECISION"     c"ompi_mpi_dblprec"               0x4c00_081f 0x21c;
    DoubleComplex        Datatype   "MPI_DOUBLE_COMPLEX"       c"ompi_mpi_dblcplex"              0x4c00_1022 0x21d;
    LongDouble           Datatype   "MPI_LONG_DOUBLE"          c"ompi_mpi_long_double"           0x4c00_100c 0x220;
    CLongDoubleComplex   Datatype   "MPI_C_LONG_DOUBLE_COMPLEX" c"ompi_mpi_c_long_double_complex" 0x4c00_2042 0x224;
    FloatInt             Datatype   "MPI_FLOAT_INT"            c"ompi_mpi_float_int"             0x8c00_0000 0x228;
    DoubleInt            Datatype   "MPI_DOUBLE_INT"           c"ompi_mpi_double_int"            0x8c00_0001 0x229;
    LongInt              Datatype   "MPI_LONG_INT"             c"ompi_mpi_long_int"              0x8c00_0002 0x22a;
    TwoInt               Datatype   "MPI_2INT"                 c"ompi_mpi_2int"                  0x4c00_0816 0x22b;
    ShortInt             Datatype   "MPI_SHORT_INT"            c"ompi_mpi_short_int"             0x8c00_0003 0x22c;
    LongDoubleInt        Datatype   "MPI_LONG_DOUBLE_INT"      c"ompi_mpi_longdbl_int"           0x8c00_0004 0x22d;
    TwoReal              Datatype   "MPI_2REAL"                c"ompi_mpi_2real"                 0x4c00_0821 0x230;
    TwoDoublePrecision   Datatype   "MPI_2DOUBLE_PRECISION"    c"ompi_mpi_2dblprec"              0x4c00_1023 0x231;
    TwoInteger           Datatype   "MPI_2INTEGER"             c"ompi_mpi_2integer"              0x4c00_0820 0x232;
    CBool                Datatype   "MPI_C_BOOL"               c"ompi_mpi_c_bool"                0x4c00_013f 0x238;
    CxxBool              Datatype   "MPI_CXX_BOOL"             c"ompi_mpi_cxx_bool"              0x4c00_0133 0x239;
    Wchar                Datatype   "MPI_WCHAR"                c"ompi_mpi_wchar"                 0x4c00_040e 0x23c;
    Int8                 Datatype   "MPI_INT8_T"               c"ompi_mpi_int8_t"                0x4c00_0137 0x240;
    Uint8                Datatype   "MPI_UINT8_T"              c"ompi_mpi_uint8_t"               0x4c00_013b 0x241;
    Char                 Datatype   "MPI_CHAR"                 c"ompi_mpi_char"                  0x4c00_0101 0x243;
    SignedChar           Datatype   "MPI_SIGNED_CHAR"          c"ompi_mpi_signed_char"           0x4c00_0118 0x244;
    UnsignedChar         Datatype   "MPI_UNSIGNED_CHAR"        c"ompi_mpi_unsigned_char"         0x4c00_0102 0x245;
    Byte                 Datatype   "MPI_BYTE"                 c"ompi_mpi_byte"                  0x4c00_010d 0x247;
    Int16                Datatype   "MPI_INT16_T"              c"ompi_mpi_int16_t"               0x4c00_0238 0x248;
    Uint16               Datatype   "MPI_UINT16_T"             c"ompi_mpi_uint16_t"              0x4c00_023c 0x249;
    Int32                Datatype   "MPI_INT32_T"              c"ompi_mpi_int32_t"               0x4c00_0439 0x250;
    Uint32               Datatype   "MPI_UINT32_T"             c"ompi_mpi_uint32_t"              0x4c00_043d 0x251;
    Int64                Datatype   "MPI_INT64_T"              c"ompi_mpi_int64_t"               0x4c00_083a 0x258;
    Uint64               Datatype   "MPI_UINT64_T"             c"ompi_mpi_uint64_t"              0x4c00_083e 0x259;
    Character            Datatype   "MPI_CHARACTER"            c"ompi_mpi_character"             0x4c00_011a 0x2c3;
    Integer1             Datatype   "MPI_INTEGER1"             c"ompi_mpi_integer1"              0x4c00_012d 0x2c1;
    Integer2             Datatype   "MPI_INTEGER2"             c"ompi_mpi_integer2"              0x4c00_022f 0x2c9;
    Integer4             Datatype   "MPI_INTEGER4"             c"ompi_mpi_integer4"              0x4c00_0430 0x2d1;
    Integer8             Datatype   "MPI_INTEGER8"             c"ompi_mpi_integer8"              0x4c00_0831 0x2d9;
    Real4                Datatype   "MPI_REAL4"                c"ompi_mpi_real4"                 0x4c00_0427 0x2d2;
    Real8                Datatype   "MPI_REAL8"                c"ompi_mpi_real8"                 0x4c00_0829 0x2da;
    Real16               Datatype   "MPI_REAL16"               c"ompi_mpi_real16"                0x4c00_102b 0x2e2;
    Complex8             Datatype   "MPI_COMPLEX8"             c"ompi_mpi_complex8"              0x4c00_0828 0x2db;
    Complex16            Datatype   "MPI_COMPLEX16"            c"ompi_mpi_complex16"             0x4c00_102a 0x2e3;
    Complex32            Datatype   "MPI_COMPLEX32"            c"ompi_mpi_complex32"             0x4c00_202c 0x2eb;
}
