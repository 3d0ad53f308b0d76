"""Changes of a single line of C++."""

import re

# Name, pattern and replacement. Spaces around an operator tell it from brackets of a template, pointers and signs.
OPERATORS = (
    ("bound", r" < ", " <= "),
    ("bound", r" <= ", " < "),
    ("bound", r" > ", " >= "),
    ("bound", r" >= ", " > "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("logic", r"\btrue\b", "false"),
    ("logic", r"\bfalse\b", "true"),
    ("logic", r"\bif \((?!const|auto|!)([^;]*)\) ", r"if (!(\1)) "),
    ("arithmetic", r" \+ ", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \* ", " / "),
    ("arithmetic", r" / ", " * "),
    ("arithmetic", r" \+= ", " -= "),
    ("arithmetic", r" -= ", " += "),
    ("arithmetic", r"\+\+(?=\w)", "--"),
    ("arithmetic", r"std::min\b", "std::max"),
    ("arithmetic", r"std::max\b", "std::min"),
    ("constant", r"(?<![\w.\[<])0(?![\w.>])", "1"),
    ("constant", r"(?<![\w.\[<])1(?![\w.>])", "2"),
    ("constant", r"(?<![\w.\[<])2(?![\w.>])", "3"),
    ("deleted call", r"^(\s+)[\w.>:-]+\([^;{}]*\);$", r"\1;"),
    ("deleted assignment", r"^(\s+)[\w.>\[\]-]+ [+*|&-]?= [^;{}]*;$", r"\1;"),
)
# Lines whose change is not a fault of the program: messages, checks of the programmer, declarations.
SKIPPED = re.compile(
    r"Error\(|log::|TORCH_CHECK|static_assert|^\s*(//|#|\*|namespace|using|template|struct|class|enum|extern)"
    r"|constexpr|throw |\breserve\(|NOLINT|operator|^\s*case |fmt::format"
)
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'')
COMMENT = re.compile(r"//.*$")


def changes_of(line):
    """Returns pairs of an operator's name and the changed line."""
    if SKIPPED.search(line):
        return []
    hidden = TEXT.sub(lambda found: "\0" * len(found.group()), line)
    hidden = COMMENT.sub(lambda found: "\0" * len(found.group()), hidden)
    found = []
    for name, pattern, replacement in OPERATORS:
        for match in re.finditer(pattern, hidden):
            changed = line[: match.start()] + match.expand(replacement) + line[match.end() :]
            if "\0" not in match.group() and changed != line:
                found.append((name, changed))
    return found
