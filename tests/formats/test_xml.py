"""The XML reader: what it gives, and what it refuses."""

import pytest

from knuckle.errors import ModelError
from knuckle.formats.xml import MAX_DEPTH, MAX_ELEMENTS, MAX_TOKEN, parse_xml


def refused(data: bytes | str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        parse_xml(data, file="robot.urdf")
    assert caught.value.file == "robot.urdf"
    return caught.value


def test_tree():
    root = parse_xml(b'<?xml version="1.0"?>\n<!-- c -->\n<a x="1" y="&lt;&#233;">\n  <b/> t <c:d>u</c:d>\n</a>')
    assert (root.tag, dict(root.attributes), root.line, root.text) == ("a", {"x": "1", "y": "<é"}, 3, "t")
    assert [(e.tag, e.line, e.text) for e in root.children] == [("b", 4, ""), ("c:d", 4, "u")]
    assert [e.tag for e in root.walk()] == ["a", "b", "c:d"]
    with pytest.raises(AttributeError):
        root.tag = "z"  # type: ignore[misc]


@pytest.mark.parametrize(
    "data",
    [
        '<?xml version="1.0" encoding="utf-16"?><a n="é"/>'.encode("utf-16"),
        '<?xml version="1.0" encoding="ISO-8859-1"?><a n="é"/>'.encode("latin-1"),
        '<?xml version="1.0" encoding="cp1252"?><a n="é"/>'.encode("cp1252"),
        '<a n="é"/>'.encode(),
        '<?xml version="1.0" encoding="latin-1"?><a n="é"/>',
    ],
)
def test_encodings(data: bytes | str):
    assert parse_xml(data).attributes == {"n": "é"}


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "y">]>\n<a>&x;</a>', 2, "document type declaration"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<a/>', 1, "document type declaration"),
        (b"<a>\n&nbsp;</a>", 2, "undefined entity"),
        (b"<a>\n<b>\n</a>", 3, "mismatched tag"),
        (b"<a>\n<b", 2, "unclosed token"),
        (b"<a/>\n<b/>", 2, "junk after document element"),
        (b"<a x='1' x='2'/>", 1, "duplicate attribute"),
        (b'<a n="\xff"/>', 1, "not well-formed"),
        (b"<a>\0</a>", 1, "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', 1, "unknown encoding: klingon"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', 1, "multi-byte encodings are not supported"),
        (b'<?xml version="1.0" encoding="zlib"?><a/>', 1, "cannot be decoded"),
        (b"  \n", 1, "empty"),
        (b"<!-- only -->", 1, "no element found"),
        (bytes(range(256)), 1, "not well-formed"),
        ("<a>\ud800</a>", None, "not valid Unicode"),
    ],
)
def test_refuses(data: bytes | str, line: int | None, words: str):
    error = refused(data)
    assert error.line == line
    assert words in error.message


def test_entity_bomb_is_refused_at_once():
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]><a>&e11;</a>'
    assert "DOCTYPE" in refused(bomb).message


def test_depth():
    deepest = b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH
    assert len(list(parse_xml(deepest).walk())) == MAX_DEPTH
    assert "nested more than" in refused(b"<a>\n" * (MAX_DEPTH + 1)).message
    assert refused(b"<a>\n" * (MAX_DEPTH + 1)).line == MAX_DEPTH + 1


def test_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("knuckle.formats.xml.MAX_BYTES", 1000)
    assert "the limit is" in refused(b"<a>" + b" " * 1000 + b"</a>").message


@pytest.mark.slow
def test_number_of_elements():
    assert "more than" in refused(b"<a>" + b"<b/>" * MAX_ELEMENTS + b"</a>").message


class Followed(bytes):
    """Bytes that know how far they were read."""

    furthest = 0

    def __getitem__(self, part):
        self.furthest = max(self.furthest, part.stop)
        return super().__getitem__(part)


@pytest.mark.parametrize("form", [b'<a n="%s"/>', b"<a><!--%s--></a>", b"<a %s/>", b"<%s/>"])
def test_endless_token_is_refused_at_once(form: bytes):
    """What comes after the limit is not even looked at: the parser would read it again with every piece."""
    data = Followed(form % (b"x" * (5 * MAX_TOKEN)))
    assert "a single tag or comment" in refused(data).message
    assert MAX_TOKEN < data.furthest < 1.1 * MAX_TOKEN


def test_long_text_is_no_token():
    assert len(parse_xml(b"<a>" + b"x" * (2 * MAX_TOKEN) + b"</a>").text) == 2 * MAX_TOKEN
