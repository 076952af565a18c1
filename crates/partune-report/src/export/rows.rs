//! Columns of a Parquet table in the making: values are collected for a row group, then written.

use std::io::Write;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Rows that are collected before they are written.
const GROUP: usize = 1 << 17;

/// A value of a row.
pub(super) enum Cell<'a> {
    Text(&'a str),
    Int(i32),
    Long(i64),
    Double(f64),
}

/// The values of a column since the last row group.
enum Values {
    Text(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Double(Vec<f64>),
}

/// A table being written.
pub(super) struct Rows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Values>,
    count: usize,
}

impl<W: Write + Send> Rows<W> {
    /// A table with a schema in Parquet's own language; all columns are required.
    pub(super) fn new(out: W, schema: &str) -> Result<Rows<W>> {
        let schema = parse_message_type(schema)?;
        let columns = schema
            .get_fields()
            .iter()
            .map(|field| match field.get_physical_type() {
                parquet::basic::Type::INT32 => Values::Int(Vec::new()),
                parquet::basic::Type::INT64 => Values::Long(Vec::new()),
                parquet::basic::Type::DOUBLE => Values::Double(Vec::new()),
                _ => Values::Text(Vec::new()),
            })
            .collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("partune {}", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Rows { file: SerializedFileWriter::new(out, schema.into(), properties.into())?, columns, count: 0 })
    }

    /// Adds a row: a cell for each column, of its type.
    pub(super) fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> Result<()> {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            match (column, cells.next()) {
                (Values::Text(values), Some(Cell::Text(value))) => values.push(ByteArray::from(value)),
                (Values::Int(values), Some(Cell::Int(value))) => values.push(value),
                (Values::Long(values), Some(Cell::Long(value))) => values.push(value),
                (Values::Double(values), Some(Cell::Double(value))) => values.push(value),
                _ => {
                    return Err(parquet::errors::ParquetError::General(
                        "a cell is missing, or not of its column's type".to_owned(),
                    ));
                }
            }
        }
        debug_assert!(cells.next().is_none(), "one cell a column");
        self.count += 1;
        if self.count == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for values in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Values::Text(values) => {
                    column.typed::<ByteArrayType>().write_batch(&std::mem::take(values), None, None)?
                }
                Values::Int(values) => column.typed::<Int32Type>().write_batch(&std::mem::take(values), None, None)?,
                Values::Long(values) => column.typed::<Int64Type>().write_batch(&std::mem::take(values), None, None)?,
                Values::Double(values) => {
                    column.typed::<DoubleType>().write_batch(&std::mem::take(values), None, None)?
                }
            };
            column.close()?;
        }
        group.close()?;
        self.count = 0;
        Ok(())
    }

    pub(super) fn close(mut self) -> Result<()> {
        self.flush()?;
        self.file.close()?;
        Ok(())
    }
}
