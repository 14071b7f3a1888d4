"""Numbers in words, in the languages whose numbers are regular enough to be made from a few tables.

English has more forms (dozens, hundreds and thousands in any combination) and is read in `numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from groundfault.parsing.vocabulary import listed

__all__ = ["in_figures"]

_SPACED = {
    # units 1–9, 10–19, tens 20–90, what stands between ten and unit, 100
    "es": (
        "uno dos tres cuatro cinco seis siete ocho nueve",
        "diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
        "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", " y ", "cien",
    ),
    "pt": (
        "um dois três quatro cinco seis sete oito nove",
        "dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove",
        "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", " e ", "cem",
    ),
    "ru": (
        "один два три четыре пять шесть семь восемь девять",
        "десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать "
        "восемнадцать девятнадцать",
        "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто", " ", "сто",
    ),
    "pl": (
        "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
        "dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście "
        "osiemnaście dziewiętnaście",
        "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt "
        "osiemdziesiąt "
        "dziewięćdziesiąt", " ", "sto",
    ),
    "tr": (
        "bir iki üç dört beş altı yedi sekiz dokuz", "",
        "yirmi otuz kırk elli altmış yetmiş seksen doksan", " ", "yüz",
    ),
    "fr": (
        "un deux trois quatre cinq six sept huit neuf",
        "dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
        "vingt trente quarante cinquante soixante", " ", "cent",
    ),
    "it": (
        "uno due tre quattro cinque sei sette otto nove",
        "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove",
        "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", "", "cento",
    ),
    "de": (
        "eins zwei drei vier fünf sechs sieben acht neun",
        "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
        "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", "und", "hundert",
    ),
    "nl": (
        "één twee drie vier vijf zes zeven acht negen",
        "tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien",
        "twintig dertig veertig vijftig zestig zeventig tachtig negentig", "en", "honderd",
    ),
    "ar": (
        "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة", "عشرة",
        "عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون", " و", "مئة",
    ),
    "ko": (
        "하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉", "열",
        "스물 서른 마흔 쉰 예순 일흔 여든 아흔", "", "백",
    ),
}  # fmt: skip
_UNIT_FIRST = ("de", "nl", "ar")
_MORE = {
    "veintiuno": 21, "veintidós": 22, "veintitrés": 23, "veinticuatro": 24, "veinticinco": 25,
    "veintiséis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29, "doscientos": 200,
    "trescientos": 300, "две": 2, "одна": 1, "одно": 1, "duas": 2, "zwo": 2, "dreissig": 30,
    "двести": 200, "quatorze": 14, "dezasseis": 16, "cero": 0, "zéro": 0, "null": 0, "ноль": 0,
    "nul": 0, "صفر": 0, "اثنين": 2, "عشرين": 20, "ثلاثين": 30, "한": 1, "두": 2, "세": 3, "네": 4,
    "스무": 20, "zweihundert": 200, "deux cents": 200,
}  # fmt: skip
_ALSO_OTHER_WORDS = listed(
    "six once due elf cent sei tre uno dos um un bir on sex null nul zes een cem 네 세 두 한"
)
"""Words that mean something else in English or in another language; never read as numbers, unless
they are all that is said or, in Korean, stand before a counter."""


@lru_cache(maxsize=1)
def _values() -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for language in _SPACED:
        for value, words in _spelled(language):
            found.setdefault(tuple(re.split(r"[\s-]+", words)), value)
    for words, value in _MORE.items():
        found[tuple(words.split())] = value
    return found


def _spelled(language: str) -> Iterator[tuple[int, str]]:
    units, teens, tens, link, hundred = (part for part in _SPACED[language])
    ones = units.split()
    yield from enumerate(ones, start=1)
    yield from enumerate(teens.split(), start=10)
    yield 100, hundred
    for k, ten in enumerate(tens.split(), start=2):
        yield 10 * k, ten
        for unit, one in enumerate(ones, start=1):
            yield 10 * k + unit, _joined(language, ten, one, link)
    if language == "fr":
        yield from _french(ones, teens.split())
    if language in ("ko", "ar", "tr"):
        short = ["한", "두", "세", "네", *ones[4:]]
        for unit, one in enumerate(ones, start=1):
            if language == "tr":
                yield 10 + unit, f"on {one}"
            if language == "ko":
                yield 10 + unit, f"열{one}"
                yield 10 + unit, f"열{short[unit - 1]}"
    if language == "tr":
        yield 10, "on"


def _joined(language: str, ten: str, one: str, link: str) -> str:
    if language in _UNIT_FIRST:
        one = {"eins": "ein", "één": "een"}.get(one, one)
        ending = "ën" if language == "nl" and one.endswith("e") else link
        return f"{one}{ending}{ten}"
    if language == "it":
        one = "tré" if one == "tre" else one
        return (ten[:-1] if one[0] in "uo" else ten) + one
    if language == "fr" and one == "un":
        return f"{ten} et un"
    return f"{ten}{link}{one}"


def _french(ones: list[str], teens: list[str]) -> Iterator[tuple[int, str]]:
    yield 80, "quatre vingts"
    yield 80, "quatre vingt"
    for unit, one in enumerate(ones, start=1):
        yield 80 + unit, f"quatre vingt {one}"
    for k, teen in enumerate(teens):
        yield 70 + k, f"soixante {'et ' if k == 1 else ''}{teen}"
        yield 90 + k, f"quatre vingt {teen}"


@lru_cache(maxsize=1)
def _firsts() -> frozenset[str]:
    return frozenset(words[0] for words in _values())


_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 5
_HAN = re.compile("[零〇一二两兩三四五六七八九十百千万萬]+打?")
_HAN_VALUES = {
    "零": 0,
    "〇": 0,
    "两": 2,
    "兩": 2,
    **{c: k for k, c in enumerate("一二三四五六七八九", start=1)},
}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1000}
_COUNTER = re.compile("[只隻个個张本条頭头匹辆台人名朵棵把颗枚位羽つ枝件座艘架瓶杯盏支]")
_NOT_COUNTED = re.compile(
    "第[零一二三四五六七八九十百]+|一(?:共|些|样|起|下|般|定|直|致|边|旁|侧|种)|之一|唯一|万一"
)


def in_figures(text: str) -> str:
    """A text whose numbers in words are figures; English ones stay as they are.

    >>> in_figures("двадцать пять птиц"), in_figures("三十五只鸟"), in_figures("A dog sat once.")
    ('25 птиц', '35只鸟', 'A dog sat once.')
    """
    if _HAN.search(text):
        text = _HAN.sub(_han_figure, _NOT_COUNTED.sub(" ", text))
    return _spaced_figures(text)


def _spaced_figures(text: str) -> str:
    found = list(_WORD.finditer(text))
    words = [match[0].casefold() for match in found]
    out, end, k = [], 0, 0
    while k < len(words):
        size = _size_at(words, k)
        if size:
            out += [text[end : found[k].start()], str(_values()[tuple(words[k : k + size])])]
            end = found[k + size - 1].end()
        k += max(1, size)
    return "".join([*out, text[end:]])


def _size_at(words: list[str], k: int) -> int:
    """How many words from the k-th on are a number."""
    if words[k] not in _firsts():
        return 0
    for size in range(min(_LONGEST, len(words) - k), 0, -1):
        phrase = tuple(words[k : k + size])
        if phrase in _values() and (size > 1 or words[k] not in _ALSO_OTHER_WORDS):
            return size
    return 1 if len(words) == 1 and (words[k],) in _values() else 0


def _han_figure(match: re.Match[str]) -> str:
    run, after = match[0], match.string[match.end() : match.end() + 1]
    dozen, run = run.endswith("打"), run.removesuffix("打")
    alone = run == match.string.strip(" 。.")
    if re.search("[一二两兩三四五六七八九]{2}", run):
        return match[0]  # "二三十": twenty or thirty
    if len(run) == 1 and not (dozen or alone or _COUNTER.match(after)):
        return match[0]
    return str(_han_value(run) * (12 if dozen else 1))


def _han_value(run: str) -> int:
    """
    >>> _han_value("一百零五"), _han_value("二十"), _han_value("两千三百")
    (105, 20, 2300)
    """
    total = part = digit = 0
    for char in run:
        if char in _HAN_VALUES:
            digit = _HAN_VALUES[char]
        elif char in _HAN_SIZES:
            part, digit = part + max(1, digit) * _HAN_SIZES[char], 0
        else:  # ten thousand
            total, part, digit = total + (part + digit) * 10_000, 0, 0
    return total + part + digit
