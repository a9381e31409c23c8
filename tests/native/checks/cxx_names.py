# SPDX-License-Identifier: BSD-2-Clause
"""cxx_names.py SYMBOLS NAMES DEMANGLED: the names of functions (test_cxx_name -) are those of c++filt -p without template
arguments and parameters. Few are left as they are. Prints how many there are.
"""
import re
import sys

OPERATORS = ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"]
FULL = {"string": "basic_string", "istream": "basic_istream", "ostream": "basic_ostream", "iostream": "basic_iostream"}


def plain(text):
    """Returns a name of c++filt without template arguments, parameters, tags and qualifiers."""
    text = text.replace("(anonymous namespace)", "\1")
    text = re.sub(r"\[abi:\w+\]| *\[clone [^]]*\]", "", text)
    text = re.sub(r"\boperator\(\)", "operator\2", text)
    parts, depth, at = [], 0, 0
    while at < len(text):
        found = re.compile(r"\boperator(?=[<>-])").match(text, at)
        if found:
            sign = next((o for o in OPERATORS if text.startswith(o, found.end())), "")
            parts += [] if depth else ["operator" + sign]
            at = found.end() + len(sign)
            continue
        depth += text[at] in "<("
        parts += [] if depth else [text[at]]
        depth -= text[at] in ">)"
        at += 1
    text = "".join(parts)
    text = re.sub(r"(?<!operator)(?<!operator&)( const| volatile| *&)+(?=::|$)", "", text).rstrip(" ")
    return text.replace("\1", "(anonymous namespace)").replace("\2", "()")


def full(name):
    """Returns a name of ours with the class that __cxa_demangle abbreviates, other than c++filt -p."""
    return re.sub(r"^std::(string|[io]+stream)\b(?=::)", lambda m: "std::" + FULL[m[1]], name)


def main():
    symbols, names, demangled = (open(name, encoding="utf-8", errors="surrogateescape").read().split("\n")[:-1]
                                 for name in sys.argv[1:])
    if not len(symbols) == len(names) == len(demangled):
        sys.exit(f"{len(symbols)} symbols, {len(names)} names, {len(demangled)} of c++filt")
    mangled = [(s, n, d) for s, n, d in zip(symbols, names, demangled) if s != d]
    left = [s for s, n, _ in mangled if s.startswith(n)]
    wrong = [f"{s}: {n}, not {plain(d)}" for s, n, d in mangled if not s.startswith(n) and full(n) != plain(d)]
    if wrong or len(left) * 20 > len(mangled):
        sys.exit("\n".join([f"{len(wrong)} of {len(mangled)} names differ, {len(left)} are left as they are",
                            *wrong[:20], *left[:20]]))
    print(len(mangled))


main()
