"""Laws of partune-fit beside those of Extra-P, on the examples that Extra-P's repository tests itself with.

    fits.py DATA LEFT_OUT

DATA: the folder tests/data of Extra-P's sources; LEFT_OUT: the example of that name of partune-fit. Each value of each series is left out, both make a law of the others, and the
relative errors of what they say of it are put beside each other. Series with fewer than six values
are left out, of which neither has enough to go by; those with more than 16, which take Extra-P minutes; and those with a value that is not positive, of which a
relative error says nothing.
"""

import contextlib
import io
import logging
import pathlib
import statistics
import subprocess
import sys
import warnings

logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

from extrap.fileio.file_reader.cube_file_reader2 import CubeFileReader2
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.fileio.file_reader.text_file_reader import TextFileReader
from extrap.modelers.multi_parameter.multi_parameter_modeler import MultiParameterModeler
from extrap.modelers.single_parameter.basic import SingleParameterModeler


MOST = 16


def experiments(data):
    readers = [("text", "*.txt", lambda path: TextFileReader().read_experiment(path)), ("jsonlines", "*.jsonl", read_jsonlines_file)]
    for folder, pattern, reader in readers:
        for path in sorted((data / folder).rglob(pattern)):
            yield path.relative_to(data), reader, path
    for name in ["single_parameter", "multi_parameter"]:
        yield pathlib.Path("cubeset") / name, cubes, data / "cubeset" / name


def cubes(path):
    reader = CubeFileReader2()
    reader.scaling_type = "weak"
    return reader.read_experiment(path)


def series(data):
    for name, reader, path in experiments(data):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                experiment = reader(str(path))
        except Exception as error:  # Some are there to be refused.
            print(f"{name}: not read: {type(error).__name__}", file=sys.stderr)
            continue
        for (callpath, metric), values in sorted(experiment.measurements.items(), key=str):
            means = [value.mean for value in values]
            at = [tuple(value.coordinate) for value in values]
            if 6 <= len(values) <= MOST and min(means) > 0 and min(map(min, at)) > 0 and len(set(at)) == len(at):
                yield f"{name} {callpath} {metric}", values


def extra_p(values):
    parameters = len(values[0].coordinate)
    for left_out in range(len(values)):
        modeler = SingleParameterModeler() if parameters == 1 else MultiParameterModeler()
        others = values[:left_out] + values[left_out + 1 :]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                model = modeler.model([others])[0]
            at = values[left_out].coordinate
            yield float(model.hypothesis.function.evaluate(at[0] if parameters == 1 else list(at)))
        except Exception:
            yield float("nan")


def error(said, values):
    """The mean relative error, each capped at 100 %, so that one value does not decide all; nothing said is as far off."""
    errors = [abs(it / value.mean - 1) if it == it else 1.0 for it, value in zip(said, values)]
    return statistics.fmean(min(it, 1.0) for it in errors)


def main():
    found = list(series(pathlib.Path(sys.argv[1])))
    lines = lambda values: "\n".join(" ".join(map(str, [*value.coordinate, value.mean])) for value in values)
    asked = "\n\n".join(lines(values) for _, values in found)
    answered = subprocess.run([sys.argv[2]], input=asked, capture_output=True, text=True, check=True).stdout
    ours = [[float(word) for word in part.split()] for part in answered.strip().split("\n\n")]
    rows = [(error(own, values), error(list(extra_p(values)), values), name, len(values)) for own, (name, values) in zip(ours, found)]
    print("partune   Extra-P  values  series")
    for own, other, name, count in rows:
        print(f"{100 * own:7.2f} %{100 * other:7.2f} %{count:8}  {name}")
    wins = sum(own < other - 1e-4 for own, other, *_ in rows)
    losses = sum(own > other + 1e-4 for own, other, *_ in rows)
    print(f"{100 * statistics.fmean(r[0] for r in rows):7.2f} %{100 * statistics.fmean(r[1] for r in rows):7.2f} %  mean over {len(rows)} series")
    print(f"{100 * statistics.median(r[0] for r in rows):7.2f} %{100 * statistics.median(r[1] for r in rows):7.2f} %  median; partune better in {wins}, Extra-P in {losses}")


main()
