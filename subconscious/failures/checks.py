"""Finds out, from the reports of linters, which known checks rejected code.

A report is only searched for names in the tables below. A memory describes a check in the words of its table, and never
copies a part of a report, so that a command's output can't put its own words into a memory. The tables leave out names
that cover many checks at once, and checks that every compiler makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

LONGEST_REPORT = 60_000
"""The most characters of an output that are searched."""

_GO = {  # golangci-lint
    "bodyclose": "bodies of HTTP responses have to be closed",
    "contextcheck": "a function that gets a context has to pass it to the functions that it calls",
    "cyclop": "functions must not have too many branches",
    "depguard": "some packages must not be imported",
    "dupl": "code must not be repeated",
    "err113": "errors have to be compared with errors.Is and wrapped instead of made on the spot",
    "errcheck": "the error that a call returns must not be ignored",
    "errorlint": "errors have to be compared with errors.Is and errors.As and wrapped with %w",
    "exhaustive": "a switch over an enumeration has to list all its values",
    "exhaustruct": "all fields of a struct have to be set",
    "forbidigo": "some functions must not be called in this project",
    "forcetypeassert": "type assertions have to be checked",
    "funlen": "functions must not be too long: split them into helpers",
    "gochecknoglobals": "there must be no global variables",
    "gochecknoinits": "there must be no init functions",
    "gocognit": "functions must not be too hard to read: split them into helpers",
    "goconst": "a string that is repeated has to become a constant, in tests too",
    "gocyclo": "functions must not have too many branches",
    "godot": "comments have to end with a full stop",
    "gofumpt": "code has to be formatted with gofumpt",
    "gomnd": "numbers need names",
    "ireturn": "functions have to return concrete types, not interfaces",
    "lll": "lines must not be too long",
    "maintidx": "functions must not be too long and complex, test functions included: split them into helpers",
    "mnd": "numbers need names",
    "nakedret": "long functions must not return without naming what they return",
    "nestif": "conditions must not be nested too deeply",
    "nilerr": "code must not `return nil` where an error is not nil",
    "nilnil": "functions must not return nil for both the value and the error",
    "nlreturn": "a blank line has to stand before return",
    "noctx": "calls that can take a context need one: exec.CommandContext, http.NewRequestWithContext",
    "nolintlint": "nolint comments have to name their check and a reason",
    "nonamedreturns": "results must not be named",
    "paralleltest": "tests have to call t.Parallel",
    "perfsprint": "fmt.Sprintf must not be used where a faster function does",
    "prealloc": "slices have to be allocated with their size",
    "predeclared": "names of built-in identifiers must not be taken",
    "recvcheck": "the methods of a type have to agree on a pointer or a value receiver",
    "sloglint": "calls of slog have to be written in one style",
    "tagliatelle": "the tags of struct fields have to be written in one case",
    "testifylint": "testify has to be used as it is meant",
    "testpackage": "tests have to be in a package of their own",
    "thelper": "test helpers have to call t.Helper first",
    "tparallel": "t.Parallel has to be used alike in a test and its subtests",
    "unparam": "functions must not have parameters or results that never differ",
    "usetesting": "tests have to use the functions of testing, such as t.TempDir and t.Setenv",
    "varnamelen": "names of variables must not be too short",
    "wrapcheck": "errors of other packages have to be wrapped, as with fmt.Errorf and %w, before they are returned",
    "wsl": "statements have to be parted by blank lines",
}
_JAVASCRIPT = {  # Biome and ESLint
    "exhaustive-deps": "the dependencies of an effect have to be what its body uses",
    "explicit-function-return-type": "functions have to declare what they return",
    "jsx-key": "elements of a list need a key",
    "no-console": "console must not be used",
    "no-default-export": "there must be no default exports",
    "no-explicit-any": "the type any must not be used",
    "no-floating-promises": "promises have to be awaited or handled",
    "no-misused-promises": "promises must not stand where a plain value is expected",
    "no-non-null-assertion": "the operator ! must not be used to rule out null",
    "no-param-reassign": "parameters must not be assigned to",
    "no-restricted-imports": "some modules must not be imported",
    "no-shadow": "names must not hide those of an outer scope",
    "no-unnecessary-condition": "conditions that are always true or always false are rejected",
    "no-unsafe-assignment": "values of type any must not be assigned",
    "no-unsafe-member-access": "members of values of type any must not be used",
    "prefer-nullish-coalescing": "?? has to be used instead of || for defaults",
    "react-in-jsx-scope": "React has to be imported where JSX is used",
    "restrict-template-expressions": "only strings may stand in template literals",
    "rules-of-hooks": "hooks must not be called in conditions or loops",
    "strict-boolean-expressions": "conditions have to be booleans",
    "noArrayIndexKey": "the index of an array must not be a key",
    "noConsole": "console must not be used",
    "noDefaultExport": "there must be no default exports",
    "noExcessiveCognitiveComplexity": "functions must not be too hard to read: split them into helpers",
    "noExplicitAny": "the type any must not be used",
    "noForEach": "for...of has to be used instead of forEach",
    "noNonNullAssertion": "the operator ! must not be used to rule out null",
    "noParameterAssign": "parameters must not be assigned to",
    "noStaticElementInteractions": "elements that react to clicks need a role",
    "useButtonType": "buttons need a type",
    "useExhaustiveDependencies": (
        "the dependencies of an effect have to be just what its body uses, none missing and none too many"
    ),
    "useImportType": "imports of types alone have to be written as import type",
    "useKeyWithClickEvents": "elements with onClick also need a handler for keys",
    "useNodejsImportProtocol": "modules of Node.js have to be imported with node: before their name",
    "useOptionalChain": "optional chaining has to be used instead of chained conditions",
    "useSemanticElements": "the semantic element has to be used instead of a role",
    "useTemplate": "template literals have to be used instead of joining strings",
}
_PYTHON = {  # Ruff, Flake8, Pylint, mypy
    "ANN001": "arguments of functions need annotations",
    "ANN201": "public functions have to declare what they return",
    "B006": "default values must not be mutable",
    "B008": "functions must not be called in default values",
    "B904": "an exception raised in an except clause has to name its cause with from",
    "BLE001": "except Exception must not be used",
    "C901": "functions must not have too many branches",
    "D103": "public functions need a docstring",
    "DTZ005": "datetime.now has to be called with a time zone",
    "E501": "lines must not be too long",
    "EM101": "the message of an exception has to be assigned to a variable first",
    "EM102": "the message of an exception has to be assigned to a variable first",
    "ERA001": "there must be no commented-out code",
    "FBT001": "boolean arguments must not be positional",
    "PLR0911": "functions must not return in too many places",
    "PLR0912": "functions must not have too many branches",
    "PLR0913": "functions must not have too many arguments",
    "PLR0915": "functions must not have too many statements",
    "PLR2004": "numbers need names",
    "PTH123": "files have to be opened with pathlib",
    "S101": "assert must not be used outside of tests",
    "SLF001": "private members must not be used from outside",
    "T201": "print must not be used",
    "TRY003": "long messages must not be passed to an exception where it is raised",
    "disallow-untyped-defs": "functions need annotations",
    "no-untyped-def": "functions need annotations",
    "no-any-return": "functions must not return values of type Any",
    "type-arg": "generic types need their parameters",
}
_RUST = {  # Clippy
    "cast_possible_truncation": "casts must not lose bits",
    "expect_used": "expect must not be called",
    "missing_errors_doc": "the documentation of functions has to say when they fail",
    "needless_pass_by_value": "arguments that are only read have to be references",
    "too_many_arguments": "functions must not have too many arguments",
    "too_many_lines": "functions must not be too long: split them into helpers",
    "unwrap_used": "unwrap must not be called",
}
_RUBY = {  # RuboCop
    "Metrics/AbcSize": "methods must not do too much",
    "Metrics/BlockLength": "blocks must not be too long",
    "Metrics/MethodLength": "methods must not be too long",
    "Style/Documentation": "classes need a comment",
}
_SHELL = {  # ShellCheck
    "SC2086": "variables have to be quoted",
    "SC2155": "variables have to be declared and assigned separately",
}
CHECKS = {**_GO, **_JAVASCRIPT, **_PYTHON, **_RUST, **_RUBY, **_SHELL}
"""What known checks require, in fixed words, by the names under which linters report them."""

_SCRIPTS = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"})
_LINTED = (
    (_GO, frozenset({".go"})),
    (_JAVASCRIPT, _SCRIPTS),
    (_PYTHON, frozenset({".py", ".pyi"})),
    (_RUST, frozenset({".rs"})),
    (_RUBY, frozenset({".rb", ".rake"})),
    (_SHELL, frozenset({".sh", ".bash"})),
)
CHECKED_TYPES = {check: types for checks, types in _LINTED for check in checks}
"""The file types that each known check covers."""

_EFFECT = r"\buse(?:Effect|LayoutEffect|Callback|Memo)\("
_RAISED = r"\braise \w+\("
_FUNCTION = r"\bdef \w+\("
_PARALLEL = r"\bfunc Test\w*\("
_SIGNS = {
    "bodyclose": r"\bhttp\.\w+\(|\.Do\(",
    "contextcheck": r"\bcontext\.(?:Background|TODO)\(",
    "depguard": r"^import\b|^\s+\"",
    "err113": r"\berrors\.New\(|\berr [!=]= ",
    "errcheck": (
        r"^[ \t]*(?:defer )?[\w.]+\.(?:Chdir|Close|Commit|Copy|Decode|Encode|Exec|Flush|Mkdir\w*|Remove\w*|Rename"
        r"|Rollback|Scan\w*|Setenv|Shutdown|Sync|Unmarshal|Unsetenv|Walk\w*|Write\w*)\(.*\)\s*$"
    ),
    "errorlint": r"\berr [!=]= [^n]|%v\b.*\berr\b|\berr\.\(",
    "exhaustive": r"\bswitch [^{\n]{1,100}\{(?!\s{0,40}case (?:\"|'|\d|nil\b))",
    "exhaustruct": r"&?\b[A-Z]\w*\{",
    "forbidigo": r"\bfmt\.Print",
    "forcetypeassert": r":?= .*\.\(\*?\w+",
    "gochecknoglobals": r"^var\b",
    "gochecknoinits": r"\bfunc init\(",
    "godot": r"^\s*// ",
    "ireturn": r"^func .*\)\s*\(?(?:\w+\.)?[A-Z]\w*(?:able|er|face|or)\b",
    "lll": r"^.{121}",
    "nakedret": r"^\s*return$",
    "nilerr": r"\berr [!=]= nil\b[^}]{0,200}\breturn nil\b",
    "nilnil": r"\breturn nil, nil\b",
    "noctx": r"\bhttp\.(?:Get|Post|Head|NewRequest)\(|\bexec\.Command\(",
    "nolintlint": r"//\s?nolint",
    "paralleltest": _PARALLEL,
    "perfsprint": r"\bfmt\.(?:Sprintf|Errorf)\(",
    "prealloc": r"\bappend\(",
    "sloglint": r"\bslog\.",
    "tagliatelle": r"`\w+:\"",
    "testifylint": r"\b(?:assert|require)\.",
    "testpackage": r"^package\b",
    "thelper": r"\bfunc \w+\(t\b",
    "tparallel": _PARALLEL,
    "usetesting": r"\bos\.(?:Setenv|MkdirTemp|Chdir|CreateTemp)\(|\bcontext\.Background\(",
    "wrapcheck": r"\breturn (?:[^\n]{0,80}, )?err$",
    "exhaustive-deps": _EFFECT,
    "jsx-key": r"\.map\(",
    "no-console": r"\bconsole\.",
    "no-default-export": r"\bexport default\b",
    "no-explicit-any": r"\bany\b",
    "no-floating-promises": r"\b(?:async|await|Promise)\b",
    "no-misused-promises": r"\basync\b",
    "no-non-null-assertion": r"[\w)\]]!(?!=)",
    "prefer-nullish-coalescing": r"\|\|",
    "restrict-template-expressions": r"\$\{",
    "rules-of-hooks": r"\buse[A-Z]\w*\(",
    "noArrayIndexKey": r"\bkey=\{[^}]{0,80}\b(?:i|idx|index)\b",
    "noConsole": r"\bconsole\.",
    "noDefaultExport": r"\bexport default\b",
    "noExplicitAny": r"\bany\b",
    "noForEach": r"\.forEach\(",
    "noNonNullAssertion": r"[\w)\]]!(?!=)",
    "noStaticElementInteractions": r"\bonClick=",
    "useButtonType": r"<button\b",
    "useExhaustiveDependencies": _EFFECT,
    "useImportType": r"^import\b",
    "useKeyWithClickEvents": r"\bonClick=",
    "useNodejsImportProtocol": r"['\"](?:fs|path|os|url|util|crypto|child_process)(?:/\w+)?['\"]",
    "useOptionalChain": r"&& ?!?\w+\.",
    "useSemanticElements": r"\brole=",
    "useTemplate": r"['\"`] ?\+|\+ ?['\"`]",
    "ANN001": _FUNCTION,
    "ANN201": _FUNCTION,
    "B006": r"=\s?(?:\[|\{)",
    "B904": r"\braise\b",
    "BLE001": r"\bexcept (?:Base)?Exception\b",
    "D103": _FUNCTION,
    "DTZ005": r"\bnow\(",
    "E501": r"^.{80}",
    "EM101": _RAISED,
    "EM102": _RAISED,
    "FBT001": r": bool\b",
    "PTH123": r"\bopen\(",
    "S101": r"^\s*assert\b",
    "SLF001": r"[\w)]\._[a-z]",
    "T201": r"\bprint\(",
    "TRY003": _RAISED,
    "disallow-untyped-defs": _FUNCTION,
    "no-untyped-def": _FUNCTION,
    "type-arg": r"\b(?:list|dict|tuple|set|List|Dict|Callable)\b(?!\[)",
    "cast_possible_truncation": r"\bas [iu]\d",
    "expect_used": r"\.expect\(",
    "missing_errors_doc": r"\bpub (?:async )?fn\b",
    "unwrap_used": r"\.unwrap\(",
    "SC2086": r"\$\w",
    "SC2155": r"\b(?:local|export|readonly) \w+=[\"']?\$\(",
}
"""Patterns of code that a check may reject. Checks of the length and structure of functions have none."""

SOME = 8
"""The fewest lines of new code for which a check is worth mentioning."""

_AT = r"[\w./@+-]{1,200}:\d{1,6}(?::\d{1,5})?:?"
_RULE = r"[\w/-]{3,40}"
_REPORTS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"^{_AT} [^\n]{{1,400}}\((?P<rule>{_RULE})\)[ \t]*$",  # golangci-lint
        rf"\blint/[a-z]{{3,20}}/(?P<rule>{_RULE})",  # Biome
        # ESLint
        r"^ +\d{1,6}:\d{1,5} +(?:error|warning) [^\n]{1,300} (?:@?[\w-]{1,40}/){0,2}(?P<rule>[\w-]{3,40})[ \t]*$",
        rf"^{_AT} (?P<rule>[A-Z]{{1,4}}\d{{3,4}}) ",  # Ruff, Flake8
        rf"^{_AT} [^\n]{{1,300}}\[(?P<rule>[a-z][a-z-]{{2,40}})\][ \t]*$",  # mypy
        r"\bclippy::(?P<rule>[a-z_]{3,40})",
        rf"^{_AT} [CWEF]: (?:\[Correctable\] )?(?P<rule>[A-Z][a-z]{{2,15}}/[A-Z]\w{{2,40}}):",  # RuboCop
        r"\b(?P<rule>SC\d{4}) \((?:error|warning|info|style)\)",  # ShellCheck
    )
)
"""The formats in which linters name the check that rejected a line."""


def may_reject(check: str, code: str) -> bool:
    """Whether a check may reject new code: there is enough code, and it matches the pattern of the check.

    False for a check without a pattern: of 16 replayed sessions that changed much code, only one met such a check.
    """
    sign = _SIGNS.get(check)
    return sign is not None and is_much(code) and _sign(sign).search(code) is not None


def is_much(code: str) -> bool:
    """Whether there are enough lines of new code for a check to be worth mentioning."""
    return code.count("\n") >= SOME


@cache
def _sign(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def rejected_by(output: str) -> list[str]:
    """Return the known checks that rejected code according to an output, each once, in the output's order."""
    return list(dict.fromkeys(_named(output[:LONGEST_REPORT])))


def _named(report: str) -> Iterator[str]:
    found = (match for pattern in _REPORTS for match in pattern.finditer(report))
    for match in sorted(found, key=lambda one: one.start()):
        if match["rule"] in CHECKS:
            yield match["rule"]
