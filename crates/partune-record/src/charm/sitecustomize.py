# Part of partune: loaded by every Python that is started under it, since its folder is first in PYTHONPATH.
# It only waits for charm4py: a program that does not import that gets nothing but this.
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
# One that is there already has its turn.
others = [path for path in sys.path if os.path.abspath(path or ".") != here]


def _begin():
    import _frozen_importlib_external as external

    class Charm4py(object):
        """Finds charm4py's main module as it would be found, and puts our own after it."""

        def find_spec(self, name, path=None, target=None):
            if name != "charm4py.charm":
                return None
            sys.meta_path.remove(self)
            spec = external.PathFinder.find_spec(name, path, target)
            if spec is None or spec.loader is None:
                return spec
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                _into(module, here)

            spec.loader.exec_module = exec_module
            return spec

    def _into(module, here):
        names = {"__name__": "partune_charm4py"}
        try:
            for part in ("common", "logs", "recorder", "maps", "hints"):
                with open(os.path.join(here, "partune_%s.py" % part)) as file:
                    exec(compile(file.read(), file.name, "exec"), names)
            if os.environ.get("PARTUNE_CHARM_HINTS"):
                names["follow"](module)
            if os.environ.get("PARTUNE_CHARM_DIR"):
                names["record"](module)
        except Exception as error:  # The program goes on without us.
            for where in ("PARTUNE_CHARM_NOTES", "PARTUNE_CHARM_HINT_NOTES"):
                if os.environ.get(where):
                    with open(os.environ[where], "a") as file:
                        file.write("%s: %s\n" % (type(error).__name__, error))

    if os.environ.get("PARTUNE_CHARM_DIR") or os.environ.get("PARTUNE_CHARM_HINTS"):
        sys.meta_path.insert(0, Charm4py())
    spec = external.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        from _frozen_importlib import module_from_spec

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if sys.version_info >= (3, 6):
    _begin()
else:
    # charm4py needs a newer one, and so does what finds modules above.
    found = [path for path in (os.path.join(folder, "sitecustomize.py") for folder in others) if os.path.isfile(path)]
    if found:
        with open(found[0], "rb") as file:
            code = compile(file.read(), found[0], "exec")
        __file__ = found[0]
        exec(code, globals())
