//! Dense 32-bit ids. An id is the position of its row in a [`crate::Table`]; archives' own sparse ids never get past import.

/// Declares types of ids, with their documentation, as those of this crate are.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Stands for "none" or "unknown" in columns; never a position of a row.
            pub const NONE: Self = Self(u32::MAX);

            /// Whether this is a real id.
            pub fn is_some(self) -> bool {
                self != Self::NONE
            }

            /// This id, or `None` for [`Self::NONE`].
            pub fn some(self) -> Option<Self> {
                self.is_some().then_some(self)
            }
        }

        impl $crate::Id for $name {
            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u32(self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::serde::Deserialize::deserialize(from).map($name)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.is_some() { write!(f, "{}({})", stringify!($name), self.0) } else { write!(f, "{}(-)", stringify!($name)) }
            }
        }
    )+};
}

ids! {
    /// One stream of execution (OTF2: location).
    PeId,
    /// An operating-system process (OTF2: location group); PEs that share an address space.
    ProcessId,
    /// A set of PEs that act together (communicator, team, active set).
    GroupId,
    /// A function, construct or code block.
    RegionId,
    /// A node of the call-path tree.
    CallPathId,
    /// An RMA window or symmetric heap.
    WindowId,
    /// A measured quantity.
    MetricId,
    /// A file that was read, written or opened.
    FileId,
    /// What methods run on: a chare, an element of a chare array.
    ObjectId,
    /// An interned string.
    StringId,
}
