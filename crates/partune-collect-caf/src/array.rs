//! The arrays that gfortran passes: how many bytes a section has, and whether they lie without holes.
//!
//! Source: `libgfortran.h` of GCC 8 and later, where a descriptor is an address, an offset, the type, a span, and three words for each
//! dimension. Before GCC 8 it is another one; those programs are not recorded rightly.

/// `gfc_descriptor_t` without its dimensions.
#[repr(C)]
struct Descriptor {
    base: usize,
    offset: usize,
    element: usize,
    version: i32,
    rank: i8,
    kind: i8,
    attribute: i16,
    span: isize,
}

/// One dimension: elements from one to the next, and its bounds.
#[repr(C)]
struct Dimension {
    stride: isize,
    lower: isize,
    upper: isize,
}

impl Dimension {
    fn extent(&self) -> usize {
        (self.upper - self.lower + 1).max(0) as usize
    }
}

/// An array, or a scalar, of the program.
#[derive(Clone, Copy)]
pub(crate) struct Array {
    /// Bytes of an element.
    pub(crate) element: usize,
    pub(crate) elements: usize,
    pub(crate) is_scalar: bool,
    /// Elements follow each other without holes.
    pub(crate) is_dense: bool,
}

impl Array {
    /// Reads the descriptor at an address; none if there is none.
    pub(crate) fn at(descriptor: usize) -> Option<Array> {
        // SAFETY: the program's descriptor, if any.
        let about = unsafe { (descriptor as *const Descriptor).as_ref()? };
        let first = descriptor + size_of::<Descriptor>();
        // SAFETY: as many dimensions follow as it says.
        let dimensions = unsafe { std::slice::from_raw_parts(first as *const Dimension, about.rank.max(0) as usize) };
        let (mut elements, mut is_dense) = (1_usize, true);
        for dimension in dimensions {
            is_dense &= dimension.extent() == 1 || dimension.stride == elements as isize;
            elements = elements.saturating_mul(dimension.extent());
        }
        Some(Array { element: about.element, elements, is_scalar: dimensions.is_empty(), is_dense })
    }

    pub(crate) fn bytes(self) -> u64 {
        self.element.saturating_mul(self.elements) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Section {
        about: Descriptor,
        dimensions: [Dimension; 2],
    }

    fn section(rank: i8, dimensions: [(isize, isize, isize); 2]) -> (u64, bool) {
        let about = Descriptor { base: 0, offset: 0, element: 8, version: 0, rank, kind: 3, attribute: 0, span: 8 };
        let section =
            Section { about, dimensions: dimensions.map(|(stride, lower, upper)| Dimension { stride, lower, upper }) };
        let array = Array::at(&raw const section as usize).expect("it is there");
        assert_eq!(array.is_scalar, rank == 0);
        (array.bytes(), array.is_dense)
    }

    #[test]
    fn sections_have_the_bytes_of_their_elements() {
        assert_eq!(section(0, [(7, 7, 7); 2]), (8, true));
        assert_eq!(section(1, [(1, 2, 6), (0, 0, 0)]), (40, true));
        assert_eq!(section(1, [(2, 1, 3), (0, 0, 0)]), (24, false));
        // a(:, 3) and a(3, :) of a(10, 4), a(2:3, :), and all of it.
        assert_eq!(section(1, [(1, 1, 10), (0, 0, 0)]), (80, true));
        assert_eq!(section(1, [(10, 1, 4), (0, 0, 0)]), (32, false));
        assert_eq!(section(2, [(1, 2, 3), (10, 1, 4)]), (64, false));
        assert_eq!(section(2, [(1, 1, 10), (10, 1, 4)]), (320, true));
        // Nothing, and one element that a stride says nothing of.
        assert_eq!(section(1, [(1, 1, 0), (0, 0, 0)]), (0, true));
        assert_eq!(section(1, [(5, 1, 1), (0, 0, 0)]), (8, true));
        assert!(Array::at(0).is_none());
    }
}
