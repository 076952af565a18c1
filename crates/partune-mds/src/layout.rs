//! Where each element of each array is: arrays one behind the other, each at a line of its own, unless the model says otherwise.

use partune_expr::{Environment, Expr, Number, Symbol};
use partune_model::model::{Data, Model};
use partune_model::{Diagnostic, Span};

use crate::Options;

/// All arrays, in the order of the model.
#[derive(Debug)]
pub(crate) struct Arrays {
    pub(crate) all: Vec<Array>,
    /// Elements of all of them.
    pub(crate) elements: u64,
    /// Bytes of a line: 2 to this power.
    pub(crate) shift: u32,
    /// The number of the first line that has an element, and how many there are up to the last one.
    pub(crate) first_line: u64,
    pub(crate) lines: u64,
}

#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<Dimension>,
    /// Bytes of an element, and the address of the first one.
    pub(crate) bytes: u64,
    pub(crate) address: u64,
    /// The number of the first element among those of all arrays.
    pub(crate) first: u64,
}

/// A dimension: its indices, and how far apart neighbours are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    pub(crate) lo: i64,
    pub(crate) length: u64,
    /// In bytes.
    pub(crate) apart: u64,
    /// In numbers of elements.
    pub(crate) number: u64,
}

/// The value of an expression without parameters.
pub(crate) fn number(model: &Model, e: &Expr, span: Span) -> Result<Number, Diagnostic> {
    e.eval(&Tables(model)).map_err(|reason| Diagnostic::error(span, reason.to_string()))
}

pub(crate) fn int(model: &Model, e: &Expr, span: Span) -> Result<i64, Diagnostic> {
    e.eval_int(&Tables(model)).map_err(|reason| Diagnostic::error(span, reason.to_string()))
}

struct Tables<'a>(&'a Model);

impl Environment for Tables<'_> {
    fn symbol(&self, _: &Symbol) -> Option<Number> {
        None
    }

    fn table(&self, name: &str, index: &[i64]) -> Option<Number> {
        self.0.entry(name, index)
    }
}

/// Places all arrays.
pub(crate) fn place(model: &Model, options: &Options) -> Result<Arrays, Diagnostic> {
    let machine = &model.application.machine;
    let line = int(model, &machine.line, machine.span)?;
    if !(1..=4096).contains(&line) || !(line as u64).is_power_of_two() {
        return Err(Diagnostic::error(
            machine.span,
            format!("lines of {line} bytes: a power of two is needed, up to 4096"),
        ));
    }
    let line = line as u64;
    let mut found = Vec::new();
    let mut elements = 0_u64;
    for data in &model.application.data {
        let shape = Shape::of(model, data)?;
        let own = shape.count.filter(|own| elements.saturating_add(*own) <= options.max_elements);
        let Some(own) = own else {
            let text = format!("more than {} elements altogether", options.max_elements);
            return Err(Diagnostic::error(data.span, text)
                .help("make the domain smaller: what a model shows, it shows on a small one"));
        };
        found.push((data, shape, elements));
        elements += own;
    }
    let mut placed: Vec<Option<Array>> = found.iter().map(|_| None).collect();
    let mut taken: Vec<(u64, u64, usize)> = Vec::new();
    let mut end = 0_u64;
    for index in 0..found.len() {
        if placed[index].is_some() {
            continue;
        }
        let (data, ..) = &found[index];
        let together: Vec<usize> = match data.layout.group {
            None => vec![index],
            Some(_) => (index..found.len()).filter(|other| found[*other].0.layout.group == data.layout.group).collect(),
        };
        let address = first_address(model, data, line, end)?;
        let bytes = put(&found, &together, address, model, &mut placed)?;
        let too_far =
            || Diagnostic::error(data.span, format!("`{}` ends beyond the addresses that there are", data.name));
        let last = address.checked_add(bytes).filter(|last| *last < 1 << 62).ok_or_else(too_far)?;
        if let Some((.., other)) = taken.iter().find(|(begin, until, _)| address < *until && *begin < last) {
            let text = format!("`{}` and `{}` lie on each other", found[*other].0.name, data.name);
            return Err(Diagnostic::error(data.span, text).help("give them other addresses with `base`"));
        }
        if bytes > 0 {
            taken.push((address, last, index));
            end = end.max(last);
        }
    }
    let shift = line.trailing_zeros();
    let first_line = taken.iter().map(|it| it.0 >> shift).min().unwrap_or(0);
    let lines = taken.iter().map(|it| ((it.1 - 1) >> shift) + 1).max().unwrap_or(0) - first_line;
    if lines > options.max_lines {
        let text = format!("{lines} lines from the first element to the last; the limit is {}", options.max_lines);
        let span = model.application.data.last().map_or(Span::default(), |data| data.span);
        return Err(Diagnostic::error(span, text).help("let `base` be nearer, or the domain smaller"));
    }
    let arrays = placed.into_iter().map(|array| array.expect("each is put with its group")).collect();
    Ok(Arrays { all: arrays, elements, shift, first_line, lines })
}

/// An array before it has a place.
struct Shape {
    ranges: Vec<(i64, u64)>,
    bytes: u64,
    /// None: more than can be counted.
    count: Option<u64>,
    /// Elements whose room each dimension takes along itself, padded.
    rooms: Vec<u64>,
}

impl Shape {
    fn of(model: &Model, data: &Data) -> Result<Shape, Diagnostic> {
        let bytes = int(model, &data.bytes, data.span)?;
        if !(1..=1 << 20).contains(&bytes) {
            return Err(Diagnostic::error(data.span, format!("elements of {bytes} bytes")));
        }
        let mut ranges = Vec::new();
        for (lo, hi) in &data.ranges {
            let (lo, hi) = (int(model, lo, data.span)?, int(model, hi, data.span)?);
            let length = hi.checked_sub(lo).and_then(|gap| gap.checked_add(1));
            let Some(length) = length else {
                return Err(Diagnostic::error(data.span, format!("indices {lo} to {hi} are too many")));
            };
            ranges.push((lo, length.max(0) as u64));
        }
        let count = ranges.iter().try_fold(1_u64, |count, (_, length)| count.checked_mul(*length));
        let mut rooms: Vec<u64> = ranges.iter().map(|(_, length)| *length).collect();
        if let Some((from, to, span)) = &data.layout.pad {
            let (from, to) = (int(model, from, *span)?, int(model, to, *span)?);
            let along = if data.layout.column_major { rooms.first_mut() } else { rooms.last_mut() };
            match along {
                Some(room) if i64::try_from(*room) == Ok(from) && (from..=1 << 32).contains(&to) => *room = to as u64,
                _ => {
                    let text = format!("`{}` cannot be padded from {from} to {to}", data.name);
                    return Err(Diagnostic::error(*span, text));
                }
            }
        }
        Ok(Shape { ranges, bytes: bytes as u64, count, rooms })
    }
}

/// Where an array begins: where the model says, else at the next line, or the next multiple of `align`.
fn first_address(model: &Model, data: &Data, line: u64, end: u64) -> Result<u64, Diagnostic> {
    let positive = |e: &Expr, span: Span, least: i64| match int(model, e, span)? {
        value if value >= least && value < 1 << 48 => Ok(value as u64),
        value => Err(Diagnostic::error(span, format!("{value} is no such address: {least} to 2^48"))),
    };
    let align = match &data.layout.align {
        Some((e, span)) => positive(e, *span, 1)?,
        None => line,
    };
    match &data.layout.base {
        Some((e, span)) => positive(e, *span, 0),
        None => Ok(end.div_ceil(align).saturating_mul(align)),
    }
}

/// Gives the arrays of a group, or one array, their places; gives the bytes that they take.
fn put(
    found: &[(&Data, Shape, u64)],
    together: &[usize],
    address: u64,
    model: &Model,
    placed: &mut [Option<Array>],
) -> Result<u64, Diagnostic> {
    let grouped = found[together[0]].0.layout.group.is_some();
    let too_many = |data: &Data| Diagnostic::error(data.span, format!("`{}` has too many bytes", data.name));
    // How far neighbours are apart in each dimension, and the bytes of all; of a group, of one record.
    let mut aparts = Vec::new();
    let mut record = 0_u64;
    for &index in together {
        let (data, shape, _) = &found[index];
        let mut apart = vec![0; shape.rooms.len()];
        let mut bytes = shape.bytes;
        let order: Vec<usize> = if data.layout.column_major {
            (0..shape.rooms.len()).collect()
        } else {
            (0..shape.rooms.len()).rev().collect()
        };
        for dimension in order {
            apart[dimension] = bytes;
            // The record of a group has all dimensions but the first.
            if !grouped || dimension > 0 {
                bytes = bytes.checked_mul(shape.rooms[dimension]).ok_or_else(|| too_many(data))?;
            }
        }
        aparts.push((record, apart));
        record = record.checked_add(bytes).ok_or_else(|| too_many(data))?;
    }
    let (first, shape, _) = &found[together[0]];
    let mut total = record;
    if grouped {
        if let Some((e, span)) = &first.layout.align {
            let align = int(model, e, *span)?.max(1) as u64;
            record = record.div_ceil(align).saturating_mul(align);
        }
        let records = shape.ranges.first().map_or(1, |(_, length)| *length);
        total = record.checked_mul(records).ok_or_else(|| too_many(first))?;
    }
    for (&index, (offset, mut apart)) in together.iter().zip(aparts) {
        let (data, shape, number) = &found[index];
        if grouped {
            if shape.ranges.first() != found[together[0]].1.ranges.first() {
                let text = format!(
                    "`{}` and `{}` have other first indices, and cannot have records together",
                    first.name, data.name
                );
                return Err(Diagnostic::error(data.span, text));
            }
            if let Some(apart) = apart.first_mut() {
                *apart = record;
            }
        }
        let mut numbers = vec![1; shape.ranges.len()];
        for dimension in (1..numbers.len()).rev() {
            numbers[dimension - 1] = u64::saturating_mul(numbers[dimension], shape.ranges[dimension].1.max(1));
        }
        let dimension = |at: usize| Dimension {
            lo: shape.ranges[at].0,
            length: shape.ranges[at].1,
            apart: apart[at],
            number: numbers[at],
        };
        placed[index] = Some(Array {
            name: data.name.clone(),
            dimensions: (0..numbers.len()).map(dimension).collect(),
            bytes: shape.bytes,
            address: address.saturating_add(offset),
            first: *number,
        });
    }
    Ok(total)
}
