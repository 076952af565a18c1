//! What OTF2 has no record for, in attributes and properties of partune's own: which method ran on which object because of which message, and which ends of
//! messages belong together where order does not tell.
//!
//! An object is a property of the first process, an execution attributes of the enter of its method. Other tools pass over both.

use partune_trace::Trigger;

/// The attribute of an enter that says that it is an execution, see [`pack`].
pub(crate) const EXECUTION: (u32, &str) = (3, "PARTUNE::EXECUTION");
/// The attribute of a send, of a receive and of an execution: the number of the message.
pub(crate) const MATCHING: (u32, &str) = (4, "PARTUNE::MATCHING");
/// How the names of properties of objects begin; then their number.
const OBJECT: &str = "PARTUNE::OBJECT.";
/// No object.
const NONE: u32 = u32::MAX;

/// An execution in one number: its object, and why the method ran.
pub(crate) fn pack(object: u32, trigger: Trigger) -> u64 {
    u64::from(object) | (trigger as u64) << 32
}

/// The same back; none is the object of the highest number.
pub(crate) fn unpack(execution: u64) -> (Option<u32>, Trigger) {
    let trigger = Trigger::ALL.get((execution >> 32) as usize).copied().unwrap_or(Trigger::Call);
    (Some(execution as u32).filter(|object| *object != NONE), trigger)
}

/// The name of the property of an object.
pub(crate) fn property(number: u32) -> String {
    format!("{OBJECT}{number}")
}

/// The number of the object that a property is of.
pub(crate) fn number(property: &str) -> Option<u32> {
    property.strip_prefix(OBJECT)?.parse().ok()
}

/// What the property says: class, coordinates, and the PE that it belongs to, if to one: `Jacobi[2,3]`, `Main[]@0`.
pub(crate) fn text(class: &str, index: &[i32], home: Option<u32>) -> String {
    let index: Vec<String> = index.iter().map(i32::to_string).collect();
    let home = home.map_or_else(String::new, |pe| format!("@{pe}"));
    format!("{class}[{}]{home}", index.join(","))
}

/// The same back.
pub(crate) fn parse(text: &str) -> Option<(&str, Vec<i32>, Option<u32>)> {
    let (before, after) = text.rsplit_once(']')?;
    let (class, index) = before.rsplit_once('[')?;
    let index = index.split(',').filter(|it| !it.is_empty()).map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let home = if after.is_empty() { None } else { Some(after.strip_prefix('@')?.parse().ok()?) };
    Some((class, index, home))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (class, index, home) in
            [("Jacobi", vec![2, -3], None), ("Main", vec![], Some(0)), ("A<int[3]>", vec![i32::MIN; 6], Some(7))]
        {
            assert_eq!(parse(&text(class, &index, home)), Some((class, index, home)));
        }
        for wrong in ["", "A", "A[1", "A[x]", "A[1]@", "A[1]x", "A[1,99999999999]"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        for trigger in Trigger::ALL {
            assert_eq!(unpack(pack(7, trigger)), (Some(7), trigger));
            assert_eq!(unpack(pack(NONE, trigger)), (None, trigger));
        }
        assert_eq!((number(&property(9)), number("PARTUNE::OBJECT")), (Some(9), None));
    }
}
