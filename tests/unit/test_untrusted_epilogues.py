"""Hostile epilogues: escapes from Jinja's sandbox, and excessive time or memory, end in one line."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from nightly import nightly_except

from hsgen.core.errors import Usage
from hsgen.stages import epilogue, sandbox

SENTINEL = "SENTINEL"  # replaced by the path of a file that no template may create

# Known escapes from Jinja templates, from advisories and lists of template injections.
_IMPORT = "__globals__['__builtins__']['__import__']('os').system('touch SENTINEL')"
ESCAPES = [
    "cycler.__init__.__globals__.os.popen('touch SENTINEL').read()",
    "joiner.__init__.__globals__.os.popen('touch SENTINEL').read()",
    "namespace.__init__.__globals__.os.popen('touch SENTINEL').read()",
    "lipsum.__globals__['os'].popen('touch SENTINEL').read()",
    "lipsum.__globals__.os.system('touch SENTINEL')",
    f"range.{_IMPORT}",
    f"epilogue.__init__.{_IMPORT}",
    f"self.__init__.{_IMPORT}",
    f"self._TemplateReference__context.cycler.__init__.{_IMPORT}",
    f"report.{_IMPORT}",
    f"value.__func__.{_IMPORT}",
    "(report | attr('__globals__'))['__builtins__']['open']('SENTINEL', 'w')",
    "''.__class__.__mro__[1].__subclasses__()",
    "''['__class__']['__mro__'][1]['__subclasses__']()",
    "''|attr('__class__')|attr('__mro__')",
    "().__class__.__base__.__subclasses__()[0]",
    "key['__class__']",
    "key['_' ~ '_class__']",
    "key.__class__",
    "key.format.__func__",
    "'{0.__class__.__init__.__globals__}'.format(report)",
    "'{0.__globals__[sandbox]}'.format(report)",
    "'{x.__class__}'.format_map({'x': key})",
    "('{0.__class__}' | format(key)).format(1)",
    "'%s' % report.__globals__",
    "['{0.__class__}'] | map('format', report) | list",
    "[report] | map(attribute='__globals__') | list",
    "[{'a': report}] | groupby('a.__globals__')",
    "[report] | sort(attribute='__globals__')",
    "{'a': report} | xmlattr",
    "dict.__base__.__subclasses__()",
    "dict.mro()",
    "range.mro()",
    "caller.__init__",
    "varargs.__class__",
    "kwargs.__class__",
    "kwargs.update(a=1)",
    "loop.__class__",
    "config",
    "request.application.__globals__",
    "get_flashed_messages.__globals__",
    "url_for.__globals__",
    "context.environment",
    "environment.loader",
    "_environment.globals",
    "report.func_globals",
    "report.__code__",
    "(report).__kwdefaults__",
    "key.encode('utf-8').__class__",
    "key.join(['a'])",
    "[].append(1)",
    "debug",
    "(1).real",
    "(1).__class__.__bases__",
    "true.__class__",
    "none.__class__",
    "undefined_name.__class__",
    "''.join.__self__.__class__",
]
STATEMENTS = [
    "{% include 'bundle/README.md.j2' %}",
    "{% include ['/etc/passwd'] ignore missing %}",
    "{% import '/etc/passwd' as x %}",
    "{% from 'keys.j2' import x %}",
    "{% extends '/etc/passwd' %}",
    "{% set x = [] %}{% do x.append(1) %}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{% for x in [1] %}{{ loop._iterator.__class__ }}{% endfor %}",
    "{% for x in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
    "{% set namespace = namespace() %}",
    "{% filter attr('x') %}{% endfilter %}",
    "{% call epilogue.__init__() %}{% endcall %}",
    "{% autoescape true %}{{ key.__html__() }}{% endautoescape %}",
    "{% trans %}x{% endtrans %}",
    "{% debug %}",
]
_NESTED = "".join(f"{{% for a{i} in 'xxxxxxxxxx' %}}" for i in range(12)) + "{% endfor %}" * 12
BOMBS = {
    "loops within loops": "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}",
    "a long range": "{% for a in range(10 ** 15) %}x{% endfor %}",
    "a range of numbers beyond 64 bits": "{{ range(10 ** 19) | list }}",
    "loops over texts": _NESTED,
    "a power": "{{ 9 ** 9 ** 9 }}",
    "a negative power": "{{ 2 ** -1.5 ** 400 }}",
    "a power of a power": "{{ ((2 ** 63) ** 64) }}",
    "a product": "{{ (2 ** 60) * (2 ** 60) }}",
    "a text times a number": "{{ 'x' * 10 ** 10 }}",
    "a list times a number": "{{ [0] * 10 ** 10 }}",
    "a format": "{{ '%1000000000d' % 1 }}",
    "a format by a filter": "{{ '%2000000000d' | format(1) }}",
    "a float as a format": "{{ '%.2000000000f' | format(1.0) }}",
    "a method": "{{ 'x'.center(10 ** 10) }}",
    "an indent": "{{ 'x' | indent(2000000000, true) }}",
    "a text that doubles": "{% set a = 'xxxxxxxx' %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
    "a text that doubles by +": "{% set a = 'xxxxxxxx' %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
    "a list that doubles": "{% set a = [1] %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
    "a text that is replaced": "{% set a = 'xxxxxxxx' %}" + "{% set a = a | replace('x', 'xxxxxxxx') %}" * 20,
    "a macro that calls itself": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "two macros that call each other twice": "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}"
    "{% endmacro %}{{ a(60) }}",
    "brackets": "{{ " + "(" * 20000 + ")" * 20000 + " }}",
    "brackets of lists": "{{ " + "[" * 20000 + "]" * 20000 + " }}",
    "a long chain": "{{ " + "1+" * 20000 + "1 }}",
    "a long chain of not": "{{ " + "not " * 15000 + "1 }}",
    "blocks within blocks": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "many digits": "{{ " + "9" * 60000 + " }}",
    "a number as a text": "{{ ('9' * 5000) | int }}",
    "recursive loops": "{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}",
    "much text": "{% for a in range(90000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}",
    "too long": "{# " + "x" * 70000 + " #}",
}
FAST = ("loops over texts", "a power", "a format by a filter", "a macro that calls itself", "much text", "too long")
"""One of each kind: time, numbers, memory, depth, output, input."""


def refused(text: str) -> str:
    began = time.monotonic()
    with pytest.raises(Usage) as e:
        epilogue.parsed(text)
    assert time.monotonic() - began < 15
    (line,) = e.value.lines
    assert line.startswith("epilogue: ") and line.isascii() and line.isprintable() and len(line) < 400
    return line


@pytest.mark.parametrize("where", ["macro", "top", "setting"])
def test_ways_out_of_the_sandbox_lead_nowhere(where: str, tmp_path: Path) -> None:
    """All in one unconfined process: only the sandbox contains them."""
    sentinel = tmp_path / "made"
    arguments = "i, key, before, value, report, shift, n"
    for way in [*(f"{{{{ {x} }}}}" for x in ESCAPES), *STATEMENTS]:
        way = way.replace(SENTINEL, str(sentinel))
        text = {
            "macro": f"{{% set report_words = 1 %}}{{% macro epilogue({arguments}) %}}{way}{{% endmacro %}}",
            "top": f"{way}{{% macro epilogue(key) %}}{{% endmacro %}}",
            "setting": f"{{% set report_words %}}{way}{{% endset %}}{{% macro epilogue(report) %}}{{% endmacro %}}",
        }[where]
        answer = sandbox.answer(text)
        assert "error" in answer, (way, answer)
        assert not sentinel.exists(), way


@pytest.mark.parametrize("way", [ESCAPES[0], ESCAPES[5]])
def test_a_way_out_ends_in_one_line(way: str, tmp_path: Path) -> None:
    sentinel = tmp_path / "made"
    way = way.replace(SENTINEL, str(sentinel))
    refused(f"{{% set report_words = 1 %}}{{% macro epilogue(report) %}}{{{{ {way} }}}}{{% endmacro %}}")
    assert not sentinel.exists()


@pytest.mark.parametrize("name", nightly_except(BOMBS, FAST))
def test_excessive_time_or_memory_ends_in_one_line(name: str) -> None:
    refused(f"{{% macro epilogue(i) %}}{BOMBS[name]}{{% endmacro %}}")


def test_a_process_that_is_confined_has_no_means(tmp_path: Path) -> None:
    """The means of an escape from the sandbox; writing to a pipe still works, as the worker needs it to answer."""
    sentinel = tmp_path / "made"
    tried = [
        f"open({str(sentinel)!r}, 'w')",
        "open('/etc/passwd')",
        f"__import__('os').system('touch {sentinel}')",
        f"__import__('subprocess').run(['touch', {str(sentinel)!r}])",
        "__import__('socket').socket()",
        "__import__('os').fork()",
        f"__import__('os').mkdir({str(sentinel)!r})",
        "__import__('ctypes').CDLL(None)",
        "__import__('antigravity')",
    ]
    code = (
        "import os, socket, subprocess, ctypes\nfrom hsgen.stages import sandbox\nsandbox.confine()\n"
        f"for way in {tried!r}:\n    try: eval(way)\n    except Exception as e: print(type(e).__name__, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == ["Refused"] * len(tried), done.stdout + done.stderr
    assert not sentinel.exists()


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("{% macro epilogue(i, n) %}{{ i }} of {{ n }}{% endmacro %}", "(x) of hs_n()"),
        (
            "{% macro epilogue(key, shift) %}{% for w in range(2) %}{{ key }}{{ w }} {% endfor %}{% endmacro %}",
            "k0 k1 ",
        ),
        (
            "{% macro epilogue(value, i) %}{{ value() }} {{ value(1) }}{% endmacro %}",
            "values[(x) * 2 + 0] values[(x) * 2 + 1]",
        ),
        (
            "{% set report_words = 9 %}{% macro epilogue(report, key) %}{{ report(key ~ '>> 3') }}{% endmacro %}",
            "report[(k>> 3)]",
        ),
        ("{% macro epilogue(key) %}{{ loop }}{% endmacro %}", None),
        ("{% macro epilogue(key) %}{{ (1 + 2) * 3 % 4 ~ 'x' | upper }}{% endmacro %}", "1X"),
        ("{% macro epilogue(key) %}{{ key | upper }}{% endmacro %}", None),
        ("{% macro epilogue(key) %}{{ key | replace('k', 'j') }}{% endmacro %}", None),
        ("{% macro epilogue(value) %}{{ value(4) }}{% endmacro %}", None),
    ],
)
def test_what_a_template_may_do(text: str, body: str | None) -> None:
    """Arguments are substituted afterwards; a template that modifies them is refused."""
    given = {"i": "(x)", "key": "k", "before": "b", "shift": "s", "n": "hs_n()"}
    if body is None:
        refused(text)
    else:
        assert epilogue.statements(epilogue.parsed(text), given, 2) == body
