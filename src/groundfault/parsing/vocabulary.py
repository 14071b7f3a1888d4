"""The words of sixteen languages that reading an answer takes; the grammar is in the other files.

A language that is added here is read everywhere. `exists`, `denies` and `unsure` are regular
expressions without groups; English has a grammar of its own in `statements` and needs none.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

__all__ = ["LANGUAGES", "MARKS", "Language", "language_of", "listed"]


@lru_cache(maxsize=1024)
def listed(words: str) -> frozenset[str]:
    """The words of a string."""
    return frozenset(words.split())


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """What the grammar needs to know about a language."""

    code: str
    script: str = "latin"
    spaced: bool = True
    """Whether blanks stand between words."""
    head_last: bool = False
    """Whether a question names what it asks for last, before its verb."""
    yes: str = ""
    """Words that say yes on their own."""
    no: str = ""
    exists: str = ""
    """Says that something is there."""
    copula: str = ""
    """Says it if the place is named, too."""
    denies: str = ""
    """Makes a sentence a denial."""
    absent: str = ""
    """Says that something is not there, in a verb's own words; `denies` is any denial."""
    unsure: str = ""
    """Says that the answer is not known."""
    stop: str = ""
    """Words that name nothing; they tell the language, too."""
    places: str = ""
    """Prepositions of place: what follows them is where, not what."""
    pictures: str = ""
    """Words for the picture, which is where everything is."""


_ENGLISH = Language(
    code="en",
    yes="yes yep yeah yup yea yess aye affirmative",
    no="no nope nah nay",
    stop=(
        "a an the this that these those it its he she they them his her their there here is are was"
        " were be been being am do does did has have had of to and or but so i you we one some any"
        " all each every at least exactly just only can could will would with for as also very by"
        " from who which what how not no"
    ),
    places=(
        "in on at under behind beside above below near inside outside between over within onto into"
        " against around by along across beneath underneath atop next front"
    ),
    pictures=(
        "image images picture pictures photo photos photograph photographs scene frame view shot"
        " illustration background foreground visible shown present depicted seen"
    ),
)

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        _ENGLISH,
        Language(
            code="es",
            yes="sí si claro efectivamente correcto afirmativo verdadero cierto",
            no="no falso incorrecto negativo tampoco",
            exists=(
                r"\b(?:hay|existen?|se (?:ven?|observan?|aprecian?|muestran?)|veo|aparecen?|"
                r"muestra|contiene)\b"
            ),
            copula=r"\b(?:est[áa]n?|tiene)\b",
            absent=r"\bno (?:hay|existen?|veo|se (?:ven?|observan?|aprecian?)|aparecen?)\b",
            denies=r"\b(?:no|ning[úu]n[ao]?|nada|tampoco|sin|carece)\b",
            unsure=(
                r"\b(?:no lo s[ée]|no sé|no (?:estoy|est[áa]) (?:segur[oa]|claro)|quiz[áa]s?|"
                r"tal vez|puede que|podr[íi]a|posiblemente|depende|no (?:se )?pued[eo] "
                r"(?:saber|decir|determinar|responder))\b"
            ),
            stop=(
                "el la los las un una unos unas de del en y o que es son hay se lo al con por "
                "para su está están ningún ninguna no sí una este esta correcta respuesta"
            ),
            places="en sobre bajo detrás junto cerca entre dentro",
            pictures="imagen foto fotografía escena cuadro",
        ),
        Language(
            code="fr",
            yes="oui absolument effectivement exact vrai affirmatif",
            no="non faux aucunement",
            exists=(
                r"\b(?:il y a|y a-t-il|on (?:voit|aper[çc]oit|peut voir)|je vois|se "
                r"trouve(?:nt)?|montre|contient)\b"
            ),
            copula=r"\b(?:est|sont)\b",
            absent=r"\bn'y (?:en )?a (?:pas|aucune?)\b|\bne voi[st] (?:pas|aucune?)\b",
            denies=r"\b(?:pas|aucune?|rien|jamais|ni|sans|non|personne)\b|\bn'",
            unsure=(
                r"\b(?:je ne (?:sais|suis) pas|peut-[êe]tre|il est (?:difficile|impossible)|"
                r"impossible de|pourrait|on ne peut pas (?:dire|savoir|d[ée]terminer))\b|\bpas "
                r"s[ûu]re?\b"
            ),
            stop=(
                "le la les un une des du de d l et ou que est sont il y a on sur dans ne pas "
                "ce cette en au aux qui elle t n bonne réponse"
            ),
            places="sur dans sous derrière devant près à au entre",
            pictures="image photo photographie scène",
        ),
        Language(
            code="de",
            yes="ja jawohl genau richtig stimmt natürlich wahr",
            no="nein nö falsch keineswegs",
            exists=(
                r"\b(?:gibt|sieht|sehe|zeigt|befinde[nt]|befindet|enth[äa]lt|zu sehen|vorhanden)\b"
            ),
            copula=r"\b(?:ist|sind|h[äa]ng(?:en|t)|steh(?:en|t)|lieg(?:en|t)|sitz(?:en|t))\b",
            absent=r"\b(?:gibt|sieht|sehe|ist|sind|h[äa]ngt|steht|liegt|sitzt|lehnt)\b.*\bkein(?:e[nmrs]?)?\b",
            denies=r"\b(?:kein(?:e[nmrs]?)?|nicht|nichts|nie|niemand|weder|ohne)\b",
            unsure=(
                r"\b(?:vielleicht|m[öo]glicherweise|nicht (?:sicher|klar)|wei[ßs]+ (?:es |ich "
                r")?nicht|unklar|k[öo]nnte|(?:kann|l[äa]sst) (?:ich |man |sich |das |es "
                r")*nicht (?:sagen|erkennen|beurteilen|beantworten))\b"
            ),
            stop=(
                "der die das den dem des ein eine einen einem einer und oder ist sind es gibt "
                "auf an in im am zu sehen nicht kein keine keinen ich da hier hängt steht "
                "liegt sitzt sieht man richtige antwort"
            ),
            places="auf an in im am unter hinter neben über vor zwischen bei",
            pictures="bild foto fotografie szene aufnahme",
        ),
        Language(
            code="it",
            yes="sì si certo esatto vero corretto",
            no="no falso sbagliato",
            exists=r"\bc'è\b|\bci sono\b|\bsi vede(?:ono)?\b|\bvedo\b|\b(?:mostra|contiene)\b",
            copula=r"\b(?:è|sono)\b",
            absent=r"\bnon (?:c'è|ci sono|vedo|si vede)",
            denies=r"\b(?:non|nessun[oa]?|niente|nulla|senza)\b|\bnessun'",
            unsure=(
                r"\b(?:forse|non (?:lo )?so|non sono sicur[oa]|potrebbe|difficile dire|"
                r"impossibile)\b"
            ),
            stop=(
                "il lo la i gli le un uno una di del della nel nella nell è c sono e o che si "
                "ci non su sul sulla questa questo risposta"
            ),
            places="in nel nella nell su sul sulla sotto dietro accanto vicino tra",
            pictures="immagine foto fotografia scena",
        ),
        Language(
            code="pt",
            yes="sim certo exato verdadeiro correto claro",
            no="não nao falso incorreto",
            exists=r"\b(?:h[áa]|existem?|vejo|v[êe]-se|mostra|cont[ée]m|aparecem?)\b",
            copula=r"\b(?:est[áa]|est[ãa]o|tem)\b",
            absent=r"\bn[ãa]o (?:h[áa]|vejo|existem?|aparecem?)\b",
            denies=r"\b(?:n[ãa]o|nenhuma?|nada|sem)\b",
            unsure=(
                r"\b(?:talvez|n[ãa]o sei|n[ãa]o tenho certeza|possivelmente|poderia|dif[íi]cil "
                r"dizer|n[ãa]o (?:é|e) poss[íi]vel)\b"
            ),
            stop=(
                "o a os as um uma de do da dos das em no na nos nas e ou que é são há se não "
                "está resposta correta"
            ),
            places="em no na nos nas sobre sob atrás perto entre",
            pictures="imagem foto fotografia cena",
        ),
        Language(
            code="nl",
            yes="ja jazeker klopt inderdaad",
            no="nee neen",
            exists=r"\b(?:er (?:is|zijn|staat|hangt|ligt|zit)|zie|toont)\b",
            copula=r"\b(?:is|zijn|hangt|staat|ligt)\b",
            absent=r"\b(?:er|zie)\b.*\bgeen\b",
            denies=r"\b(?:geen|niet|niets|nooit|zonder)\b",
            unsure=(
                r"\b(?:misschien|weet (?:ik )?(?:het )?niet|niet zeker|onduidelijk|zou kunnen)\b"
            ),
            stop=(
                "de het een en of is zijn er geen niet op van ik te zien hangt staat ligt deze dit"
            ),
            places="op in aan onder achter naast boven bij tussen",
            pictures="afbeelding foto plaatje beeld",
        ),
        Language(
            code="pl",
            yes="tak owszem",
            no="nie",
            exists=r"\b(?:widać|widzę|znajduje się)\b",
            copula=r"\b(?:jest|są|wisi|stoi|leży)\b",
            absent=r"\bnie (?:ma|widać|widzę)\b",
            denies=r"\b(?:nie|żadn\w+|brak|bez)\b",
            unsure=r"\b(?:może|nie wiem|nie jestem pew\w+|trudno powiedzieć)\b",
            stop="jest są na w z i nie ma czy to się jak ten ta",
            places="na w pod za obok nad przy",
            pictures="obraz obrazie obrazku zdjęcie zdjęciu",
        ),
        Language(
            code="tr",
            yes="evet doğru",
            no="hayır hayir yanlış yok",
            head_last=True,
            exists=r"\b(?:var|görünüyor|bulunuyor|vardır|görüyorum)\b",
            absent=r"\b(?:yok|yoktur|görünmüyor|görmüyorum)\b",
            denies=r"\b(?:yok|değil|yoktur|bulunmuyor|görünmüyor|görmüyorum)\b",
            unsure=r"\b(?:belki|bilmiyorum|emin değilim|olabilir)\b",
            stop="bir bu şu ve ile var yok mı mi mu mü değil resimde görüntüde fotoğrafta",
            pictures="resim resimde görüntü görüntüde fotoğraf fotoğrafta",
        ),
        Language(
            code="vi",
            yes="có vâng đúng",
            no="không",
            unsure=r"có thể|không biết|không chắc|có lẽ",
            exists=r"\bcó\b",
            denies=r"\bkhông\b",
            stop="có không một trong là và các những này đó nào",
            pictures="ảnh hình bức",
        ),
        Language(
            code="ru",
            script="cyrillic",
            yes="да есть верно правильно конечно так ага",
            no="нет неверно неправильно никак",
            exists=r"\b(?:есть|имеется|имеются|вид[ен]\w*|вижу|изображ\w+|присутству\w+|показан\w*)\b",
            copula=r"\b(?:находится|находятся|вис[ия]т|стоит|стоят|леж[иа]т|сид[ия]т)\b",
            absent=r"\b(?:нет|отсутству\w+)\b|\bне (?:вижу|видно)\b",
            denies=r"\b(?:нет|не|ничего|отсутству\w+|никак\w+|ни|без|нигде)\b",
            unsure=(
                r"\b(?:возможно|может быть|не знаю|не уверен\w*|трудно сказать|сложно сказать|"
                r"наверное|неясно|нет ответа|затрудняюсь|нельзя (?:сказать|определить))\b|"
                r"невозможно"
            ),
            stop=(
                "на в во и или есть ли это не нет он она оно они что как с у к по из за от до "
                "я вы мы под над при там тут здесь"
            ),
            places="на в во под над за у около возле рядом между перед",
            pictures=(
                "картинке картинка картинки изображении изображение изображения фото "
                "фотографии фотография рисунке снимке"
            ),
        ),
        Language(
            code="ar",
            script="arabic",
            yes="نعم أجل صحيح بلى بالتأكيد بله آره",
            no="لا كلا خطأ خیر نه",
            exists=r"يوجد|توجد|هناك|أرى|تظهر|يظهر|تحتوي|وجود دارد|هست",
            absent=r"\b(?:لا|ليس) (?:يوجد|توجد|هناك|أرى)",
            denies=r"\b(?:لا|ليس|ليست|لم|غير|بدون|خال|خالي|خالية|فارغ|فارغة|نیست|ندارد)\b",
            unsure=r"لا أعرف|لا أعلم|لست متأكد|ربما|من الممكن|قد يكون|غير واضح|لا (?:يمكن|أستطيع)",
            stop="في على من إلى هل هذا هذه هناك يوجد توجد لا ليس و أو أي هو هي مع",
            places="في على تحت خلف فوق بجانب",
            pictures="الصورة صورة المشهد",
        ),
        Language(
            code="hi",
            script="devanagari",
            yes="हाँ हां जी सही",
            no="नहीं ना गलत",
            head_last=True,
            exists=r"है|हैं|दिख",
            denies=r"नहीं|कोई नहीं|बिना",
            unsure=r"शायद|पता नहीं|नहीं पता|निश्चित नहीं|हो सकता",
            stop="क्या में पर है हैं एक का की के कोई नहीं और या यह वह",
            pictures="तस्वीर चित्र छवि फोटो",
        ),
        Language(
            code="he",
            script="hebrew",
            yes="כן נכון",
            no="לא",
            exists=r"\bיש\b|רוא",
            denies=r"\b(?:אין|לא)\b",
            unsure=r"אולי|לא יודע|לא בטוח|ייתכן",
            stop="יש אין לא האם על של את זה זו",
            pictures="בתמונה תמונה",
        ),
        Language(
            code="zh",
            script="han",
            spaced=False,
            yes="是的 是 对的 對的 对 對 有的 有 正确 正確 没错 沒錯 当然 确实 可以 嗯 真",
            no="不是的 不是 不对 不對 没有 沒有 没 沒 不 否 错误 錯誤 不正确 并非 无 假 错",
            exists=r"有|存在|可以看到|看到|看见|出现",
            absent=r"没有|沒有|不存在|看不[到见見]",
            denies=r"没|沒|无|無|不存在|不是|并非|不在|看不|未|不(?![仅僅但只])",
            unsure=r"不确定|不確定|可能|也许|也許|或许|无法|無法|不知道|难以|難以|说不清|不清楚|不好说",
            stop=(
                "图中 图片中 图片里 图片 图像中 图像 图里 "
                "照片中 照片里 照片 画面中 画面 这张 这幅 是否 "
                "有没有 有 没有 吗 么 呢 存在 一 个 只 张 "
                "条 是 在 的 了 里 中 上 下 请问 嗎"
            ),
        ),
        Language(
            code="ja",
            script="kana",
            spaced=False,
            head_last=True,
            yes="はい ええ うん そうです その通り 正しい あります います",
            no="いいえ いえ 違います ちがいます ありません いません ない なし",
            exists=r"い(?:ます|る)|あ(?:ります|る)|見え|写って|映って|見られ",
            absent=r"(?:あり|見え|見当たり|い)ません|見えない|存在しない",
            denies=r"ません|ない|無い|なし|ず(?:、|$)",
            unsure=r"わかりません|分かりません|不明|かもしれ|おそらく|多分|判断でき|わからない|分からない|言えません",
            stop=(
                "画像 写真 絵 に は が を の で と も か います あります "
                "いますか ありますか いる ある 何 中 この その 上 下"
            ),
        ),
        Language(
            code="ko",
            script="hangul",
            head_last=True,
            yes="네 예 응 맞습니다 맞아요 그렇습니다 있습니다 있어요",
            no="아니요 아니오 아뇨 아닙니다 없습니다 없어요",
            exists=r"있|보입|보여|보이",
            absent=r"없",
            denies=r"없|않|아니|안 보",
            unsure=r"모르|확실하지|아마|불확실|알 수 없|판단",
            stop=(
                "사진 사진에 사진에는 사진에서 이미지 이미지에 이미지에는 그림 "
                "있나요 있습니까 있습니다 있어요 있니 이 그 저 한 마리 개의"
            ),
        ),
        Language(code="th", script="thai", spaced=False, yes="ใช่ มี", no="ไม่ใช่ ไม่มี ไม่",
                 exists=r"มี", denies=r"ไม่", unsure=r"ไม่แน่ใจ|อาจ|ไม่รู้|ไม่ทราบ"),
        Language(
            code="other",
            yes="igen kyllä joo ano áno ναι ya jes da",
            no="nem ei ne όχι nej nei tidak nu",
        ),
    )
}  # fmt: skip

MARKS = {
    **dict.fromkeys("✅✔☑👍👌🆗✓⭕", "yes"),
    **dict.fromkeys("❌✖✘✗👎🚫⛔❎🙅", "no"),
}
"""Signs that answer like a word."""

_SCRIPTS = (
    ("kana", re.compile("[\u3040-\u30ff]")),
    ("hangul", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("han", re.compile("[\u4e00-\u9fff]")),
    ("cyrillic", re.compile("[\u0400-\u04ff]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    ("devanagari", re.compile("[\u0900-\u097f]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("thai", re.compile("[\u0e00-\u0e7f]")),
)
_BY_SCRIPT = {each.script: each for each in LANGUAGES.values() if each.script != "latin"}
_STOP = {
    each.code: listed(each.stop) | listed(each.yes) | listed(each.pictures)
    for each in LANGUAGES.values()
    if each.script == "latin" and each.stop
}
_WORDS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=4096)
def language_of(text: str) -> Language:
    """The language of a text, by its script and its commonest words; English where nothing tells.

    >>> [language_of(text).code for text in ("Hay un perro.", "A dog.", "有一只狗", "Да")]
    ['es', 'en', 'zh', 'ru']
    """
    text = text[:400]
    if not text.isascii():
        for script, letters in _SCRIPTS:
            if letters.search(text):
                return _BY_SCRIPT[script]
    words = _WORDS.findall(text.casefold())
    votes = {code: sum(word in stop for word in words) for code, stop in _STOP.items()}
    return LANGUAGES[max(votes, key=lambda code: votes[code])]
