"""Whether a text is meant literally, told from its words alone.

Irony, what-ifs, played roles, other people's words and open conditions have the grammar of a
statement, and a memory that takes them for one holds facts that were never true. Vocabulary and
grammar live here; a model, a score or what becomes of the text must not. When in doubt a text is
literal: a rule here names what gave the text away, or stays silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Literalness", "LiteralnessFinding", "classify_literalness", "find_hedge"]


class Literalness(StrEnum):
    """How a text is meant."""

    LITERAL = "literal"
    SARCASTIC = "sarcastic"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    QUOTED = "quoted"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class LiteralnessFinding:
    """How a text is meant, and its words that gave it away; no words where it is literal."""

    kind: Literalness
    cue: str


def classify_literalness(text: str) -> LiteralnessFinding:
    """How the text is meant; literal unless its words say otherwise.

    The kinds are looked for in a fixed order, so that a text has one: a role, a quotation, irony,
    what is not so, what is not so yet.
    """
    plain = _plain(text)
    words = frozenset(_WORD.findall(plain.lower()))
    starts = (0, *(end.end() for end in _SENTENCE_END.finditer(plain)))
    for kind, any_of, find in _RULES:
        if any_of and any_of.isdisjoint(words):
            continue
        if found := find(plain, starts):
            cue = found.group().strip(" |,;:.!?\"'")
            return LiteralnessFinding(kind, cue)
    return LiteralnessFinding(Literalness.LITERAL, "")


def find_hedge(text: str) -> str | None:
    """The words by which the speaker leaves it open whether the text is so; None without any."""
    found = _HEDGE.search(_plain(text))
    return found.group().strip() if found else None


# Vocabulary


def _any(words: str, *more: str) -> str:
    """A pattern for any of some words, and of phrases that hold more than a word."""
    return "(?:" + "|".join((*words.split(), *more)) + ")"


def _table(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pattern(text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(text, flags)


_Find = Callable[[str, Sequence[int]], re.Match[str] | None]
"""Finds a cue in a text whose sentences begin at the given places."""

_PLAIN_MARKS = str.maketrans("‘’“”«»", '\'\'""""')

_SPACES = re.compile(r"[^\S\n]+")


def _plain(text: str) -> str:
    """The text with one kind of quotation mark and single spaces, as the patterns expect it."""
    return _SPACES.sub(" ", text.translate(_PLAIN_MARKS))


_WORD = re.compile(r"[a-z]+")

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")

_PARTICIPLE = (
    r"(?!(?:need|bed|red|seed|feed|speed|shed|unlimited|limited|hundred)\b)(?:\w+ed|"
    + _any(
        "been had done made gone got gotten come become taken given seen known shown written "
        "chosen driven eaten fallen forgotten hidden spoken stolen woken worn torn broken frozen "
        "beaten bitten risen ridden shaken begun drunk run sung won held told sold found felt "
        "kept left lost meant met paid put said sent sat slept spent stood stuck taught thought "
        "bought brought caught fought sought understood cost hurt let quit shut split built dealt "
        "learnt lent heard led fed fit grown thrown flown drawn blown hung struck sworn read cut "
        "gave went came took did knew chose"
    )
    + r")\b"
)
"""Past participles, regular or known; the last ones as people say them ("should have went")."""

_PAST = _any(
    "were was had did could would came went knew made got gave took fit ran said found felt kept "
    "lost left meant met paid sold thought told bought held wrote chose stood became began "
    "weren't wasn't hadn't didn't couldn't wouldn't werent wasnt hadnt didnt couldnt wouldnt",
    r"\w{2,}(?<!ne)(?<!spe)(?<!se)ed",
)
"""Past tense: after "if" or "wish" it says that something is not so."""

_SUBJECT = _any("i we he she they it there you this that these those someone somebody one")

_ADVERBS = (
    r"(?: (?:not|never|also|still|even|just|only|all|rather|already|otherwise|\w{2,}ly)){0,3}"
)

_RELATIVE = _any(
    "brother sister mother father mum mom dad uncle aunt cousin nephew niece grandmother "
    "grandfather grandma grandpa husband wife son daughter friend mate buddy neighbour neighbor "
    "roommate flatmate boyfriend girlfriend ex"
)
"""People whose words a speaker passes on; not those of the office, who speak for the contact."""

_WORK_OF_WORDS = _any(
    "song film movie book novel poem show series article headline lyrics lyric proverb saying "
    "character narrator hero heroine villain advert ad poster slogan meme quote"
)

_BLISS = _any(
    "great wonderful fantastic terrific brilliant perfect lovely marvellous marvelous super "
    "awesome joy goody fabulous splendid delightful swell"
)

_NUISANCE = (
    _any("waiting queueing queuing", r"standing in", r"sitting in", r"stuck in", r"getting up at")
    + "|"
    + _any("paying repeating mondays traffic delays paperwork spam", r"early mornings", r"it when")
    + r"|being (?:ignored|kept|put|charged|late|told|treated|woken|lied|yelled|stuck)"
    + r"|(?:working|having to work) (?:on|over|late|all)|how (?:slow|late|long|often|nobody|no one)"
    r"|how (?:[\w']+ ){1,4}?(?:crash|crashes|breaks|fails|freezes|ignores|never|breaking|crashing)"
)
"""What nobody loves."""


# Whole texts: other people's words, and what is announced as a game

_SPEECH = _any("said says wrote writes sang sings replied claimed claims")

_PASSED_ON = _any("said says claimed claims reckons insists", "keeps saying", "told me")

_QUOTED_WHOLE = _pattern(
    r'\A\s*"[^"]+[,.!?]?"[,.]?\s*(?:[-–—~] ?[A-Z]|'
    rf"{_SPEECH} \w|\w+ {_SPEECH}\b|\(\w)"
)
"""A text in quotation marks, and whose words they are."""

_QUOTATION = _pattern(
    rf'\A\s*(?:he|she|they|someone|somebody) {_SPEECH}\s*[:,]\s*"?(?:i|i\'\w+|my)\b'
    rf"|\b(?:my|a) (?:(?:best|old|good|little|big|older|younger) )?{_RELATIVE}(?: of mine)?"
    rf"(?: (?:once|always|just|recently))? {_PASSED_ON}"
    rf'[,:]?(?: that)? (?:"|(?:he|she|they)[ \'])'
    rf"|\b(?:the|this|that|a|as the|old) {_WORK_OF_WORDS}"
    r" (?:says|said|goes|went|reads|claims|claimed|sings|sang)\b|\b(?:a (?:line|quote|verse"
    r"|lyric) from|to quote|in the words of|quote, unquote)\b"
)

_ROLE = _pattern(
    r"\b(?:let'?s|let us|just|you can|we can|can we|can you|could you|please|i'?ll"
    r"|i will) pretend\b|(?:^|[.!?,] ?)pretend(?:ing)?\b|\bpretending (?:to be|that|i|you|we)\b"
    r"|\brole[- ]?play(?:ing)?\b(?=.{0,40}\b(?:as|i|you|we|where|let)\b)|\b(?:let'?s"
    r"|let us) (?:just )?(?:say|pretend|assume|suppose|imagine)\b|(?:^|[.!?,] ?|\bplease "
    r"|\byou (?:to|can|should|will|must) |\bcan you |\bcould you )(?:now )?act (?:as"
    r"|like)\b(?! (?:of|per)\b)|\bfrom now on,? you are\b|\byou are now (?:a|an|the|my)\b"
    r"|\byou'?re now (?:a|an|the|my)\b|\b(?:i'm|im|i am) (?:basically|practically|virtually"
    r"|essentially) (?:a|an|the)\b|\b(?:i'm|im|i am) (?:actually|really"
    r"|in fact) an? \w+(?: \w+)?(?:,? so|,? and|[,;.:]|,? which means) (?:please )?(?:you can"
    r"|can you|just)? ?(?:walk|tell|explain|talk|speak|give|show|skip|spare|be|go|don'?t|answer"
    r"|use|let)\b|\bin (?:this|the|our|my) (?:game|scenario|story|role[- ]?play|campaign),? (?:i"
    r"|i'm|you|you're|we|my character)\b|\bmy character (?:is|was|has|lives|works)\b"
)

# Irony

_IRONIC_OPENING = _pattern(
    r"\W{0,3}(?:"
    rf"(?:oh|wow|yay),? {_BLISS}[,.!]{{1,3}} [^.!?]{{0,60}}\b(?:again|broken|broke|down|late"
    rf"|crashed"
    r"|failed|fails|delayed|cancelled|stuck|lost|closed)\b"
    r"|(?:oh |wow)?,? ?(?:what|such) an? (?:genius|stroke of genius)\b|"
    rf"(?:oh,? )?(?:sure|right|yeah|of course),? (?:because|'?cause"
    r"|cuz)\b|oh,? sure\b(?! thing)|(?:oh,? |yeah,? |well,? "
    r"|no,? ){0,2}as if\b(?! by\b)|(?:oh,? |yeah,? |well,? )?like (?:i|we) (?:have|had|don't have"
    r"|need|needed|care|want|would ever|'d ever)\b"
    rf"|(?:(?:oh|wow|well|yeah|ah|ooh|gee|yay|hooray),? )?(?:(?:just|how"
    rf"|that's) )?{_BLISS}[,.!–— -]{{1,4}}(?:(?:yet )?another\b|(?:even )?more\b|again\b|now (?:i"
    rf"|we|it|the)\b|just what\b)|(?:oh|wow|gee|yay|hooray),? (?:{_BLISS}|sure|yeah),? (?:because"
    rf"|like|as if|that'?ll|that will|what could)\b|(?:oh|yeah),? {_BLISS}\. "
    r"|(?:oh|gee|yay|hooray)[,.! ]{1,2}(?:joy|goody)\b|(?:yay|woo-?hoo|hooray),? (?:another|more"
    r"|mondays?)\b|(?:nice going|way to go|nice job|good job|great job|smooth move),? (?:genius"
    r"|einstein|sherlock|breaking|ruining)\b|(?:well,? |oh,? )?(?:that'?s|isn't that|this is"
    r"|aren't (?:you|we)) just (?:great|perfect|wonderful|brilliant|terrific|fantastic|peachy"
    r"|dandy|lovely|swell)\b|(?:(?:oh|wow|well),? )?(?:what a|big) (?:surprise|shock|shocker)\b"
    r"|(?:oh,? )?you don't say\b)"
)
"""How an ironic sentence begins: assent that is none, joy at what is no joy."""

_IRONIC_PHRASE = _pattern(
    r"\byeah,? right\b(?! (?:now|after|before|away|here|there))|\bjust what (?:i"
    r"|we) (?:always )?(?:needed|need)[.!\s]*$"
    rf"|\bi (?:just |simply |really |so |absolutely |do ){{0,3}}(?:love|adore"
    rf"|enjoy) (?:{_NUISANCE})\b|\b(?:what|how) (?:i|we) (?:love|enjoy) (?:{_NUISANCE})\b"
    r"|\b(?:so|really|very|all) (?:glad|thrilled|happy|excited|delighted) (?:to be|that i(?:'m"
    r"|'ve been)?|to) (?:get to )?(?:stuck|ignored|waiting|kept waiting|on hold|wait|queue)\b"
    r"|\blucky me\b|\breally,? really (?:looking forward|want)"
    r"|\bthanks? (?:you )?(?:a lot )?for nothing\b|\bhow (?:very )?(?:nice|kind|thoughtful"
    r"|generous|considerate|sweet) of (?:you|him|her|them)\b|\ba real (?:class act|genius|charmer"
    r"|barrel of laughs)\b|\ba genius like you\b|\bbecause (?:nothing says|that (?:worked"
    r"|went) (?:so|out so) well|who (?:doesn't|needs))\b|\bwhat could (?:possibly )?go wrong\b"
    r"|\bgood luck with that\b|\btell me something i don't know\b|\bsaid no ?one ever\b"
    r"|\bslow clap\b|\bno (?:kidding|shit),? sherlock\b|\b(?:just|only) (?:kidding|joking)\b|(?:^"
    r"|[\s,])(?:jk|/s)[.!\s]*$|[,.!-] ?not!+\s*$|\.\.+ ?not[.!\s]*$"
)
"""What is ironic wherever it stands, or says that it was."""

_SHOUTED_LOVE = _pattern(r"\bI (?:just |so |simply |really )?(?:LOVE|ADORE|ENJOY) [a-z]+", flags=0)
"""Love in capitals, as nobody declares it; the letters around must be small, so cases count."""


# What is not so

_UNREAL = _pattern(
    r"\bwhat if\b|\bif only\b|\bif i were\b|\bif i was you\b|\bhypothetical(?:ly)?\b"
    r"|(?<!n't )(?<!not )\bimagin(?:e|ing) (?:if|that|i|i'm|we|you|being|working|living)\b|(?:^"
    r"|[,.!?:] ?)(?:just |now |and |but |so )?suppos(?:e|ing) (?:that|i|i'm|we|you|he|she|they"
    r"|the|my|our|there)\b|(?:^|[,.!?:] ?)(?:say|assume|assuming)(?: that)? (?:i'm|i am|i was"
    r"|i were|i had|we were)\b|\bfor (?:the sake of (?:the )?argument|argument'?s sake)\b"
    r"|\bin (?:an ideal|a perfect"
    r"|another) (?:world|life)\b|\bin a parallel universe\b|\bi (?:dreamt|dreamed"
    r"|had a dream)(?: that)? i\b|\b(?:were i|were we|were he|were she|were they|were it) (?:to"
    r"|not|in|a|an|the)\b"
    rf"|\b(?:would|could|should)(?:n't|nt)?(?: (?:i|we|he|she|they|it|you))?{_ADVERBS} (?:have|of"
    rf"|'ve|ve|had){_ADVERBS} {_PARTICIPLE}|\b(?:would|could|should)(?:n't"
    rf"|nt)?'?ve{_ADVERBS} {_PARTICIPLE}|\b(?:i|you|we|he|she|they"
    rf"|it)'d{_ADVERBS} have{_ADVERBS} {_PARTICIPLE}|\b(?:shoulda|woulda|coulda)\b|\bwas (?:going"
    rf"|supposed|meant) to have\b"
)

_WISH = _pattern(
    r"(?<!\ba )(?<!\bthe )(?<!\bbest )\bwish(?:ed|ing|es)?(?: that)? "
    r"(?!(?:to|list|lists)\b|(?:you|them|him|her|us|everyone)\b[^.]{0,20}?"
    r"\b(?:all|the|a|an|good|well|luck|happy|every|much|success|nothing|only|both|to)\b)"
    rf"(?:{_SUBJECT}\b(?! \w+ to\b)|(?:[\w'-]+,? ){{1,10}}?{_PAST}\b)"
)
"""A wish that things were otherwise; not one to come true ("wishes to …", "wish you luck")."""

_NOT_ASKED = (
    r"(?<!\bknow )(?<!\bsee )(?<!\bsure )(?<!\bunsure )(?<!\bask )(?<!\basks )(?<!\basked )"
    r"(?<!\basking )(?<!\bwonder )(?<!\bwondered )(?<!\bwondering )(?<!\bcheck )(?<!\bas )"
    r"(?<!\bcurious )(?<!\bdoubt )(?<!\bdecide )(?<!\btell )(?<!\bprefer )(?<!\bthem )"
    r"(?<!\bhim )(?<!\bher )(?<!\bme )(?<!\bus )"
)
"""After these words an "if" opens a question: "asked if we ship"."""

_UNREAL_IF = _pattern(
    rf"{_NOT_ASKED}\bif (?!(?:you|we|i|someone|somebody|they|it) (?:can|could)\b)"
    r"(?!(?:\w+ ){0,3}(?:don't|doesn't|do|does|is|are|has|have)\b)"
    rf"(?:[\w'-]+ ){{1,5}}?{_PAST}\b|(?:^|[,;] ?|\band |\bbut |\")had (?:i|we|he|she|they|it|you"
    rf"|there|this|the \w+){_ADVERBS} {_PARTICIPLE}"
)
"""An "if" with a past tense, or its older form ("had I known"); not the "if" of a question."""

_CONSEQUENCE = _pattern(
    r"\b(?:would|could|might|wouldn't|couldn't|wouldnt|couldnt|would've)\b|\w'd\b"
)


def _find_unreal_if(sentence: str) -> re.Match[str] | None:
    return _with_consequence(_UNREAL_IF.search(sentence), sentence, _CONSEQUENCE)


def _with_consequence(
    condition: re.Match[str] | None, sentence: str, consequence: re.Pattern[str]
) -> re.Match[str] | None:
    """The condition, where what hangs on it stands in the rest of the sentence."""
    if condition is None:
        return None
    rest = f"{sentence[: condition.start()]} | {sentence[condition.end() :]}"
    return condition if consequence.search(rest) else None


# What is not so yet

_OPEN_IF = _pattern(
    rf"{_NOT_ASKED}(?<!\beven )\b(?:if|unless|(?<!just )in case|provided that|provided|assuming"
    r"|on condition that) (?:i|we|he|she|they|(?:the|our|my|her|his|their) [\w'-]+|prices?|sales"
    r"|it(?= (?:gets|becomes|goes|drops"
    r"|happens|works|turns|comes|falls|rises))) "
    r"(?!(?:to|of)\b)[\w']+"
)

_OPEN_CONSEQUENCE = _pattern(
    r"(?:\b(?:would|might|may|will|won't|wouldn't)|'d|'ll)\b(?! (?:also |really |rather )?(?:like"
    r"|prefer|appreciate|rather|love|want|welcome|be (?:great|nice|good|happy|grateful"
    r"|helpful))\b)|\b(?:am|is|are|'m|'re|'s) (?:going to|leaving|moving|switching|cancelling"
    r"|canceling|quitting)\b"
)
"""What a condition hangs on: a deed to come; not a wish ("would like a call if …")."""


def _find_condition(sentence: str) -> re.Match[str] | None:
    if sentence.rstrip().endswith("?"):
        return None
    return _with_consequence(_OPEN_IF.search(sentence), sentence, _OPEN_CONSEQUENCE)


def _anywhere(pattern: re.Pattern[str]) -> _Find:
    return lambda text, _: pattern.search(text)


def _at_each_start(pattern: re.Pattern[str]) -> _Find:
    return lambda text, starts: next(filter(None, (pattern.match(text, at) for at in starts)), None)


def _in_each_sentence(find: Callable[[str], re.Match[str] | None]) -> _Find:
    def search(text: str, starts: Sequence[int]) -> re.Match[str] | None:
        sentences = (text[a:b] for a, b in zip(starts, (*starts[1:], len(text)), strict=True))
        return next(filter(None, map(find, sentences)), None)

    return search


_RULES: Sequence[tuple[Literalness, frozenset[str], _Find]] = (
    (
        Literalness.ROLEPLAY,
        _table(
            "pretend pretending role roleplay roleplaying act let lets now basically practically "
            "virtually essentially actually really fact game scenario story campaign character"
        ),
        _anywhere(_ROLE),
    ),
    (
        Literalness.QUOTED,
        _table(
            "said says saying told wrote writes sang sings replied claims claimed goes went reads "
            "reckons insists quote line verse words"
        ),
        _anywhere(_QUOTATION),
    ),
    (Literalness.QUOTED, frozenset(), _anywhere(_QUOTED_WHOLE)),
    (Literalness.SARCASTIC, frozenset(), _at_each_start(_IRONIC_OPENING)),
    (
        Literalness.SARCASTIC,
        _table(
            "right needed need love adore enjoy glad thrilled happy excited delighted lucky really "
            "thanks thank how genius act charmer barrel because wrong luck something one noone "
            "clap sherlock kidding joking jk s not"
        ),
        _anywhere(_IRONIC_PHRASE),
    ),
    (Literalness.SARCASTIC, _table("love adore enjoy"), _anywhere(_SHOUTED_LOVE)),
    (
        Literalness.HYPOTHETICAL,
        _table(
            "if hypothetical hypothetically imagine imagining suppose supposing say assume "
            "assuming sake world life "
            "universe dreamt dreamed dream were would could should wouldn couldn shouldn wouldnt "
            "couldnt shouldnt wouldve couldve shouldve d shoulda woulda coulda"
        ),
        _in_each_sentence(_UNREAL.search),
    ),
    (
        Literalness.HYPOTHETICAL,
        _table("wish wished wishes wishing"),
        _in_each_sentence(_WISH.search),
    ),
    (Literalness.HYPOTHETICAL, _table("if had"), _in_each_sentence(_find_unreal_if)),
    (
        Literalness.CONDITIONAL,
        _table("if unless case provided assuming condition"),
        _in_each_sentence(_find_condition),
    ),
)
"""Each kind's rules in the order in which they count, with words of which a text must hold one.

The words only save time: a plain note has few of them, and its rules need not be tried.
"""


# Hedges

_HEDGE = _pattern(
    r"\bi (?:\w+ly )?(?:think|guess|suppose|believe|assume|reckon|suspect|imagine|feel like)\b"
    r"|\bi (?:don't|dont|do not) (?:think|believe|remember|recall|know if|know whether)\b"
    r"|\b(?:maybe|perhaps|probably|possibly|presumably|supposedly|allegedly|apparently|likely"
    r"|unlikely|arguably|afaik|iirc|unsure|uncertain|tentatively|doubtful|potentially|dunno)\b"
    r"|\bnot (?:\w+ly )?(?:sure|certain|convinced)\b|\bas far as i (?:know|remember|recall"
    r"|can tell)\b|\bif i (?:remember|recall)(?: \w+ly)?\b|\bif i'm not mistaken\b|\b(?:seems?"
    r"|seemed|appears?|appeared) (?:to|like|that|as)\b|\bmight(?!y)\b(?! of\b)|\bmay (?:be|have"
    r"|want|need|not|also|well|still|\w+ to)\b|\b(?:could|must) be\b|\bsounds like\b"
    r"|\brumou?r has it\b|\b(?:is|are|am|'m|'re|'s) (?:\w+ly )?(?:considering|thinking (?:of"
    r"|about)|toying with|leaning towards?)\b"
)
