//! `partune model tune`: changes of a model, followed and ranked.

use anyhow::{Context, bail};
use partune_mds::tune;
use partune_model::change::Original;
use partune_model::parse;
use partune_report::{model_tune_document, model_tune_schema, model_tune_text, plural};

use super::{Followed, one, show};
use crate::output;

#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune model tune crash.pam --try 'layout position: pad 3 -> 4' --try 'decompose elem -> 8; machine { cache 32768 }'\n\n\
                        A try is one change or several with `;` between them:\n  \
                        NAME = VALUE                        another value of a parameter\n  \
                        alt NAME                            another alternative\n  \
                        layout DATA, …: pad 3 -> 4, …       as in the language; what is not said stays\n  \
                        decompose DOMAIN -> PARTS by …      or one of the two\n  \
                        machine { cache 32768; … }          other settings stay\n  \
                        schedule PHASE self(4)              of its loops; or guided(4), static\n  \
                        nowait PHASE                        who is done goes on\n  \
                        fuse PHASE, PHASE                   two phases in a row as one\n  \
                        remove barrier after PHASE          one of several in a row, or all meeting"
)]
pub(super) struct Tune {
    /// A change, or several with `;` between them
    #[arg(long = "try", value_name = "CHANGE", required_unless_present = "schema")]
    tries: Vec<String>,
    #[command(flatten)]
    followed: Followed,
}

pub(super) fn run(args: &Tune) -> anyhow::Result<()> {
    let Some(input) = args.followed.input() else { return output::print(&model_tune_schema()) };
    let source = input.source()?;
    let model = source.model(&input.complete(&source))?;
    let alternative = one(&model, args.followed.alt.as_deref()).with_context(|| source.shown())?;
    let (syntax, _) = parse(&source.text);
    let values = input.values();
    let original = Original { text: &source.text, file: &syntax, values: &values, model: &model, alternative };
    let found = tune::tune(&original, &args.tries, &source.files(), &partune_mds::Options::default());
    let tuned = match found {
        Ok(tuned) => tuned,
        Err(wrong) => {
            for (at, error) in &wrong {
                output::note(&match at {
                    None => show::diagnostic(error, &source.text, &source.path),
                    Some(at) => show::of_try(error, (&source.text, &source.path), &args.tries[*at]),
                });
            }
            bail!("{}: {} in what is tried", source.path.display(), plural(wrong.len(), "error", "errors"))
        }
    };
    let name = source.title(alternative);
    output::print(&if args.followed.json {
        model_tune_document(&name, &tuned)
    } else {
        model_tune_text(&name, &tuned, output::style())
    })
}
