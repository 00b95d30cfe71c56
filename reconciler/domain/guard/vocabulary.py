"""The closed classes of words that the guard knows, as ``config/lexicon/guard.toml`` lists them.

Only their lookup lives here; nothing here depends on a text.
"""

from __future__ import annotations

from functools import cache

from reconciler.lexicon import Cues, lexicon


class Vocabulary:
    """The classes of words; the file says what each is for.

    ``function_words`` are all words without content, and ``english`` those of them that no other
    language has. ``sides`` gives for each word its closed class and its side.
    """

    def __init__(self) -> None:
        known = lexicon("guard")
        words, word_set, cue = known.words, known.word_set, _cues().pattern
        self.auxiliaries = word_set("be", "auxiliary")
        self.function_words = self.auxiliaries | word_set(
            "preposition", "negation", "article", "possessive", "function_word"
        )
        self.acronyms = word_set("acronym")
        self.addition = cue("addition")
        self.articles = word_set("article")
        self.at_least = cue("at_least")
        self.at_most = cue("at_most")
        self.attitudes = word_set("attitude")
        self.be = word_set("be")
        self.cardinals = _numbers("cardinal")
        self.cessation = cue("cessation")
        self.change = cue("change")
        self.clause_marks = word_set("clause_mark", "supposition")
        self.comparing = word_set("comparing")
        self.correction = cue("correction")
        self.currencies = known.by_word("currency")
        self.degrees = word_set("degree")
        self.denying_signs = word_set("denying_sign")
        self.directions = word_set("direction")
        self.disposing = word_set("disposing")
        self.doubts = word_set("doubt")
        self.ended_before = cue("ended_before")
        self.ended_behind = cue("ended_behind")
        self.english = self.function_words - word_set("shared_word")
        self.event = cue("event")
        self.exact_signs = word_set("exact_sign")
        self.first_person = cue("first_person")
        self.foreign = word_set("foreign", "foreign_negation")
        self.foreign_negations = word_set("foreign_negation")
        self.governing = word_set("governing")
        self.is_no_more = cue("is_no_more")
        self.lifted = cue("lifted")
        self.light = word_set("light")
        self.list_marks = word_set("list_mark")
        self.measures = word_set("measure")
        self.month_beside_day = known.any_of("month_beside_day")
        self.months = {month: number for number, month in enumerate(words("month"), start=1)}
        self.multipliers = _numbers("multiplier")
        self.negations = word_set("negation")
        self.negative_prefixes = words("negative_prefix")
        self.nominatives = word_set("nominative")
        self.no_less_than = cue("no_less_than")
        self.no_more_than = cue("no_more_than")
        self.not_without = cue("not_without")
        self.numbered = word_set("numbered")
        self.occurrence = cue("occurrence")
        self.one_more = cue("one_more")
        self.ordinals = _numbers("ordinal")
        self.parting_beginnings = word_set("parting_beginning")
        self.parting_endings = word_set("parting_ending")
        self.parts = word_set("part")
        self.payments = word_set("payment")
        self.positions = word_set("position")
        self.possessives = word_set("possessive")
        self.prepositions = word_set("preposition")
        self.quotes = word_set("quote")
        self.read_as = known.by_word("read_as")
        self.relatives = word_set("relative")
        self.requires = cue("requires")
        self.resumed = cue("resumed")
        self.retraction = cue("retraction")
        self.rewording = word_set("rewording")
        self.sentence_marks = word_set("sentence_mark")
        self.short_of = word_set("short_of")
        self.sides = _sides(words("opposite"))
        self.stages = word_set("stage")
        self.stand_in = cue("stand_in")
        self.suppositions = word_set("supposition")
        self.third_person = cue("third_person")
        self.turning = word_set("turning")
        self.turns = word_set("turn")
        self.verb_endings = word_set("verb_ending") | {""}
        self.weekdays = word_set("weekday")
        self.wishing = cue("wishing")
        self.wishes = word_set("wish")


@cache
def vocabulary() -> Vocabulary:
    """The classes, read at the first call."""
    return Vocabulary()


@cache
def _cues() -> Cues:
    return Cues(lexicon("guard"))


def _numbers(name: str) -> dict[str, int]:
    return {word: int(number) for word, number in lexicon("guard").by_word(name).items()}


def _sides(lines: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    return {
        word: (number, side)
        for number, line in enumerate(lines)
        for side, words in enumerate(line.split("|"))
        for word in words.split()
    }
