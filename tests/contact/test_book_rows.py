"""The rows of chapter 11 in the docs: each names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_row_of_the_chapter_has_its_tests():
    text = (ROOT / "docs/book/chapter-11.md").read_text("utf-8")
    rows = [re.split(r" *\| *", line.strip("| ")) for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[0]) for row in rows] == list(range(1, 21))
    for number, _, functions, tests in rows:
        assert "`" in functions, number
        folder, file = ROOT / "tests/contact", ""
        for name in re.findall(r"`([^`]+)`", tests):
            place, _, test = name.rpartition("::")
            folder, file = (ROOT, place) if place.startswith("tests/") else (folder, place or file)
            source = (folder / file).read_text("utf-8")
            assert f"def {test}(" in source, f"row {number}: {file} has no {test}"
