//! Figures and tables as data: what an analysis shows besides findings. Rendered as text, JSON or charts at the edge.

use partune_base::{CallPathId, GroupId, MetricId, PeId, RegionId, StringId};

use crate::results::AnalysisResult;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Bytes,
    /// A plain number of things.
    Count,
    /// A share or an efficiency, 1 is all.
    Ratio,
}

/// A named number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// snake_case; the key in JSON.
    pub name: &'static str,
    pub value: f64,
    pub unit: Unit,
}

/// A column of a table; all columns of a table have the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: &'static str,
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Number(Unit, Vec<f64>),
    Count(Vec<u64>),
    Pe(Vec<PeId>),
    Group(Vec<GroupId>),
    /// Regions: shown with name and location.
    Region(Vec<RegionId>),
    /// Constructs, each by a region of it: shown with the name that it has everywhere.
    Construct(Vec<RegionId>),
    /// Metrics: shown with name and unit.
    Metric(Vec<MetricId>),
    /// Call paths: shown with construct, location and path.
    Path(Vec<CallPathId>),
    /// Names that somebody gave: of nodes, of processors.
    Name(Vec<StringId>),
    /// Words of the house (names of bounds, gaps, roles), not text for people.
    Word(Vec<&'static str>),
}

/// A table; its name is a key at the top level of JSON, so it is unique over all analyses.
#[derive(Clone, Debug, PartialEq)]
pub struct DataTable {
    pub name: &'static str,
    pub columns: Vec<Column>,
}

/// What one analysis shows, as it declares it in [`crate::Analysis::shows`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The key in JSON under which its scalars stand, e.g. `efficiency`.
    pub name: &'static str,
    pub scalars: Vec<Scalar>,
    pub tables: Vec<DataTable>,
    /// Remarks that a reader needs to read the figures right (which variant of a formula, what was left out).
    pub notes: Vec<String>,
    /// What the figures are made from, where others calculate with it.
    pub result: Option<AnalysisResult>,
}

/// What the values of a column are: [`Values`] without the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Number(Unit),
    Count,
    Pe,
    Group,
    Region,
    Construct,
    Metric,
    Path,
    Name,
    Word,
}

/// The declaration of a table: the columns that it may have.
#[derive(Clone, Copy, Debug)]
pub struct TableShape {
    pub name: &'static str,
    pub columns: &'static [(&'static str, Shape)],
}

/// The declaration of a section: the scalars and tables that it may have. The schema of the JSON document is made from it.
#[derive(Clone, Copy, Debug)]
pub struct SectionShape {
    pub name: &'static str,
    pub scalars: &'static [(&'static str, Unit)],
    pub tables: &'static [TableShape],
}

impl Shape {
    pub(crate) const SECONDS: Shape = Shape::Number(Unit::Seconds);
    pub(crate) const BYTES: Shape = Shape::Number(Unit::Bytes);
    pub(crate) const RATIO: Shape = Shape::Number(Unit::Ratio);
    pub(crate) const PLAIN: Shape = Shape::Number(Unit::Count);
}

impl Section {
    /// The value of a scalar; none if it has no such one.
    pub fn scalar(&self, name: &str) -> Option<f64> {
        self.scalars.iter().find(|scalar| scalar.name == name).map(|scalar| scalar.value)
    }

    /// What of it no declaration has: `communication.bytes`. None if it is as declared.
    pub fn undeclared(&self, shapes: &[SectionShape]) -> Option<String> {
        let Some(shape) = shapes.iter().find(|shape| shape.name == self.name) else {
            return Some(self.name.to_owned());
        };
        let scalar = |it: &&Scalar| !shape.scalars.contains(&(it.name, it.unit));
        if let Some(scalar) = self.scalars.iter().find(scalar) {
            return Some(format!("{}.{}", self.name, scalar.name));
        }
        self.tables.iter().find_map(|table| {
            let Some(shape) = shape.tables.iter().find(|shape| shape.name == table.name) else {
                return Some(table.name.to_owned());
            };
            let column = |it: &&Column| !shape.columns.contains(&(it.name, it.values.shape()));
            table.columns.iter().find(column).map(|it| format!("{}.{}", table.name, it.name))
        })
    }
}

impl Scalar {
    pub fn new(name: &'static str, unit: Unit, value: f64) -> Scalar {
        Scalar { name, value, unit }
    }
}

impl Column {
    pub fn new(name: &'static str, values: Values) -> Column {
        Column { name, values }
    }

    pub fn bytes(name: &'static str, values: Vec<f64>) -> Column {
        Column::new(name, Values::Number(Unit::Bytes, values))
    }

    pub fn seconds(name: &'static str, values: Vec<f64>) -> Column {
        Column { name, values: Values::Number(Unit::Seconds, values) }
    }
}

impl Values {
    pub fn shape(&self) -> Shape {
        match self {
            Values::Number(unit, _) => Shape::Number(*unit),
            Values::Count(_) => Shape::Count,
            Values::Pe(_) => Shape::Pe,
            Values::Group(_) => Shape::Group,
            Values::Region(_) => Shape::Region,
            Values::Construct(_) => Shape::Construct,
            Values::Metric(_) => Shape::Metric,
            Values::Path(_) => Shape::Path,
            Values::Name(_) => Shape::Name,
            Values::Word(_) => Shape::Word,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Number(_, values) => values.len(),
            Values::Count(values) => values.len(),
            Values::Pe(values) => values.len(),
            Values::Group(values) => values.len(),
            Values::Region(values) | Values::Construct(values) => values.len(),
            Values::Metric(values) => values.len(),
            Values::Path(values) => values.len(),
            Values::Name(values) => values.len(),
            Values::Word(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
