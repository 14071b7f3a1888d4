"""Answers in many wordings and their readings, written by hand; and what must hold of any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.errors import UnknownName, UsageError
from groundfault.parsing.answers import KINDS, Kind, ParsedAnswer, parse_answer
from groundfault.parsing.choices import parse_choice
from groundfault.parsing.numbers import parse_number, parse_range
from groundfault.parsing.passages import passage
from groundfault.parsing.wording import is_refusal
from groundfault.parsing.yes_no import denies, parse_yes_no
from groundfault.records import Mode

# Yes/no: the answer and its reading where the question affirms.
YES_NO: list[tuple[str, str | None]] = [
    ("Yes", "yes"),
    ("Yes.", "yes"),
    ("yes", "yes"),
    ("YES!", "yes"),
    ("**Yes**", "yes"),
    ("**Yes.** The dog is on the rug.", "yes"),
    ("Yes, there is a dog on the rug.", "yes"),
    ("Yes there is", "yes"),
    (" \n yes \n", "yes"),
    ('"Yes."', "yes"),
    ("`yes`", "yes"),
    ("Answer: yes", "yes"),
    ("A: Yes", "yes"),
    ("The answer is yes.", "yes"),
    ("Yep, right in front of the sofa", "yes"),
    ("Yeah", "yes"),
    ("Absolutely.", "yes"),
    ("Of course.", "yes"),
    ("Certainly, two of them.", "yes"),
    ("Correct.", "yes"),
    ("That is correct.", "yes"),
    ("That's right!", "yes"),
    ("True", "yes"),
    ("Indeed, it is.", "yes"),
    ("I think so.", "yes"),
    ("I would say yes.", "yes"),
    ("Most likely yes.", "yes"),
    ("It is.", "yes"),
    ("There are.", "yes"),
    ("Well, yes: behind the lamp.", "yes"),
    ("Based on the picture, yes.", "yes"),
    ("No doubt about it.", "yes"),
    ('{"answer": "yes"}', "yes"),
    ("\\boxed{\\text{Yes}}", "yes"),
    ("<think>It could be a cat, so no?</think>Yes", "yes"),
    ("The description is accurate.", "yes"),
    ("Oui, il y a un chien.", "yes"),
    ("Ja.", "yes"),
    ("Sí, hay uno.", "yes"),
    ("Sim", "yes"),
    ("Да, есть.", "yes"),
    ("是的,有一只狗。", "yes"),
    ("对", "yes"),
    ("はい、あります。", "yes"),
    ("네, 있습니다.", "yes"),
    ("Evet", "yes"),
    ("نعم", "yes"),
    ("No", "no"),
    ("No.", "no"),
    ("no!", "no"),
    ("No, there is not.", "no"),
    ("No there isn't", "no"),
    ("No — the rug is bare.", "no"),
    ("Nope", "no"),
    ("**No**", "no"),
    ("Not really.", "no"),
    ("Not at all", "no"),
    ("Absolutely not.", "no"),
    ("Of course not!", "no"),
    ("I don't think so.", "no"),
    ("I do not believe so", "no"),
    ("That is not correct.", "no"),
    ("That's wrong.", "no"),
    ("Incorrect.", "no"),
    ("False. It is green.", "no"),
    ("It is not.", "no"),
    ("It isn't.", "no"),
    ("There isn't a dog.", "no"),
    ("There is no dog on the rug.", "no"),
    ("There are no dogs in the picture.", "no"),
    ("I can't see a dog anywhere.", "no"),
    ("I do not see any dog.", "no"),
    ("I see no dog here.", "no"),
    ("No dog is visible.", "no"),
    ("Nothing changed.", "no"),
    ("The picture does not show a dog.", "no"),
    ("It is not the case that a dog lies there.", "no"),
    ("It is false that there is a dog.", "no"),
    ("Neither.", "no"),
    ("In this picture, no.", "no"),
    ("Looking at the rug, I would say no.", "no"),
    ("Probably not.", "no"),
    ("The statement is false.", "no"),
    ("Non, pas du tout.", "no"),
    ("Nein, der Teppich ist leer.", "no"),
    ("Não.", "no"),
    ("Нет", "no"),
    ("不是,地毯上什么都没有。", "no"),
    ("没有", "no"),
    ("いいえ", "no"),
    ("아니요, 없습니다.", "no"),
    ("Hayır.", "no"),
    ("لا", "no"),
    ("", None),
    ("   ", None),
    ("...", None),
    ("Maybe.", None),
    ("Perhaps yes, perhaps no.", None),
    ("Yes and no.", None),
    ("Yes/No", None),
    ("I'm not sure.", None),
    ("No idea.", None),
    ("It is hard to tell.", None),
    ("I cannot determine this from the picture.", None),
    ("I'm sorry, but I can't help with that.", None),
    ("As an AI, I cannot view pictures.", None),
    ("No image was provided.", None),
    ("I can't see the image.", None),
    ("Please upload the picture first.", None),
    ("A brown dog.", None),
    ("The ball is blue.", None),
    ("It might be a dog.", None),
    ("42", None),
    ("<think>Is there one? Yes", None),
    ("It depends on what counts as a dog.", None),
    ("Yes, but only partially.", "yes"),
    ("No, though something similar stands next to it.", "no"),
    ("I am afraid not.", "no"),
    ("The dog isn't there.", "no"),
    ("There does not appear to be a dog.", "no"),
    ("There doesn't seem to be any dog in the image.", "no"),
    ("It appears that there is no dog.", "no"),
    ("It looks like there is no dog here.", "no"),
    ("Sorry, I can't tell.", None),
    ("Yes - see the lower left.", "yes"),
    ("Right.", "yes"),
    ("Right side of the picture.", None),
    ("No one is there.", "no"),
    ("Affirmative", "yes"),
    ("Negative.", "no"),
    ("Nah, it's empty", "no"),
    ("Both pictures are identical.", None),
    ("Definitely!", "yes"),
    ("Yes\n\nThe table has a cup.", "yes"),
    ("[No]", "no"),
    ("Answer: **No**.", "no"),
    ("Final: no", "no"),
    ("ANSWER IS NO", "no"),
    ('The correct answer is "Yes".', "yes"),
    ("It does not contradict the picture.", "no"),
    ("The image shows no dog.", "no"),
    ("I'm unable to see any dog in this picture.", "no"),
    ("Si, claro", "yes"),
    ("Nee.", "no"),
    ("不对", "no"),
    ("沒有狗", "no"),
    ("是", "yes"),
    ("有的", "yes"),
    ("Sure, there is one", "yes"),
    ("Hmm, no.", "no"),
    ("Y", "yes"),
    ("N", "no"),
    ("1", None),
    ("Yes it's true that there is a dog", "yes"),
    ("Never mind.", None),
    ("I cannot see well, but yes.", "yes"),
    ("None that I can see.", "no"),
    ("Without a doubt, yes", "yes"),
    ("The answer to this question is no.", "no"),
]

NEGATED: list[tuple[str, str | None]] = [
    ("Yes, there is no dog.", "yes"),
    ("There is no dog on the rug.", "yes"),
    ("I cannot see any dog.", "yes"),
    ("Nothing changed.", "yes"),
    ("No, there is one.", "no"),
    ("That is correct.", "yes"),
    ("That is false.", "no"),
    ("It is true that there is no dog.", "yes"),
    ("It is not true that there is no dog.", "no"),
    ("It is not the case that there is a dog.", "yes"),
    ("It is not.", None),
]

COT: list[tuple[str, str | None]] = [
    ("The rug is empty at first sight. On a closer look a dog lies there. Yes.", "yes"),
    ("Yes, rugs often have dogs on them. But here I see only a ball. So the answer is no.", "no"),
    ("Step 1: find the rug. Step 2: look on it.\n\n**Final answer:** No", "no"),
    ("First, the rug.\nThen, the dog.\n\nFinal Answer\n\nYes.", "yes"),
    ("No dog so far… wait, there! Final answer: yes. I hope this helps!", "yes"),
    ("The rug is bare. Therefore, no, there is no dog on the rug.", "no"),
    ("The rug is bare. Therefore, there is no dog on the rug.", "no"),
    (
        "The fur is brown and the tail is long. Yes, it is a dog. Let me know if you need more.",
        "yes",
    ),
    ("I see a rug. I see a ball. I see a lamp.", None),
    ("Yes or no? Hard to say. I would need a better picture.", None),
    ("<think>\nyes yes yes\n</think>\n\nNo.", "no"),
    ("The answer is yes? No: the ears are a rabbit's. The final answer is no.", "no"),
    ("答案:是", "yes"),
]

OPTIONS = ("red", "dark blue", "blue", "none of these")
CHOICE: list[tuple[str, str | None]] = [
    ("A", "A"),
    ("b", "B"),
    ("C.", "C"),
    ("(D)", "D"),
    ("B)", "B"),
    ("**C**", "C"),
    ("A. red", "A"),
    ("B: dark blue", "B"),
    ("C - blue", "C"),
    ("Option C", "C"),
    ("Option C is right.", "C"),
    ("The answer is B.", "B"),
    ("I would choose D.", "D"),
    ("I pick (A)", "A"),
    ("It's C, because the sky is like that.", "C"),
    ("Answer: D", "D"),
    ("\\boxed{B}", "B"),
    ("red", "A"),
    ("It is red.", "A"),
    ("The apple is dark blue.", "B"),
    ("Blue", "C"),
    ("A red apple.", "A"),
    ("A blue one, I think", "C"),
    ("None of these.", "D"),
    ("None", "D"),
    ("Not red but blue.", "C"),
    ("It is not A but C.", "C"),
    ("Not A, but C", "C"),
    ("It's blue rather than red.", "C"),
    ("c) blue", "C"),
    ("D\n\nThe apple has no colour from the list.", "D"),
    ('{"answer": "C"}', "C"),
    ("Neither red nor blue: none of these.", "D"),
    ("A or B", None),
    ("A and C", None),
    ("red or blue", None),
    ("E", None),
    ("Option F", None),
    ("A. blue", None),
    ("green", None),
    ("I can't help with that.", None),
    ("", None),
    ("All of them.", None),
    ("Not red.", None),
    ("It could be A, it could be B.", None),
    ("Any of A, B, C, D", None),
    ("The answer is (B) dark blue", "B"),
    ("I'd go with B", "B"),
    ("B, dark blue.", "B"),
    ("Choice: C", "C"),
    ("The color is best described as blue.", "C"),
    ("Neither of those; none of these.", "D"),
    ("B is incorrect, so C.", "C"),
    ("A dark blue apple", "B"),
    ("d", "D"),
    ("The apple appears to be red, so the answer is A.", "A"),
    ("Answer: A) red", "A"),
    ("Red.", "A"),
    ("It is none of these colours", "D"),
    ("C!", "C"),
    ("Option (B)", "B"),
    ("I think the answer is either A or C.", None),
    ('"C"', "C"),
    ("B. Dark blue\n\nExplanation: the apple is not red.", "B"),
    ("A is wrong, B is wrong, C is right", "C"),
]

SENTENCES = ("Nothing at all: the table is bare", "a brown dog", "a dog, partly hidden", "two dogs")
CHOSEN_SENTENCE: list[tuple[str, str | None]] = [
    ("Nothing at all: the table is bare.", "A"),
    ("There is nothing on the table.", "A"),
    ("There is no dog.", "A"),
    ("A brown dog is on the table.", "B"),
    ("A dog, partly hidden", "C"),
    ("There are two dogs.", "D"),
    ("a brown dog and two dogs", None),
]

COUNTS = ("18", "20", "22", "24", "26")
CHOSEN_COUNT: list[tuple[str, str | None]] = [
    ("20", "B"),
    ("There are twenty-four.", "D"),
    ("C. 22", "C"),
    ("C", "C"),
    ("B. 22", None),
    ("21", None),
    ("20 or 22", None),
]

RANGES = ("13-15", "16-19", "20-22")
CHOSEN_RANGE: list[tuple[str, str | None]] = [
    ("16–19", "B"),
    ("16 to 19", "B"),
    ("between 20 and 22", "C"),
    ("I count 17 of them.", "B"),
    ("A. 13-15", "A"),
    ("13-19", None),
    ("30", None),
]

NUMBERS: list[tuple[str, int | None]] = [
    ("20", 20),
    ("20.", 20),
    ("**20**", 20),
    ("20 apples", 20),
    ("There are 20 apples in the picture.", 20),
    ("about 20", 20),
    ("Approximately 20 apples.", 20),
    ("~20", 20),
    ("20.0", 20),
    ("1,200", 1200),
    ("twenty", 20),
    ("Twenty-one.", 21),
    ("twenty one apples", 21),
    ("a dozen", 12),
    ("two dozen apples", 24),
    ("half a dozen", 6),
    ("one hundred and five", 105),
    ("a hundred", 100),
    ("one thousand two hundred", 1200),
    ("Zero.", 0),
    ("None.", 0),
    ("There are no apples.", 0),
    ("one", 1),
    ("I count 20, including the one on the left.", 20),
    ("Not 20 but 21.", 21),
    ("It is 21, not 20.", 21),
    ("5 rows of 4, so 20.", 20),
    ("12 red ones and 8 green ones, 20 in total.", 20),
    ("12 + 8 = 20", 20),
    ("There are 20 apples. 12 of them are red.", 20),
    ("In picture 1 I see 20 apples.", 20),
    ("20個", 20),
    ("Il y en a 20.", 20),
    ("The total number of apples is 33.", 33),
    ("20 or 21", None),
    ("20–24", None),
    ("between 20 and 24", None),
    ("more than 20", None),
    ("at least 20", None),
    ("20+", None),
    ("20.5", None),
    ("many", None),
    ("dozens", None),
    ("", None),
    ("the 20th", None),
    ("-5", None),
    ("12 red, 8 green", None),
    ("I can count 23 distinct apples.", 23),
    ("There appear to be around thirty-five birds.", 35),
    ("Twenty-three (23).", 23),
    ("23 (twenty-three)", 23),
    ("The count is 17 birds", 17),
    ("roughly 1 200", None),
    ("There's only one.", 1),
    ("There is 1 apple.", 1),
    ("Let me count: 1, 2, 3, 4, 5. There are 5 apples.", 5),
    ("Row 1: 5, row 2: 6. Total: 11", 11),
    ("Total = 4 x 5 = 20", 20),
    ("3 rows with 7 apples each gives 21 apples.", 21),
    ("I see two rows of ten, which makes twenty.", 20),
    ("Exactly 14!", 14),
    ("It's impossible to count exactly, but about 30.", 30),
    ("15 apples and 3 pears; 15 apples.", None),
    ("0", 0),
    ("ten or eleven", None),
    ("Answer: 12", 12),
    ("nineteen apples on 2 branches", None),
]

SPANS: list[tuple[str, tuple[int, int] | None]] = [
    ("20-24", (20, 24)),
    ("20–24", (20, 24)),
    ("20 — 24", (20, 24)),
    ("20 to 24", (20, 24)),
    ("from 20 to 24", (20, 24)),
    ("between 20 and 24 apples", (20, 24)),
    ("Between twenty and twenty-four.", (20, 24)),
    ("twenty to twenty-four", (20, 24)),
    ("[20, 24]", (20, 24)),
    ("(20, 24)", (20, 24)),
    ("20 ± 2", (18, 22)),
    ("at least 20 and at most 24", (20, 24)),
    ("**20–24**", (20, 24)),
    ("I estimate 20-24 apples in the picture.", (20, 24)),
    ("24-20", (20, 24)),
    ("1,200-1,205", (1200, 1205)),
    ("The range is 20 through 24.", (20, 24)),
    ("Lowest: 20, highest: 24", (20, 24)),
    ("20 ~ 24", (20, 24)),
    ("not 10-14 but 20-24", (20, 24)),
    ("20", None),
    ("about 20", None),
    ("more than 20", None),
    ("20-24 or 30-34", None),
    ("2020-10-24", None),
    ("", None),
    ("a few", None),
    ("My range is 18-23 birds (6 numbers).", (18, 23)),
    ("Lowest 18, highest 23", (18, 23)),
    ("Between 18 and 23, most likely 20.", (18, 23)),
    ("18 to 23 inclusive", (18, 23)),
    ("from eighteen up to twenty-three", (18, 23)),
    ("18..23", (18, 23)),
    ("18–23 or so", (18, 23)),
    ("I'd say 18 or 19", None),
    ("18 - 23", (18, 23)),
    ("18−23", (18, 23)),
    ("Range: [18–23]", (18, 23)),
    ("≥18 and ≤23", (18, 23)),
    ("The number is somewhere between 18 and 23.", (18, 23)),
    ("10 rows, 18-23 birds", (18, 23)),
]

PASSAGES: list[tuple[str, Mode, str]] = [
    ("One. Two. Three.", "cot", "Three."),
    ("One. Two. Three.", "std", "One. Two. Three."),
    ("Final answer: B. red", "cot", "B. red"),
    ("The correct answer is: a brown dog.", "std", "a brown dog."),
    ("I now give the final answer. It is red.", "cot", "It is red."),
    ("<think>long</think>", "cot", ""),
    ("", "cot", ""),
]


@pytest.mark.parametrize(("text", "reading"), YES_NO)
def test_yes_no(text: str, reading: str | None) -> None:
    assert parse_yes_no(passage(text, "std")) == reading


@pytest.mark.parametrize(("text", "reading"), NEGATED)
def test_yes_no_where_the_question_negates(text: str, reading: str | None) -> None:
    assert parse_yes_no(passage(text, "std"), negated=True) == reading


@pytest.mark.parametrize(("text", "reading"), COT)
def test_yes_no_after_reasoning(text: str, reading: str | None) -> None:
    assert parse_yes_no(passage(text, "cot")) == reading


@pytest.mark.parametrize(
    ("options", "text", "reading"),
    [
        (options, text, reading)
        for options, table in (
            (OPTIONS, CHOICE),
            (SENTENCES, CHOSEN_SENTENCE),
            (COUNTS, CHOSEN_COUNT),
            (RANGES, CHOSEN_RANGE),
        )
        for text, reading in table
    ],
)
def test_options(options: tuple[str, ...], text: str, reading: str | None) -> None:
    assert parse_choice(passage(text, "std"), options) == reading


@pytest.mark.parametrize(("text", "reading"), NUMBERS)
def test_numbers(text: str, reading: int | None) -> None:
    assert parse_number(passage(text, "std")) == reading


@pytest.mark.parametrize(("text", "reading"), SPANS)
def test_ranges(text: str, reading: tuple[int, int] | None) -> None:
    assert parse_range(passage(text, "std")) == reading


@pytest.mark.parametrize(("text", "mode", "read"), PASSAGES)
def test_passages(text: str, mode: Mode, read: str) -> None:
    assert passage(text, mode) == read


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that request.", True),
        ("I am an AI and cannot view images.", True),
        ("The picture did not load.", True),
        ("It seems no image was attached; could you share it again?", True),
        ("I can't see a dog in the picture.", False),
        ("Its colour cannot be told.", False),
        ("Nothing.", False),
    ],
)
def test_a_refusal_is_not_an_absence(text: str, refused: bool) -> None:
    assert is_refusal(text) == refused


PIECES = (
    "yes no not Yes. No, A B. (C) 20 20-24 twenty red blue none there is the answer and or - "
    "final answer: \n <think> </think> more than about"
)
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(PIECES.split(" ")), max_size=12).map(
    " ".join
)
NEUTRAL = st.sampled_from(["{}", " {} ", "**{}**", "{}.", '"{}"', "Answer: {}", "{}\n", "`{}`"])


@given(TEXTS, st.booleans())
def test_any_text_is_read_or_not_and_never_fails(text: str, negated: bool) -> None:
    assert parse_yes_no(text, negated=negated) in ("yes", "no", None)
    assert parse_choice(text, ("red", "blue", "none of these")) in ("A", "B", "C", None)
    number, found = parse_number(text), parse_range(text)
    assert number is None or number >= 0
    assert found is None or 0 <= found[0] <= found[1]
    denies(text), is_refusal(text)


@given(TEXTS)
def test_a_text_is_a_number_or_a_range_but_not_both(text: str) -> None:
    assert parse_number(text) is None or parse_range(text) is None


@given(st.sampled_from(["yes", "no", "Yes", "No"]), NEUTRAL, st.booleans())
def test_the_bare_word_is_read_in_any_wrapping(word: str, wrap: str, negated: bool) -> None:
    assert parse_yes_no(passage(wrap.format(word), "std"), negated=negated) == word.lower()


@given(st.integers(0, 99_999_999), NEUTRAL, st.booleans())
def test_figures_are_read_with_and_without_separators(n: int, wrap: str, commas: bool) -> None:
    figure = f"{n:,}" if commas else str(n)
    assert parse_number(passage(wrap.format(figure), "std")) == n


@given(st.integers(0, 10_000), st.integers(0, 50), st.sampled_from(["-", "–", " to ", " — ", "~"]))
def test_ranges_are_read_by_both_ends(low: int, width: int, dash: str) -> None:
    assert parse_range(f"{low}{dash}{low + width}") == (low, low + width)
    assert parse_range(f"between {low} and {low + width}") == (low, low + width)


@given(st.integers(0, 9_999))
def test_number_words_are_read_as_their_value(n: int) -> None:
    assert parse_number(spelled(n)) == n
    assert parse_number(f"I count {spelled(n)} birds.") == n


@given(st.sampled_from("ABCD"), NEUTRAL)
def test_letters_are_read_whatever_the_options_say(letter: str, wrap: str) -> None:
    options = ("a dog", "the cat B", "20", "nothing")
    assert parse_choice(passage(wrap.format(letter), "std"), options) == letter


@given(st.permutations(["a dog", "a cat", "a big cat", "none of these"]), st.integers(0, 3))
def test_an_option_is_known_by_its_own_words_wherever_it_stands(options: list[str], k: int) -> None:
    assert parse_choice(options[k], options) == "ABCD"[k]


ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def spelled(n: int) -> str:
    """English words for a number below 10,000."""
    if n < 20:
        return ONES.split(" ")[n]
    if n < 100:
        ten = TENS.split(" ")[n // 10 - 2]
        return ten if n % 10 == 0 else f"{ten}-{spelled(n % 10)}"
    size, word = (100, "hundred") if n < 1000 else (1000, "thousand")
    rest = f" and {spelled(n % size)}" if n % size else ""
    return f"{spelled(n // size)} {word}{rest}"


# What the package offers to whoever has answers of their own.

TWO = ("a lamp", "nothing")


@pytest.mark.parametrize(
    ("text", "kind", "more", "value"),
    [
        ("Yes.", "yes_no", {}, True),
        ("No, it is bare.", "yes_no", {}, False),
        ("There is no dog.", "yes_no", {"question": "Is there a dog?"}, False),
        ("There is no dog.", "yes_no", {"question": "Is there no dog?"}, True),
        ("There is no dog.", "yes_no", {"question": "Isn't there a dog?"}, False),
        ("A dog? I look. There is none.", "yes_no", {"reasoning": True}, False),
        ("(B)", "choice", {"options": TWO}, "B"),
        ("A lamp.", "choice", {"options": TWO}, "A"),
        ("There is nothing.", "choice", {"options": ["a lamp", "nothing"]}, "B"),
        ("Twenty-one", "number", {}, 21),
        ("0", "number", {}, 0),
        ("3 rows of 7. So there are 21.", "number", {"reasoning": True}, 21),
        ("18 to 22", "range", {}, (18, 22)),
        ("First 3, then 4. Final answer: 18-22.", "range", {}, (18, 22)),
    ],
)
def test_parse_answer(text: str, kind: Kind, more: dict[str, Any], value: object) -> None:
    found = parse_answer(text, kind, **more)
    assert (found.value, found.why) == (value, "")
    assert type(found.value) is type(value)
    assert found.passage and found.passage in text


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("", "number", "empty answer"),
        (" \n", "yes_no", "empty answer"),
        ("<think>It is bare, so no", "yes_no", "no answer after its reasoning"),
        ("I can't view images.", "yes_no", "a refusal"),
        ("Perhaps.", "yes_no", "says nothing that can be read as yes or no"),
        ("A or B", "choice", "says nothing that can be read as one of the options"),
        ("18-22", "number", "says nothing that can be read as one number"),
        ("20", "range", "says nothing that can be read as one range"),
    ],
)
def test_parse_answer_says_why_it_cannot_tell(text: str, kind: Kind, why: str) -> None:
    found = parse_answer(text, kind, options=TWO if kind == "choice" else ())
    assert (found.value, found.why) == (None, why)


def test_parse_answer_refuses_what_makes_no_sense() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'yes_no'"):
        parse_answer("Yes", "yesno")  # type: ignore[arg-type]
    for options in ((), ("one",), tuple(map(str, range(27)))):
        with pytest.raises(UsageError, match="2 to 26 options"):
            parse_answer("A", "choice", options=options)
    assert parse_answer("Z", "choice", options=[f"thing {k}" for k in range(26)]).value == "Z"


@given(st.text(max_size=60), st.sampled_from(KINDS), st.text(max_size=20), st.booleans())
def test_parse_answer_has_a_value_or_a_reason(
    text: str, kind: Kind, question: str, reasoning: bool
) -> None:
    options = TWO if kind == "choice" else ()
    found = parse_answer(text, kind, question=question, options=options, reasoning=reasoning)
    assert isinstance(found, ParsedAnswer)
    assert (found.value is None) == bool(found.why)


def test_all_of_an_answer_is_read_unless_the_model_was_told_to_reason() -> None:
    text = "No. It is bare."
    assert passage(text, "") == passage(text, "std") == text
    assert passage(text, "cot") == "It is bare."
