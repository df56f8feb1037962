# SPDX-License-Identifier: Apache-2.0
"""What is a secret in a text, and what is an ordinary path, whatever its letters."""

import string
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.errors import LownoiseError, SpecError, quoted
from lownoise.errors.credentials import bare, may_hold_a_secret
from lownoise.spec import read_spec

KEY = "hunter2"
SECRET = (
    # a user of an address, or of none
    "https://me:{}@office.example/t.parquet",
    "https://{}@office.example/t.parquet",
    "https://:{}@office.example/t.parquet",
    "https://me:%40{}@office.example/t.parquet",
    "s3://AKIA:a/b {}@bucket/t.parquet",
    "mongodb+srv://u:{}@office.example/people",
    "abfss://me:{}@account.dfs.core.windows.net/t",
    "abfss://{}@b@account.dfs.core.windows.net/t",
    "jdbc:oracle:thin:scott/{}@//office:1521/people",
    "u:{}@db",
    "me:12:{}@db",
    "me%3A{}%40db",
    "https%3A%2F%2Fme%3A{}%40db%2Ft",
    "me\uff1a{}\uff20db",
    # a query, or a fragment
    "https://office.example/t.parquet?anything={}",
    "https://office.example/my file.parquet#{}",
    "jdbc:postgresql://office/people?user=me&password={}",
    "office.example/t.parquet?X-Amz-Signature={}",
    "office.example/t.parquet?X-Goog-Credential={}",
    "t.parquet?sv=2&sig={}&se=3",
    "t.parquet?key={}",
    "t.parquet?a=b&code={}",
    # pairs
    "password={}",
    "PaSsWoRd={}",
    "pass={}",
    "uid=me;PWD = {}",
    "Server=office;Uid=me;Password={};",
    "host=office password={} dbname=people",
    "AccountName=me;AccountKey={};EndpointSuffix=office.example",
    "Shared Access Key={}",
    "SharedAccessSignature=sv=2&sig={}",
    "SharedAccessSignature sr=office&sig={}&se=3",
    "access_key_id={}",
    "export AWS_SECRET_ACCESS_KEY={}",
    "GITHUB_TOKEN={}",
    "spark.hadoop.fs.s3a.secret.key={}",
    "fs.azure.account.key.me.dfs.core.windows.net={}",
    "fs.azure.account.oauth2.client.secret.me={}",
    "fs.azure.sas.box.me.blob.core.windows.net={}",
    "PRIVATE-TOKEN: {}",
    "X-Vault-Token: {}",
    "Ocp-Apim-Subscription-Key: {}",
    "jwt={}",
    "token={}",
    "user=me token={}/a",
    "data/sig={}&se=3",
    "data/api_key={}/t.csv",
    "password: {}",
    "{'key': 'a', 'secret': '{}'}",
    '{"token": "{}"}',
    "Authorization: Bearer {}",
    # letters by number, that look like others, or that nobody sees
    "password%3D{}",
    "p%61ssword%253D{}",
    "password\\u003d{}",
    "pass\\x77ord={}",
    "\uff50\uff41ss\uff57ord\uff1d{}",
    "p\u0430ssw\u043erd={}",
    "pass\u200bword={}",
    "p\u00e1ssword={}",
)
ORDINARY = (
    "data/sig=3/part.parquet",
    "sig=3/part.parquet",
    "sig=3/token=0xA0b8/pass=2/secret=true/*.parquet",
    "data/token=a",
    "data\\token=a\\t.csv",
    "data/token=?/t.parquet",
    "visits/state=CA/1.parquet",
    "password_reset=1/t.parquet",
    "design=3/t.csv",
    "bypass=2",
    "secretary=3",
    "key=3/t.csv",
    "me@db/k=1/t",
    "host=db user=me",
    "12:30@x.csv",
    "runs/2026-11-29T12:30:00@x.csv",
    "a@b?c.csv",
    "C:\\data\\a@b.csv",
    "office.ledger::me@office",
    "people.duckdb::passwords",
    "mailto:me@office.example",
    "abfss://container@account.dfs.core.windows.net/path/token=3/t.parquet",
    "wasbs://box-1@account.blob.core.windows.net/a@b.parquet",
    "jdbc:oracle:thin:@//office:1521/people",
    "s3://bucket/a@b/my file.parquet",
    "https://cdn.example/package@2/t.parquet",
    "s3://bucket/2026-*/*.parquet",
    "data/t=100%25/a%20b.csv",
)


@pytest.mark.parametrize("text", SECRET)
def test_a_secret_is_found_and_left_out_wherever_it_is_said(text):
    own = text.replace("{}", KEY)
    assert may_hold_a_secret(own)
    assert not may_hold_a_secret(bare(own))
    for said in (
        bare(own),
        bare(f"asked of {own} on Monday"),
        quoted(own),
        str(LownoiseError(f"table={own} is no file; give another")),
        str(LownoiseError(f"decimal={quoted(own)} is none; give another")),
        str(SpecError(f"spec=s.toml has a mistake:\n  field: (found {quoted(own)})")),
    ):
        assert KEY not in said


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_path_is_taken_and_said_as_it_is(text):
    message = f"table={text} is no file; give another"
    assert str(LownoiseError(message)) == message
    assert bare(text) == text


def test_no_mistake_of_a_specification_quotes_a_field_that_names_a_secret(tmp_path):
    (tmp_path / "s.toml").write_text(
        f'[question]\ntoken = "{KEY}"\n[ledger]\npath = 3\npassword = "{KEY}"\n'
        f'[data]\npath = "t.csv"\nstorage_options = {{ key = "{KEY}" }}\n'
    )
    with pytest.raises(SpecError, match="token: is not a field") as refusal:
        read_spec(tmp_path / "s.toml")
    assert "ledger.password: is not a field" in str(refusal.value)
    assert KEY not in str(refusal.value)


WORDS = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=9)
ENCODED = st.sampled_from(
    [str, str.upper, str.lower, lambda own: quote(own, safe=""), lambda own: quote(quote(own))]
)
HOLDING = st.sampled_from(
    [
        "https://{user}:{key}@{host}/{path}",
        "{user}:{key}@{host}/{path}",
        "{host}/{path}?sig={key}",
        "{path};PASSWORD={key};x={user}",
        "password={key}",
        "{path}/client_secret={key}/{user}",
    ]
)


@settings(max_examples=100)
@given(HOLDING, ENCODED, WORDS, WORDS, WORDS)
def test_no_letters_hide_a_secret(form, encoded, user, host, path):
    own = encoded(form.format(key="\N{SNOWMAN}9x", user=user, host=host, path=path))
    key = encoded("\N{SNOWMAN}9x")
    assert may_hold_a_secret(own)
    assert not {key, "\N{SNOWMAN}"} & {
        bare(own)[i : i + len(k)] for k in (key, "\N{SNOWMAN}") for i in range(len(own))
    }


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sampled_from(["sig", "token", "pass", "secret", "credential"]) | WORDS, WORDS),
        min_size=1,
        max_size=4,
    ),
    WORDS,
)
def test_folders_that_are_values_are_no_secrets(folders, name):
    path = "/".join(f"{column}={value}" for column, value in folders) + f"/{name}.parquet"
    assert bare(path) == path or any(c.lower().endswith(("pwd",)) for c, _ in folders)


PIECES = st.sampled_from(
    [
        "https://",
        "md:",
        "@",
        ":",
        "?",
        "#",
        "/",
        "=",
        "password",
        "token",
        " is ",
        "%3D",
        "%",
        "…",
        " ",
        ";",
        "&",
        "a",
        "ａ",
        "\\x3d",
        "jdbc:",
        "\n",
        "'",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES | st.characters(), max_size=14).map("".join), st.booleans())
def test_what_is_left_holds_no_secret(text, goes_on):
    """Of any text; and what leaves something out in a message would have been refused as a path."""
    once = bare(text, goes_on=goes_on)
    assert bare(once, goes_on=goes_on) == once
    assert once == text or may_hold_a_secret(text)
    assert not may_hold_a_secret(bare(text))
