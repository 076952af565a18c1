//! The number of a call path.

/// A node of the tree: a frame or region called from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path(pub(crate) u32);

impl Path {
    pub(crate) const NONE: Path = Path(u32::MAX);
}
