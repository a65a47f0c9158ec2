"""The parser of kernel text, which returns a tree of `hsgen.tree.nodes`."""

from __future__ import annotations

import re
from collections.abc import Callable

from hsgen.tree.nodes import (
    Block,
    Call,
    Directive,
    Element,
    Function,
    Group,
    If,
    Loop,
    Plain,
    Repeat,
    Statement,
    Token,
    Tree,
    Unreadable,
    Word,
)

_TOKEN = re.compile(
    r"((?:\s+|//[^\n]*|/\*.*?\*/)*)"  # white space and comments
    r"([A-Za-z_]\w*|\.?\d[\w.]*|"
    r"<<=|>>=|<<|>>|\+\+|--|->|&&|\|\||::|##|[-+*/%&|^<>=!]=|"
    r"\#(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\])*\"|\S|\Z)",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ENDS = frozenset(_CLOSES.values())
UNROLL = "HS_UNROLL"
"""The macro before a loop that compilers must unroll; each kernel language has its own definition of the macro."""


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text.

    The last token has an empty text; its `before` is the white space and the comments at the end of the text.
    """
    return [Token(*x) for x in _TOKEN.findall(text)]


def read(text: str) -> Tree:
    """Return the tree of a kernel text.

    Raises:
        Unreadable: brackets do not match, or a statement does not end.
    """
    return Reader(tokens(text)).tree()


class Reader:
    """A parser of tokens."""

    def __init__(self, listed: list[Token]) -> None:
        self.tokens, self.at = listed, 0

    def tree(self) -> Tree:
        """Return the tree of all tokens."""
        body = []
        while self.tokens[self.at].text:
            body.append(self._statement())
        return Tree(body, self.tokens[self.at].before)

    def _fail(self, problem: str) -> Unreadable:
        before = "".join(x for token in self.tokens[: self.at + 1] for x in token)
        return Unreadable(problem, before.count("\n") + 1)

    def _take(self, expected: str = "") -> Token:
        token = self.tokens[self.at]
        if expected and token.text != expected:
            raise self._fail(f"{expected} is missing before {token.text or 'the end'}")
        self.at += 1
        return token

    def _statement(self) -> Statement:
        text = self.tokens[self.at].text
        reader = _STATEMENTS.get(text)
        if reader is not None:
            return reader(self)
        if text.startswith("#") and text != "##":
            return Directive(self._take())
        return self._plain()

    def _block(self) -> Block:
        opening, body = self._take("{"), []
        while self.tokens[self.at].text != "}":
            if not self.tokens[self.at].text:
                raise self._fail("a brace is not closed")
            body.append(self._statement())
        return Block(opening, body, self._take())

    def _if(self) -> If:
        word, condition = self._take(), self._head()
        branch = If(word, condition, self._statement())
        if self.tokens[self.at].text == "else":
            branch.otherwise = self._take()
            branch.no = self._statement()
        return branch

    def _loop(self) -> Statement:
        unrolled = self._take() if self.tokens[self.at].text == UNROLL else None
        return Loop(unrolled, self._take(), self._head(), self._statement())

    def _repeat(self) -> Repeat:
        word, body = self._take(), self._statement()
        return Repeat(word, body, self._take("while"), self._head(), self._take(";"))

    def _head(self) -> Group:
        if self.tokens[self.at].text != "(":
            raise self._fail("a condition is missing")
        return self._group()

    def _plain(self) -> Statement:
        words = self._words(";", plain=True)
        if self.tokens[self.at].text == "{" and self._heads(words):
            return Function(words, self._block())
        return Plain(words, self._take() if self.tokens[self.at].text == ";" else None)

    def _group(self) -> Group:
        opening = self._take()
        closing = _CLOSES[opening.text]
        words = self._words(closing)
        return Group(opening, words, self._take(closing))

    def _words(self, end: str, plain: bool = False) -> list[Word]:
        """Return the words before the next token `end`.

        plain: whether the words begin a statement.  In this case, the words may also end with a macro call without a
        semicolon, or before the body of a function.
        """
        words: list[Word] = []
        # last: whether the last word is a name, but not that of a member; brackets after it make a call or an access
        listed, last, member = self.tokens, False, False
        while True:
            token = listed[self.at]
            text = token.text
            if text == end:
                return words
            if text in _CLOSES:
                if plain and text == "{" and self._heads(words):
                    return words
                group = self._group()
                name = words[-1] if last else None
                if isinstance(name, Token) and text != "{":
                    words[-1] = Call(name, group) if text == "(" else Element(name, group)
                    if plain and len(words) == 1 and text == "(" and self._ends():
                        return words
                else:
                    words.append(group)
                last = False
                continue
            if not text or text in _ENDS:
                if plain:
                    raise self._fail(f"a semicolon is missing before {text or 'the end'}")
                return words
            last = (text[0].isalpha() or text[0] == "_") and not member and text != "return"
            member = text in (".", "->")
            words.append(token)
            self.at += 1

    @staticmethod
    def _heads(words: list[Word]) -> bool:
        """Whether `words` begin a function definition: attributes and a type, then a name with parameters."""
        match words:
            case [_, *_, Call()] | [_, *_, Call(), Group(open=Token(text="("))]:
                return True
        return False

    def _ends(self) -> bool:
        """Whether the call that has just been read is a whole statement, although no semicolon follows.

        This is so if a name, a brace, a directive or the end of the text follows.
        """
        token = self.tokens[self.at]
        return not token.text or token.text[0] in "{}#" or bool(_NAME.match(token.text))


_STATEMENTS: dict[str, Callable[[Reader], Statement]] = {
    "{": Reader._block,
    "if": Reader._if,
    "for": Reader._loop,
    "while": Reader._loop,
    UNROLL: Reader._loop,
    "do": Reader._repeat,
}
