# SPDX-License-Identifier: BSD-2-Clause
"""notebook.py NOTEBOOK [--write]: runs the cells of NOTEBOOK one after the other, in the working folder, as Jupyter does, and
compares the kinds of their outputs with those that it has; with --write it puts the outputs into it."""
import ast
import base64
import contextlib
import io
import json
import sys


def value_of(source, names):
    """Runs SOURCE. Returns the value of its last line, where that is an expression."""
    tree = ast.parse("\n".join(line for line in source.split("\n") if not line.startswith("%")))
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(last, "cell", "eval"), names) if last else None


def lines_of(text):
    return text.splitlines(keepends=True)


def outputs_of(cell, names):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        value = value_of("".join(cell["source"]), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        if hasattr(value, "savefig"):
            picture = io.BytesIO()
            value.savefig(picture, format="png", dpi=100, metadata={"Software": None})
            data["image/png"] = base64.b64encode(picture.getvalue()).decode()
        outputs.append({"data": data, "execution_count": cell["execution_count"], "metadata": {}, "output_type": "execute_result"})
    return outputs


def kinds_of(outputs):
    return [(output["output_type"], sorted(output.get("data", ()))) for output in outputs]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        notebook = json.load(f)
    names = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        cell["execution_count"] = number
        try:
            outputs = outputs_of(cell, names)
        except Exception as error:
            sys.exit(f"cell {number} of {sys.argv[1]}: {error!r}")
        if sys.argv[2:] == ["--write"]:
            cell["outputs"] = outputs
        elif kinds_of(outputs) != kinds_of(cell["outputs"]):
            sys.exit(f"cell {number} of {sys.argv[1]}: {kinds_of(outputs)}, it has {kinds_of(cell['outputs'])}")
    if not cells:
        sys.exit(f"{sys.argv[1]}: it has no cells to run")
    if sys.argv[2:] == ["--write"]:
        with open(sys.argv[1], "w", encoding="utf-8") as f:
            json.dump(notebook, f, ensure_ascii=False, indent=1)
            f.write("\n")


main()
