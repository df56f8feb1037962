# SPDX-License-Identifier: Apache-2.0
"""What a text gives away that may be a secret, and the text without it: one definition for all.

A text may hold a secret exactly where `bare` leaves something out:

* **of an address** (`scheme:/…`) whatever stands before the "@" of its host, as a token may be all
  of it, and its query and fragment, since a server's keys have any name. The containers of Azure's
  and Oracle's addresses (`abfss://container@account…`) are no users, and an "@" behind the first
  slash is a letter, unless a user and a colon begin the address: passwords may have slashes;
* **of `user:word@`** the word, with a scheme or without; a time (`12:30@`) is none;
* **of `name=value`** the value, and all behind it, where the name is a password's or a key's. Words
  that are also columns of tables (`token`, `sig`, `pass`, `secret`, …) name no secret where they
  are folders of a path, as in `data/sig=3/part.parquet`; `password` and `account_key` always do.

Percent signs, escapes, letters that look like others and letters that nobody sees are undone first.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from re import Match

_OUT = "…"  # stands where something was left out
_DEEP = 8  # times that a text may be encoded
_UNSEEN = ("Cf", "Mn")  # categories of letters that nobody sees, or that stand above others
# Words with which messages go on behind what they quote.
_ON = re.compile(r"[ ](?:is|has|cannot|could|does|exists|holds|was)[ ]|\Z")

# ---------------------------------------------------------------- addresses


def _addresses(end: str) -> re.Pattern[str]:
    """Return what finds addresses, whose query ends at a pattern."""
    # MotherDuck's, with a token behind "?", have no slash; the name of a drive is one letter
    return re.compile(
        r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,40}:/+|(?<![\w.])(?:md|motherduck):)"
        r"(?:(?P<user>[^\s/?#:@]*:.*|[^\s/@]*)@)?(?P<path>[^\s?#]*)"
        rf"(?P<query>.*[?#].*?{end})?",
        re.DOTALL,
    )


_ADDRESSES = {True: _addresses(rf"(?={_ON.pattern})"), False: _addresses(r"\Z")}
_CONTAINER = re.compile(r"(?:abfss?|wasbs?|oci)://[\w$.-]+", re.ASCII | re.IGNORECASE)
_ORACLE = re.compile(r"(?i:(jdbc:(?:[\w+.-]++:)++))(?!//|…@)[^\s@]+@")
# looked for no further than so many letters, as a text may be of any length
_USER = re.compile(r"(?<![^/\\=\s])([^\s/\\:@=]+):(?!:)([^\s/\\@]{1,1000})@")
_TIME = re.compile(r"(?:[^:]*(?:[^:A-Za-z0-9]|[0-9]T))?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?")

# ---------------------------------------------------------------- names of secrets

# with white space that messages may have escaped, as strings that connect to a database have it
_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]++(?:[ ][\w.-]++){0,2}+)"
    r"(?P<quote>[\"']?)(?:\s|\\[tnrfv]){0,99}+(?P<sign>=|:(?!:))"
)
_ALWAYS = re.compile(
    r"(?:pass(?:word|phrase|wd|code)|pwd|(?:client|app)secret|sharedaccesssignature|"
    r"(?:account|access|api|secret|shared|private|signing|encryption|storage)key(?:id)?|"
    r"(?:access|session|security|auth|refresh|bearer|sas|id|motherduck|private|vault)token|"
    r"(?:db|user)pass|apimsubscriptionkey|(?:amz|goog)(?:signature|credential))s?[0-9]*\Z|"
    r"accountkey|clientsecret|fsazuresas"  # Spark's have a host behind
)
_OF_COLUMNS_TOO = {
    *("pass", "token", "tokens", "sig", "signature", "secret", "secrets", "sas"),
    *("credential", "credentials", "jwt"),
}
_IN_QUERIES = {"key", "code", "auth"}
_HEADERS = re.compile(r"authorization\Z")
_WORDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_FOLDER = re.compile(r"(?:[^/\\;&\s?]|\?(?!\w))*(?:[;&](?!\w)|[/\\\s]|\Z)")
_FIRST = re.compile(r"(?:[^/\\;&\s?]|\?(?!\w))*[/\\]")
_ESCAPED = re.compile(r"\\(?:u00|x)([0-9A-Fa-f]{2})")
_ALIKE = str.maketrans("асԁеһіјӏорԛѕԝхуαεικορυνıⅼ", "acdehijlopqswxyaeikopuvil")


def bare(text: str, *, goes_on: bool = False) -> str:
    """Return a text without what may be a secret in it, "…" in its place.

    Args:
        text: what somebody gave.
        goes_on: whether it is a message, which says more behind what it quotes.

    Examples:
        >>> bare("https://me:word@office.example/t.parquet?key=1")
        'https://…@office.example/t.parquet?…'
        >>> bare("table=host=db password=a b is no file", goes_on=True)
        'table=host=db password=… is no file'
        >>> bare("me:word@db/t.csv"), bare("password%3Dword"), bare("a@b?c.csv")
        ('me:…@db/t.csv', 'password=…', 'a@b?c.csv')
    """
    found = text
    if ":/" in found or "md:" in found or "duck:" in found:
        found = _ADDRESSES[goes_on].sub(_address, found)
    found = _by_words(found, goes_on=goes_on)
    plain = _plain(found)
    if plain == found or (inner := _by_words(plain, goes_on=goes_on)) == plain:
        return found
    return bare(inner, goes_on=goes_on)


def may_hold_a_secret(text: str) -> bool:
    """Return whether `bare` leaves something out.

    Examples:
        >>> ordinary = ("s3://b/t", "data/sig=3/1.parquet", "abfss://box@me.dfs.core.windows.net/t")
        >>> [may_hold_a_secret(own) for own in ordinary]
        [False, False, False]
        >>> secret = ("s3://b?t", "t.parquet?sig=1", "u:w@db", "pass=word", "data/api_key=3/t.csv")
        >>> [may_hold_a_secret(own) for own in secret]
        [True, True, True, True, True]
    """
    return bare(text) != text


def names_a_secret(name: str) -> bool:
    """Return whether a field of this name is one that a secret is given in.

    Examples:
        >>> [names_a_secret(own) for own in ("AccountKey", "s3.secret", "token", "tokens_spent")]
        [True, True, True, False]
    """
    return bool(_ALWAYS.search(_squashed(name))) or _last_word(name) in _OF_COLUMNS_TOO


def _address(own: Match[str]) -> str:
    scheme, user, path = own["scheme"], own["user"], own["path"]
    if user is not None:
        contained = _CONTAINER.fullmatch(scheme + user) and "@" not in path.partition("/")[0]
        path = f"{user if contained else _OUT}@{path}"
    return scheme + path + ("" if own["query"] is None else f"?{_OUT}")


def _by_words(text: str, *, goes_on: bool) -> str:
    """Return a text without what stands behind a user and a colon, or the name of a secret."""
    if "@" in text:
        text = _USER.sub(_user, _ORACLE.sub(rf"\1{_OUT}@", text))
    parts, at = [], 0
    for own in _PAIR.finditer(text) if "=" in text or ":" in text else ():
        if own.start() < at or not _is_secret(own, text, goes_on=goes_on):
            continue
        on = _ON.search(text, own.end()) if goes_on else None
        end = len(text) if on is None else on.start()
        value = text[own.end() : end].strip(" \t\"'")
        if not value or value.startswith(_OUT):
            continue
        parts += [text[at : own.end()], _OUT]
        at = end
    return "".join([*parts, text[at:]])


def _is_secret(own: Match[str], text: str, *, goes_on: bool) -> bool:
    """Return whether what a pair names is a secret where it stands."""
    name, last, before = own["name"], _last_word(own["name"]), text[: own.start()][-1:]
    always = _ALWAYS.search(_squashed(name)) is not None
    if own["sign"] == ":":
        if goes_on and not own["quote"] and before not in ("=", "'", '"'):
            return False  # so messages say what they are about
        return always or bool(_HEADERS.search(last) or (own["quote"] and last in _OF_COLUMNS_TOO))
    if always or last not in _OF_COLUMNS_TOO:
        return always or (before in ("?", "&", ";") and last in _IN_QUERIES)
    if before in ("/", "\\"):
        return _FOLDER.match(text, own.end()) is None
    first = before in ("", "=", "'", '"', "(", "[") and " " not in name
    return not first or _FIRST.match(text, own.end()) is None


def _user(own: Match[str]) -> str:
    if own[1].lower() in ("mailto", "jdbc") or _TIME.fullmatch(f"{own[1]}:{own[2]}"):
        return own[0]
    return f"{own[1]}:{_OUT}@"


def _squashed(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _last_word(name: str) -> str:
    return _WORDS.split(name)[-1].lower()


def _plain(text: str) -> str:
    """Return a text with its letters by number undone, and those that look like others."""
    if text.isascii() and "%" not in text and "\\" not in text:
        return text
    for _ in range(_DEEP):
        folded = _OUT.join(map(_folded, text.split(_OUT)))
        undone = unquote(_ESCAPED.sub(r"%\1", folded))
        if undone == text:
            break
        text = undone
    return text


def _folded(text: str) -> str:
    if text.isascii():
        return text
    seen = (
        c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) not in _UNSEEN
    )
    return "".join(seen).translate(_ALIKE)
