# SPDX-License-Identifier: BSD-2-Clause
"""What sitecustomize.py runs, with its HERE, before a program imports torch or DFTracer."""
import importlib.util
import os
import sys

# Of the package: around this folder; beside it, as installed; in the tree, as built in build/ or in a folder there.
FOLDERS = ("..", "../dltraced", "../../python/dltraced", "../../../python/dltraced")


def package():
    """The package, that of the interpreter where it has one: that may have the extension. Else the one that we are of."""
    if importlib.util.find_spec("dltraced") is not None:
        return
    folders = (os.path.normpath(os.path.join(HERE, folder)) for folder in FOLDERS)  # noqa: F821
    folder = next(f for f in folders if os.path.exists(os.path.join(f, "auto.py")))
    spec = importlib.util.spec_from_file_location("dltraced", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules["dltraced"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["dltraced"]
        raise


def without_files(function):
    """What FUNCTION returns; None, and a message, where it fails."""
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # no files that the program would not make itself
    try:
        package()
        return function()
    except Exception as error:  # the program is to run as if we were not here
        sys.stderr.write("dltraced: no regions of this program, as its package does not load: %r\n" % (error,))
    finally:
        sys.dont_write_bytecode = writes


def torch():
    def install():
        import dltraced.auto

        dltraced.auto.install()

    return without_files(install)


def dftracer():
    def finder():
        from dltraced.dftracer._place import Finder

        return Finder

    return without_files(finder)
