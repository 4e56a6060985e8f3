"""The code in the README and in docs/ runs, and prints what the page says it prints."""

import textwrap

import pytest

from tests import doc_blocks

PAGES = [doc_blocks.ROOT / "README.md", *sorted((doc_blocks.ROOT / "docs").rglob("*.md"))]

NEED_COMPILER = {"docs/native.md"}


def page_cases():
    """Return one case per page, and one skip per block that a page asks to leave alone."""
    for page in PAGES:
        name = page.relative_to(doc_blocks.ROOT).as_posix()
        marks = [pytest.mark.compiler] if name in NEED_COMPILER else []
        yield pytest.param(page, id=name, marks=marks)
        for block in doc_blocks.blocks(page):
            if block.comment == "skip":
                reason = f"{name}:{block.line}: {block.argument}"
                mark = pytest.mark.skip(reason=reason)
                yield pytest.param(page, id=f"{name}:{block.line}", marks=mark)


@pytest.mark.parametrize("page", list(page_cases()))
def test_page(page, tmp_path):
    for claim in doc_blocks.run_page(page, tmp_path):
        claim.check()


# What follows holds the runner itself to pages with something planted in them.


@pytest.fixture
def run(tmp_path):
    """Return a function that writes a page, runs it and checks what it shows."""

    def run_text(text):
        page = tmp_path / "page.md"
        page.write_text(textwrap.dedent(text), encoding="utf-8")
        folder = tmp_path / "folder"
        folder.mkdir()
        claims = doc_blocks.run_page(page, folder)
        for claim in claims:
            claim.check()
        return page, claims

    return run_text


def test_blocks_share_a_namespace_and_outputs_are_compared(run):
    _, claims = run(
        """
        ```python
        import dataclasses
        @dataclasses.dataclass
        class Point:
            x: int
        print(Point(1))
        ```
        ```sh
        never run
        ```
        ```python
        print(Point(2).x)
        ```
        <!-- output -->
        ```text
        Point(x=1)
        2
        ```
        ```python
        >>> Point(3)
        Point(x=3)
        ```
        """
    )
    assert [claim.actual for claim in claims] == ["Point(x=1)\n2\n"]


def test_a_console_block_is_run_and_sees_saved_files(run):
    _, claims = run(
        """
        <!-- file: hello.py -->
        ```python
        print("hello", end="\\nworld\\n")
        ```
        ```console
        $ python hello.py
        $ python hello.py
        hello
        ...ld
        ```
        """
    )
    assert len(claims) == 1


def test_a_skipped_block_is_left_alone(run):
    run("<!-- skip: shows what a GPU answers -->\n```python\nraise SystemExit\n```\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\nx = 1\n1 / 0\n```\n", r"page.md:2: ZeroDivisionError"),
        ("```python\nprint(1)\n```\n<!-- output -->\n```\n2\n```\n", r"page.md:6: .*but today.*1"),
        ("```python\n>>> 1 + 1\n3\n```\n", r"page.md:2: .*Expected"),
        ("```console\n$ python -c 'print(1)'\n2\n```\n", r"page.md:2: .*but today"),
        ("```console\n$ python -c 'exit(3)'\n```\n", r"exit status 3"),
        ("```console\n$ rm -r folder\n```\n", r"only `\$ python"),
        ("```console\npython -c 1\n```\n", r"begins with a command"),
        ("```python\n1\n", r"page.md:2: the block has no end"),
        ("<!-- skip -->\n```python\n```\n", r"the comment above is none of"),
        ("<!-- skipp: no -->\n```python\n```\n", r"the comment above is none of"),
    ],
)
def test_a_planted_fault_is_found(run, text, message):
    with pytest.raises(doc_blocks.PageError, match=f"(?s){message}"):
        run(text)


def test_update_writes_the_output_of_today_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    text = (
        "```python\nprint('new')\nprint('lines')\n```\n\n<!-- output -->\n```text\n{0}\n```\n\n"
        "```console\n$ python -c 'print(1)'\n$ python -c 'print(2)'\n{1}\n```\nThe end.\n"
    )
    page.write_text(text.format("old", "old"), encoding="utf-8")
    assert doc_blocks.update(page)
    assert page.read_text(encoding="utf-8") == text.format("new\nlines", "2")
    assert not doc_blocks.update(page)
