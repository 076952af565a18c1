//! `partune model`: contention models in PAMELA: check, format, estimate, simulate, decide, follow data, tune, calibrate, extract, emit.

mod breakdown;
mod calibrate;
mod decide;
mod extract;
mod limits;
mod show;
mod tune;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};
use partune_expr::{Number, Rat};
use partune_mds::follow;
use partune_model::ast::File;
use partune_model::decide::decide;
use partune_model::emit::{Language, emit};
use partune_model::estimate::{Bounds, ClosedForm, closed_form, numbers};
use partune_model::model::{Alternative, Model};
use partune_model::plan::with_plans;
use partune_model::simulate::{Options, Outcome, Ties, break_down, record, simulate};
use partune_model::{Diagnostic, Files, Severity, Values, format, is_quantity, lower, parse, quantity, trace};
use partune_report::{data_document, data_schema, data_text, plural};
use serde_json::json;

use crate::commands::size::count;
use crate::output;

/// Predict a program from a model of its parallelism and of the machine's resources.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model estimate pipeline.pam -D S=8 -D N=100 -D tc=2\n  \
                        partune model simulate adi.pam -D N=512 -D P=8 -D tf=1 -D tm=4 --alt pipelined\n  \
                        partune model data crash.pam -D P=8\n  \
                        partune model tune crash.pam --try 'P = 8'\n  \
                        partune model emit adi.pam -D P=8 --as rust")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    limits: limits::Limits,
}

#[derive(Subcommand)]
enum Action {
    /// Say all that is wrong with a model
    Check(Check),
    /// Print a model in standard form
    Fmt(Fmt),
    /// Bounds on the time, as formulas and, where all parameters are given, as numbers
    Estimate(Estimate),
    /// Run the model: time, utilisation, queues
    Simulate(Simulate),
    /// When is which alternative best; which is for each phase of a plan, with redistributions of data between them
    Decide(decide::Decide),
    /// Follow the data of the model: working sets, misses, false sharing, what flows, and where the time goes
    Data(Data),
    /// Rank changes of the model, such as other layouts, owners, schedules or machines, by the time that is predicted
    Tune(tune::Tune),
    /// Fit what the classes of work in a model cost to a recorded run, and say what the model leaves unexplained
    Calibrate(calibrate::Calibrate),
    /// Write a model of a recorded run: its phases, what each PE works in them, what they send each other
    Extract(extract::Extract),
    /// Write a function that chooses the best alternative
    Emit(Emit),
}

#[derive(clap::Args)]
struct Input {
    /// The model: a file that ends in .pam
    file: PathBuf,
    /// The value of a parameter
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    define: Vec<(String, Rat)>,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model check pipeline.pam -D S=8")]
struct Check {
    #[command(flatten)]
    input: Input,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model fmt --write pipeline.pam")]
struct Fmt {
    /// The model
    file: PathBuf,
    /// Replace the file
    #[arg(long)]
    write: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model estimate pipeline.pam -D S=8 -D N=100 -D tc=2")]
struct Estimate {
    #[command(flatten)]
    input: Input,
    /// Only this alternative
    #[arg(long, value_name = "NAME")]
    alt: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model simulate adi.pam -D N=512 -D P=8 -D tf=1 -D tm=4 --alt pipelined")]
struct Simulate {
    #[command(flatten)]
    input: Input,
    /// The alternative to run; else `main`, else the only one
    #[arg(long, value_name = "NAME")]
    alt: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Which of several events at the same time comes first
    #[arg(long, value_enum, default_value = "program")]
    ties: TieName,
    /// What random times and ties follow from: the same number, the same run
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = count::<u64>(0))]
    seed: u64,
    /// Say where the time went: by process, by resource, and along the chain that decided the makespan
    #[arg(long)]
    breakdown: bool,
    /// Write what happened as an archive that `partune analyze` reads; a unit of time is a second
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    /// Give up after so many steps of processes
    #[arg(long, default_value_t = Options::default().max_steps, value_parser = count::<u64>(0))]
    max_steps: u64,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model data crash.pam -D P=8 -D pad=8")]
struct Data {
    #[command(flatten)]
    followed: Followed,
    /// Write the run as an archive that `partune analyze` reads, as one of threads
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
}

/// A model that is followed, and how that is told.
#[derive(clap::Args)]
struct Followed {
    /// The model: a file that ends in .pam
    #[arg(index = 1, required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// The value of a parameter
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    define: Vec<(String, Rat)>,
    /// The alternative to follow; else `main`, else the only one
    #[arg(long, value_name = "NAME")]
    alt: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model emit adi.pam -D P=8 --as rust")]
struct Emit {
    #[command(flatten)]
    input: Input,
    /// Compare only these alternatives
    #[arg(long, value_name = "NAME")]
    alt: Vec<String>,
    /// The language
    #[arg(long = "as", value_enum)]
    language: LanguageName,
}

#[derive(Clone, Copy, ValueEnum)]
enum TieName {
    Program,
    Reverse,
    Random,
}

#[derive(Clone, Copy, ValueEnum)]
enum LanguageName {
    Rust,
    C,
    Python,
}

fn definition(text: &str) -> Result<(String, Rat), String> {
    let Some((name, value)) = text.split_once('=') else { return Err(format!("{text} is not NAME=VALUE")) };
    let value = quantity(value.trim()).ok_or_else(|| {
        if is_quantity(value.trim()) {
            format!("{value} is too large or too small: a number has at most 38 digits")
        } else {
            format!("{value} is no number, such as 512, 1.5e-6, 3/4 or 20us; times are seconds")
        }
    })?;
    Ok((name.trim().to_owned(), value))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    args.limits.watch();
    match &args.action {
        Action::Check(args) => check(args),
        Action::Fmt(args) => fmt(args),
        Action::Estimate(args) => estimate(args),
        Action::Simulate(args) => run_simulation(args),
        Action::Decide(args) => decide::run(args),
        Action::Data(args) => run_data(args),
        Action::Tune(args) => tune::run(args),
        Action::Calibrate(args) => calibrate::run(args),
        Action::Extract(args) => extract::run(args),
        Action::Emit(args) => run_emission(args),
    }
}

/// Makes a model of a syntax tree, and says what is wrong.
type Reads = fn(&str, &File, &Values, Files<'_>) -> (Option<Model>, Vec<Diagnostic>);

/// A model's text, and how to read it with more or fewer values.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn read(path: &Path) -> anyhow::Result<Source> {
        let remedy =
            "remedy: give a model in PAMELA, a file that ends in .pam; docs/model/language.md has the language";
        let bytes = std::fs::read(path).with_context(|| format!("{}: cannot be read\n  {remedy}", path.display()))?;
        let text = String::from_utf8(bytes)
            .ok()
            .with_context(|| format!("{}: no text in UTF-8\n  {remedy}", path.display()))?;
        Ok(Source { path: path.to_owned(), text })
    }

    /// The model, after telling all that is wrong; fails if something is.
    fn model(&self, values: &Values) -> anyhow::Result<Model> {
        self.read_by(lower, values)
    }

    /// The same by what reads a syntax tree.
    fn read_by(&self, reads: Reads, values: &Values) -> anyhow::Result<Model> {
        let files = self.files();
        let (file, mut diagnostics) = parse(&self.text);
        let failed = partune_model::has_errors(&diagnostics);
        let (model, more) = reads(&self.text, &file, values, &files);
        // What was not read is not missed: of a file with errors of syntax, unknown names are not told.
        diagnostics.extend(more.into_iter().filter(|one| !failed || !one.about_names()));
        for diagnostic in &diagnostics {
            output::note(&show::diagnostic(diagnostic, &self.text, &self.path));
        }
        model.filter(|_| !failed).ok_or_else(|| {
            let errors = diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
            anyhow::anyhow!("{}: {}", self.path.display(), plural(errors, "error", "errors"))
        })
    }

    /// Reads files that the model names, which lie beside it.
    fn files(&self) -> impl Fn(&str) -> Result<String, String> + use<> {
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        move |name: &str| read_table(&folder, name)
    }

    /// The model without values, where it can be read so: what partitions a graph cannot.
    fn open(&self) -> Option<Model> {
        lower(&self.text, &parse(&self.text).0, &Values::new(), &self.files()).0
    }

    /// The file as it was named.
    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// The name of the file, without its ending.
    fn name(&self) -> String {
        self.path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// What a reading of an alternative is called.
    fn title(&self, alternative: &Alternative) -> String {
        if alternative.name == "main" { self.name() } else { alternative.name.clone() }
    }

    /// Tells what is wrong, with the lines it is about; the error says only that something was.
    fn failed(&self, diagnostic: &Diagnostic) -> anyhow::Error {
        output::note(&show::diagnostic(diagnostic, &self.text, &self.path));
        anyhow::anyhow!("{}: 1 error", self.path.display())
    }
}

impl Input {
    fn values(&self) -> Values {
        self.define.iter().cloned().collect()
    }

    fn source(&self) -> anyhow::Result<Source> {
        Source::read(&self.file)
    }

    /// The values given, and defaults of the others.
    fn complete(&self, source: &Source) -> Values {
        let mut values = partune_model::defaults(&parse(&source.text).0, &self.values());
        values.extend(self.values());
        values
    }
}

impl Followed {
    /// None if only the schema is wanted.
    fn input(&self) -> Option<Input> {
        let file = self.file.as_ref().filter(|_| !self.schema)?;
        Some(Input { file: file.clone(), define: self.define.clone() })
    }
}

/// A file that a model names. Whoever wrote the model chose it, so it must be a file, and end.
fn read_table(folder: &Path, name: &str) -> Result<String, String> {
    let bytes = partune_files::read_regular(&folder.join(name)).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn check(args: &Check) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let model = source.read_by(partune_model::check, &args.input.values())?;
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    output::print(&format!(
        "{}: no errors; {}, {}, {}\n",
        source.path.display(),
        count(model.params.len(), "parameter"),
        count(model.resources.len(), "resource"),
        count(model.alternatives.len(), "term"),
    ))
}

fn fmt(args: &Fmt) -> anyhow::Result<()> {
    let source = Source::read(&args.file)?;
    let Some(text) = format(&source.text) else {
        bail!("{}: partune model check says what is wrong", args.file.display())
    };
    if args.write {
        return std::fs::write(&args.file, text).with_context(|| format!("{}: cannot be written", args.file.display()));
    }
    output::print_source(&text)
}

/// The alternatives that are meant.
fn chosen<'a>(model: &'a Model, name: Option<&str>) -> anyhow::Result<Vec<&'a Alternative>> {
    let Some(name) = name else { return Ok(model.alternatives.iter().collect()) };
    let wrong = || format!("there is no alternative {name}\n  remedy: give one of these with --alt: {}", names(model));
    Ok(vec![model.alternative(name).with_context(wrong)?])
}

fn names(model: &Model) -> String {
    model.alternatives.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn estimate(args: &Estimate) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let values = args.input.complete(&source);
    let given = source.model(&values)?;
    let all_given = given.open().next().is_none();
    // The formula is of open parameters, unless only some are given: then of those that are left.
    let general = if all_given { source.open() } else { None }.unwrap_or_else(|| given.clone());
    let mut text = String::new();
    let mut list = Vec::new();
    for alternative in chosen(&given, args.alt.as_deref()).with_context(|| source.shown())? {
        let Some(open) = general.alternative(&alternative.name) else { continue };
        let form = closed_form(&general, &open.term);
        let found = if all_given {
            // With numbers some forms close that do not without.
            let own = (!form.is_closed()).then(|| closed_form(&given, &alternative.term));
            let (form, of) = own.as_ref().map_or((&form, &general), |own| (own, &given));
            Some(numbers(form, of, &given, &alternative.term).map_err(|error| source.failed(&error))?)
        } else {
            None
        };
        if args.json {
            let bounds = found.as_ref().map(|it| &it.bounds);
            list.push(estimate_json(&alternative.name, &form, &general, bounds));
        } else {
            show::estimate(&mut text, &alternative.name, &form, &general, found.as_ref());
        }
    }
    if args.json {
        let single = if list.len() == 1 { list.remove(0) } else { json!({ "alternatives": list }) };
        return output::print(&format!("{single:#}\n"));
    }
    output::print(&text)
}

fn number(value: Number) -> serde_json::Value {
    match value {
        Number::Exact(value) if value.is_integer() => match i64::try_from(value.num()) {
            Ok(value) => json!(value),
            Err(_) => json!(value.to_f64()),
        },
        value => json!(value.to_f64()),
    }
}

/// A formula is there if it is one of the cost, for all values that the assumptions allow; what is only not above it is apart.
fn estimate_json(name: &str, form: &ClosedForm, model: &Model, bounds: Option<&Bounds>) -> serde_json::Value {
    let [basic, head_tail, upper] = form.printed(model);
    let closed = |formula: &str| form.is_closed().then(|| formula.to_owned());
    let weaker = |formula: &str| (!form.is_closed()).then(|| formula.to_owned());
    let upper = (!form.upper.is_undefined()).then_some(upper);
    let mut document = json!({
        "name": name,
        "closed_form": closed(&head_tail),
        "closed_forms": { "basic": closed(&basic), "head_tail": closed(&head_tail), "upper": upper.as_ref().filter(|_| !form.random) },
        "at_least": { "basic": weaker(&basic), "head_tail": weaker(&head_tail) },
        "of_means_form": upper.as_ref().filter(|_| form.random),
        "random": form.random,
        "awaits": form.awaits,
        "assumptions": assumptions(model),
        "weaker": form.weaker,
    });
    if let (Some(bounds), Some(fields)) = (bounds, document.as_object_mut()) {
        let (bound, means) = if form.random { (None, Some(bounds.upper)) } else { (Some(bounds.upper), None) };
        fields.insert("basic".to_owned(), number(bounds.basic));
        fields.insert("head_tail".to_owned(), number(bounds.head_tail));
        fields.insert("upper".to_owned(), bound.map_or(serde_json::Value::Null, number));
        fields.insert("of_means".to_owned(), means.map_or(serde_json::Value::Null, number));
    }
    document
}

/// What formulas and tests hold under.
fn assumptions(model: &Model) -> Vec<&str> {
    let stated = model.assumptions.iter().map(|assumption| assumption.text.as_str());
    stated.chain(["times are not negative"]).collect()
}

/// The one alternative that is meant: `main`, where there is one and no other is named.
fn one<'a>(model: &'a Model, name: Option<&str>) -> anyhow::Result<&'a Alternative> {
    match (name, &model.alternatives[..]) {
        (None, [first, ..]) if first.name == "main" => Ok(first),
        (None, [only]) => Ok(only),
        (None, _) => bail!("it has several alternatives\n  remedy: give one of these with --alt: {}", names(model)),
        (name, _) => Ok(chosen(model, name)?.remove(0)),
    }
}

fn run_data(args: &Data) -> anyhow::Result<()> {
    let Some(input) = args.followed.input() else { return output::print(&data_schema()) };
    let source = input.source()?;
    let model = source.model(&input.complete(&source))?;
    let alternative = one(&model, args.followed.alt.as_deref()).with_context(|| source.shown())?;
    let options = partune_mds::Options::default();
    let failed = |error: partune_model::Diagnostic| source.failed(&error);
    let (outcome, archive) = match &args.archive {
        None => (follow(&model, alternative, &options).map_err(failed)?, None),
        Some(folder) => {
            let (outcome, trace) = partune_mds::record(&model, alternative, &options).map_err(failed)?;
            (outcome, Some(partune_engine::write(&trace, folder)?.anchor))
        }
    };
    let name = source.title(alternative);
    if args.followed.json {
        return output::print(&data_document(&name, &outcome));
    }
    let mut text = data_text(&name, &outcome, output::style());
    if let Some(anchor) = &archive {
        told_archive(&mut text, anchor);
    }
    output::print(&text)
}

fn run_simulation(args: &Simulate) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let model = source.model(&args.input.complete(&source))?;
    let alternative = one(&model, args.alt.as_deref()).with_context(|| source.shown())?;
    let ties = match args.ties {
        TieName::Program => Ties::Program,
        TieName::Reverse => Ties::Reverse,
        TieName::Random => Ties::Random,
    };
    let options = Options { ties, seed: args.seed, max_steps: args.max_steps, ..Options::default() };
    let term = &alternative.term;
    let failed = |error: partune_model::Diagnostic| source.failed(&error);
    let (recorded, archive) = match &args.archive {
        None => (None, None),
        Some(folder) => {
            let (outcome, recording) = record(&model, term, &options).map_err(failed)?;
            (Some(outcome), Some(partune_engine::write(&trace::trace(&recording), folder)?.anchor))
        }
    };
    // Runs are deterministic: what is broken down is what was recorded.
    let (outcome, breakdown) = match recorded {
        _ if args.breakdown => {
            let (outcome, breakdown) = break_down(&model, term, &options).map_err(failed)?;
            (outcome, Some(breakdown))
        }
        Some(outcome) => (outcome, None),
        None => (simulate(&model, term, &options).map_err(failed)?, None),
    };
    if args.json {
        let mut document = outcome_json(&alternative.name, &outcome);
        if let (Some(breakdown), Some(fields)) = (&breakdown, document.as_object_mut()) {
            fields.insert("breakdown".to_owned(), breakdown::json(breakdown));
        }
        return output::print(&format!("{document:#}\n"));
    }
    let mut text = String::new();
    show::outcome(&mut text, &alternative.name, &outcome);
    if let Some(breakdown) = &breakdown {
        breakdown::text(&mut text, breakdown, outcome.makespan);
    }
    if let Some(anchor) = &archive {
        told_archive(&mut text, anchor);
    }
    output::print(&text)
}

fn told_archive(text: &mut String, anchor: &Path) {
    let _ = writeln!(text, "\n{}: partune analyze reads it", anchor.display());
}

fn outcome_json(name: &str, outcome: &Outcome) -> serde_json::Value {
    let resources: Vec<_> = outcome
        .resources
        .iter()
        .map(|resource| {
            json!({
                "name": resource.name,
                "servers": resource.servers,
                "uses": resource.uses,
                "busy": resource.busy,
                "utilisation": resource.utilisation,
                "mean_queue": resource.mean_queue,
                "max_queue": resource.max_queue,
            })
        })
        .collect();
    json!({
        "name": name,
        "makespan": number(outcome.makespan),
        "exact": matches!(outcome.makespan, Number::Exact(_)),
        "uses": outcome.uses,
        "processes": outcome.processes,
        "resources": resources,
    })
}

fn run_emission(args: &Emit) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let values = args.input.values();
    let with_plan = |model: &Model| if args.alt.is_empty() { with_plans(model) } else { Ok(model.clone()) };
    let model = with_plan(&source.model(&values)?).map_err(|error| source.failed(&error))?;
    let decision = decide(&model, &args.alt, None).map_err(|error| source.failed(&error))?;
    let language = match args.language {
        LanguageName::Rust => Language::Rust,
        LanguageName::C => Language::C,
        LanguageName::Python => Language::Python,
    };
    let name = source.name();
    let files = source.files();
    let instance = |more: &Values| {
        let mut all = values.clone();
        all.extend(more.clone());
        lower(&source.text, &parse(&source.text).0, &all, &files).0.and_then(|model| with_plan(&model).ok())
    };
    let text = emit(&model, &decision, language, &name, &instance).map_err(|error| source.failed(&error))?;
    output::print_source(&text)
}
