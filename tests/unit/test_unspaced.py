"""Texts without spaces between words are compared by pairs of letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text import unspaced
from subconscious.text.code_prose import prose_lines, split


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix the parser_v2 now", ["fix", "the", "parser_v2", "now"]),
        ("修复upload.py的错误", ["修复", "upload", "py", "的错", "错误"]),
        ("ログを出す", ["ログ", "グを", "を出", "出す"]),
        ("파일을 읽음", ["파일", "일을", "읽음"]),
        ("ที่อยู่", ["ที่อ", "อยู่"]),
        ("在 a 里", ["在", "a", "里"]),
    ],
)
def test_words_and_pairs_of_letters(text: str, words: list[str]) -> None:
    assert unspaced.split(text) == words


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("因为签名", ["为签", "签名"]),
        ("追加しました", ["追加", "加し"]),
        ("변경했습니다", ["변경", "경했"]),
        ("จากไฟล์", ["กไ", "ไฟ", "ฟล์"]),
    ],
)
def test_pairs_of_grammar_are_left_out(text: str, pairs: list[str]) -> None:
    assert unspaced.pairs_of(text) == pairs


@given(st.text())
def test_other_text_is_split_into_words_only(text: str) -> None:
    if not unspaced.is_unspaced(text):
        assert unspaced.pairs_of(text) == []
        assert unspaced.number_of_letters(text) == 0
        assert unspaced.without_runs(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "上传失败后任务会放回队列。",
        "Повторная отправка после ошибки отключена.",
        "업로드가 실패하면 다시 보냅니다.",
        "อัปโหลดไม่สำเร็จจะส่งใหม่",
        "Les réponses arrivées après l'échéance",
    ],
)
def test_lines_of_prose_in_other_languages(line: str) -> None:
    assert prose_lines(f"{line}\nx = 1\n用户 = 名") == line


def test_a_string_without_spaces_can_be_a_sentence() -> None:
    code, prose = split('print("上传失败后任务会放回队列")  # 重试\nname = "用户"')
    assert (code, prose) == ('print()  \nname = "用户"', '"上传失败后任务会放回队列"\n# 重试')
