"""What a note's words alone say of it: its category, how it is to be recalled, its cues.

Closed lists of English phrases and the order in which they are tried live here. What follows from
a category or a cue never does, and neither does anything that needs a model: a text that no list
knows is a fact, which is the category that promises least.
"""

from __future__ import annotations

import re

from reconciler.domain.kinds import Category, RecallSemantics

__all__ = [
    "find_speculation",
    "find_trigger",
    "infer_category",
    "infer_recall_semantics",
]


def _any(*phrases: str) -> re.Pattern[str]:
    """Phrases of a folded text, whole words; every repetition in them is bounded."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)")


_CHANNEL = (
    "(?:e-?mails?|phone|telephone|post|letter|texts?|sms|whatsapp|chat|signal|slack|teams|fax"
    "|mobile|video|appointment|zoom|linkedin)"
)
_REACH = "(?:call|phone|ring|e-?mail|contact|text|message|write to|visit|approach)"
_REACHED = (
    "(?:called|phoned|rung|e-?mailed|contacted|texted|messaged|written to|visited|addressed"
    "|reached|approached)"
)
_ORDERED = (
    rf"(?:{_REACH}|suggest|recommend|offer|propose|mention|bring up|pitch|upsell|send|book"
    "|schedule|invite|show|ask|remind|share|discuss|disclose|forward|quote|ship|deliver|charge"
    "|refund|deploy|delete|merge|push|buy|purchase|order|sign|add|include|copy|cc|use|change"
    "|disturb|cold-call|refactor|make|give|assume|promise|sell|address|publish|release|restart)"
)
_CLAUSE_START = r"(?:^|[.;:!?,-] |\b(?:and|but|so|please|to|then|said|says) )"
"""Where an order begins: "she never calls" tells of a habit, "never call" orders."""

# ---- Orders ----

_ASSENT = (
    "(?:confirmation|confirming|approval|consent|permission|asking|checking|sign-off"
    "|authori[sz]ation|consulting|notice)"
)
_CONDITIONAL_ORDER = _any(
    rf"(?:do not|don't|never|no|nothing|not|cannot|can't) [^.;]{{0,80}}? without (?:\w+ ){{0,3}}?"
    rf"{_ASSENT}",
    "(?:do not|don't|never|no|nothing|not) [^.;]{1,60}? unless (?:asked|told|approved|confirmed"
    "|requested|agreed|instructed|authori[sz]ed|urgent|necessary|(?:i|he|she|they) (?:say|ask)s?)",
)
"""What is forbidden until somebody agrees: it binds, but bans nothing for good."""

_FORBIDDING_WORDS = ("not ", "n't ", "never ", "no ", "stop ")
"""One of them stands in every ban."""

_BAN = re.compile(
    rf"{_CLAUSE_START}(?:do not|don't|never|please stop|stop) (?:ever )?{_ORDERED}(?:ing)?(?!\w)"
    rf"|{_CLAUSE_START}no (?:more |marketing |cold |phone |sales |unsolicited )*"
    r"(?:calls?|e-?mails?|texts?|sms|visits?|newsletters?|mailings?|upsell\w*|marketing)(?!\w)"
    r"|\b(?:asked|asks|wants|told|requested|requests|prefers|would like) (?:\w+ ){0,2}?"
    rf"(?:not|never) to (?:be {_REACHED}|{_ORDERED})(?!\w)"
    rf"|(?:not|n't) want (?:to be {_REACHED}|(?:us|me|you|anyone) to {_ORDERED}"
    rf"|any (?:more )?(?:calls|e-?mails|texts|offers|visits|newsletters))(?!\w)"
)

_BINDING_WORDS = (
    *("always", "only", "exclusively", "solely", "must", "not allowed", "circumstances"),
    *("at all times", "no exceptions", "off limits", "off-limits"),
)
"""One of them stands in every constraint; looking for them first is ten times faster."""

_CONSTRAINT = re.compile(
    rf"{_CLAUSE_START}always (?:{_ORDERED}|check|confirm|get|notify|inform|consult|obtain|verify"
    r"|wait|reply|go through|speak to|require)(?!\w)"
    rf"|{_CLAUSE_START}only (?:ever )?(?:{_REACH}|use|send|book|deploy|meet|ship|invoice)(?!\w)"
    rf"|\b(?:only|exclusively|solely) (?:by|via|through|over) {_CHANNEL}(?!\w)"
    rf"|\b(?:{_REACHED}|contact|reach\w*) (?:\w+ ){{0,2}}?(?:only|exclusively) (?:by|via|on)(?!\w)"
    rf"|\bonly be {_REACHED}(?!\w)"
    rf"|\b{_CHANNEL} only(?!\w)(?! (?:has|have|is|are|was|works?))"
    r"|\bread-only(?!\w)|\bread only (?:mode|access)(?!\w)"
    r"|\bmust(?: not|n't| never| always| go through| carry| include| contain| first)(?!\w)"
    r"|\bmust be (?:approved|signed|confirmed|agreed|cleared|authori[sz]ed|copied|encrypted"
    r"|invoiced|in writing)(?!\w)"
    r"|\b(?:not allowed to|under no circumstances|at all times|no exceptions|off[ -]limits)(?!\w)"
)

_STANDING_ASK = re.compile(
    rf"{_CLAUSE_START}always (?:ask|check|confirm|get approval|consult)[^.;]{{0,40}}? before(?!\w)"
)
"""A question before every such step is agreed once and holds: a decision, whoever likes it."""

# ---- Categories ----

_SUMMARY = re.compile(
    r"^(?:(?:call|meeting|ticket|session|incident|case|executive) )?"
    r"(?:summary|recap|tl;dr|outcome|resolution|post-?mortem|minutes)(?: [^:]{0,60})?:"
    r"|^incident(?: [^:]{0,60})?:"
    r"|\b(?:ticket|case|incident|issue|outage) #?[\w-]{0,20}"
    r" ?(?:was |were |is |has been |got )?(?:resolved|fixed|solved|closed|mitigated)"
    r" (?:by|with|through|after|via|at|when)(?!\w)"
    r"|\b(?:in summary|to summari[sz]e|to sum up)(?!\w)"
)

_STEP = (
    "(?:open|click|go|log|call|check|select|press|restart|turn|unplug|run|ask|send|enter|choose"
    "|verify|confirm|stop|start|install|remove|create|wait|export|import|back up|disconnect|close"
    "|drain|scale|hold|switch|set|delete|reboot|contact|fill|sign|pick|type|use)"
)
_PROCEDURE = re.compile(
    r"^how to(?!\w)"
    r"|^(?:procedure|runbook|playbook|workflow|instructions)\b[^:]{0,60}:"
    r"|^(?:in order )?to (?!whom)[a-z]+ [^:.;]{1,60}: \S"
    rf"|^(?:in order )?to [a-z]+ [^:.;,]{{1,60}}, (?:first )?{_STEP}(?!\w)"
    r"|how to [^:]{1,60}:"
    r"|steps(?: to [^:]{1,60}| for [^:]{1,60})?:"
    r"|step (?:1|one)(?!\w)"
    rf"|(?<![^.;:] )(?:first|1[.)]),? {_STEP}\b.{{1,200}}?(?:\bthen|\bnext|\b2[.)])(?!\w)"
)

_DECIDED = (
    "(?:decided|agreed|approved|chose|chosen|signed off|went with|going with|settled on"
    "|opted (?:for|to))"
)
_DECISION = _any(
    rf"{_DECIDED}(?! (?:vendor|supplier|partner|contractor|list)s?\b)",
    "decision:",
    "use [^.;]{1,40}? (?:by|as) (?:the )?default",
)
_NO_DECISION = re.compile(
    r"(?:\b(?:not|never|nobody|cannot|if|once|until|when|unless|whether|to be|yet)|n't)"
    rf"(?: [\w'-]+){{0,3}}? {_DECIDED}(?!\w)|\bdecided (?:yet|later|next)(?!\w)"
)
"""What is open or only a condition; such a text is no decision, whatever else it says."""

_PREFERENCE = _any(
    "prefers?",
    "preferring",
    "preferences?",
    r"preferred(?!\w)(?! (?:supplier|vendor|partner|stock|share|customer)s?\b)",
    "loves",
    "hates",
    "dislikes?",
    "enjoys",
    "adores?",
    "detests?",
    "favou?rites?",
    "appreciates",
    "fond of",
    "keen on",
    "can't stand",
    "cannot stand",
    "a (?:big |huge |great )?fan",
    "huge [a-z ]{1,20}fan",
    r"(?<!\d )(?<![,\d]k )likes",
    *(
        f"{subject} (?:really |also |both |always |just |do )?(?:like|love|hate|enjoy)"
        for subject in ("i", "we", "they", "you", "really", "also", "both", "always")
    ),
    "do(?:es)?(?:n't| not) (?:really )?(?:like|love|enjoy)",
    "did(?:n't| not) (?:really )?(?:like|love|enjoy)",
    "would (?:much )?rather",
    "(?:i|he|she|they|we)'d (?:much )?rather",
    "rather not",
    rf"wants? to be (?:\w+ )?{_REACHED}",
    rf"wish(?:es)? to be (?:\w+ )?{_REACHED}",
    rf"likes? to be (?:\w+ )?{_REACHED}",
    rf"ask(?:s|ed) to be (?:\w+ )?{_REACHED}",
    rf"(?:{_CHANNEL}(?: calls?)?|calls|mornings?|afternoons?|evenings?)"
    r" (?:is|are|works?|suits? \w+) (?:the )?best",
    "best (?:reached|contacted) (?:by|via|on|at|in)",
)

_NOW = r"(?:right now|at the moment|at present|currently|today|tonight|now|as of (?:now|today))"
_SERVICE = (
    r"(?:server|site|website|api|system|service|app|network|database|cluster|platform|portal"
    r"|line|link|vpn|login|payment gateway|checkout|dashboard|[\w-]+-(?:prod|staging|dev)"
    r"|(?:prod|staging)[\w-]*)s?"
)
_VOLATILE = re.compile(
    rf"\b{_SERVICE} (?:is|are) (?:still |again |{_NOW} )?(?:down|offline|unavailable|degraded"
    r"|unreachable|slow|back up|back online|up again|restarting)(?!\w)"
    rf"|\b(?:is|are) {_NOW} (?:down|offline|online|unavailable|waiting|busy|away|travelling"
    r"|traveling|driving|queuing|charging|loading|processing|in transit|on the phone)(?!\w)"
    r"|\b(?:currently|still) (?:waiting|queuing|on hold|offline|online|in transit)(?!\w)"
    r"|\bin an? (?:[a-z]+ )?(?:meeting|call|flight|interview) (?:until|till|right now|now)(?!\w)"
    r"|\b(?:on the phone|on hold|stuck in traffic|running late|out for delivery|in transit)"
    rf"(?: {_NOW}| \w+ minutes)?[.!]?$"
    r"|\bbalance (?:is|of|was|stands at|:)[^a-z0-9]{0,3}(?:usd|eur|gbp|inr)? ?\d"
    r"|\b(?:prices?|fares?|(?:exchange|interest) rates?)\b[^.;]{0,40}? (?:is|are|stands?)"
    rf" (?:[^.;]{{0,30}}? )?{_NOW}(?!\w)"
    rf"|\b(?:costs?|trad(?:es?|ing)) [^.;]{{0,30}}?\d[^.;]{{0,20}}? {_NOW}(?!\w)"
    r"|\b(?:live|today's|latest) (?:price|status|rate|fare|stock|weather|temperature"
    r"|exchange rate|queue)s?(?!\w)"
    r"|\b(?:in|out of|back in) stock(?!\w)(?! (?:option|market|trad|photo|exchange))"
    r"|\b\d+ (?:units?|items?|seats?|rooms?) left(?!\w)"
    r"|\b(?:order|shipment|delivery|ticket|queue|build|server|job) status (?:is|:)"
    r"|\b(?:it is|it's) (?:raining|snowing|sunny|cloudy|foggy|\d+ ?(?:°|degrees))"
    rf"|\bweather (?:in [^.;]{{1,30}}? )?(?:is|{_NOW})(?!\w)"
    r"|\b(?:cpu|memory|disk|error rate|latency|load|traffic)(?: usage)? (?:is|at)"
    r"(?: at)? ?\d"
)

# ---- Cues ----

_TRIGGER = re.compile(
    r"(?:^|[.;:!?,] |\b(?:please|also|just|and|can you|could you|will you|want you to"
    r"|need you to) )(?P<cue>remember(?:[:,]| that| this| to| my| the| i| we| she| he| it)"
    r"|keep in mind|bear in mind|don't forget|note that)(?!\w)"
    r"|\b(?P<cue2>from (?:now|here|this (?:day|point)|today) on(?:wards?)?|(?:going|moving) forward"
    r"(?! with| to)|make a note|take a note|for the record"
    r"|for (?:future|your) (?:reference|records)|in (?:the )?future,|write (?:this|that) down"
    r"|note to self)(?!\w)"
    r"|\b(?P<cue3>approved ?:)"
)

_CAUSE = "(?:root causes?|causes?|culprit|reason|problem|issue|fault|bug|trigger)"
_SPECULATION = re.compile(
    r"\b(?:(?:working |my |current )?(?:hypothesis|theory|guess|hunch|suspicion)(?: is(?: that)?|:)"
    r"|(?:working|unproven|unverified) (?:theory|hypothesis)"
    r"|i(?:'d| would)? (?:strongly |still |just )?(?:suspect|guess|speculate|hypothesi[sz]e)"
    rf"|i (?:think|believe|assume) (?:that )?(?:the |its |it's )?(?:\w+ )?{_CAUSE}"
    rf"|(?:suspected|possible|probable|likely|potential|presumed) (?:root )?{_CAUSE}"
    r"|(?:it|this|that) (?:could|might|may) (?:be|have been) (?:that|because|due|caused|related)"
    r"|(?:causes?|culprit) (?:could|might|may|is probably|is likely|is possibly|is perhaps)(?: be)?"
    r"|(?:could|might|may|must|probably|possibly|perhaps|likely|presumably)(?: be| have been| is"
    r"| was)?(?: caused by| due to| because of| the root cause| the culprit))(?!\w)"
)


def infer_category(text: str) -> Category:
    """The category that the words give away; a fact where they give none away.

    The order is that of how surely the words say it, so a decision about what somebody prefers is
    a decision, and a preference about the weather is a preference.
    """
    folded = _folded(text)
    if _SUMMARY.search(folded):
        return Category.SUMMARY
    if _PROCEDURE.search(folded):
        return Category.PROCEDURE
    if _is_decision(folded):
        return Category.DECISION
    if _PREFERENCE.search(folded):
        return Category.PREFERENCE
    if _recall_semantics(folded):
        return Category.DECISION
    return Category.VOLATILE if _VOLATILE.search(folded) else Category.FACT


def infer_recall_semantics(text: str) -> RecallSemantics | None:
    """CONSTRAINT or NEGATIVE where the words order or forbid something; else None.

    What is forbidden only until somebody agrees is a constraint.
    """
    return _recall_semantics(_folded(text))


def find_trigger(text: str) -> str | None:
    """The words that ask for the note to be kept, case folded; None where there are none."""
    found = _TRIGGER.search(_folded(text))
    return next(filter(None, found.groups())) if found else None


def find_speculation(text: str) -> str | None:
    """The words that mark a guess at what nobody has verified, case folded; else None.

    A mere hedge ("I think she prefers tea") is none: it weakens a claim and leaves it one.
    """
    found = _SPECULATION.search(_folded(text))
    return found.group() if found else None


def _is_decision(folded: str) -> bool:
    if _DECISION.search(folded) and not _NO_DECISION.search(folded):
        return True
    return bool(_CONDITIONAL_ORDER.search(folded) or _STANDING_ASK.search(folded))


def _recall_semantics(folded: str) -> RecallSemantics | None:
    if _CONDITIONAL_ORDER.search(folded):
        return RecallSemantics.CONSTRAINT
    if _holds_any(_FORBIDDING_WORDS, folded) and _BAN.search(folded):
        return RecallSemantics.NEGATIVE
    if _holds_any(_BINDING_WORDS, folded) and _CONSTRAINT.search(folded):
        return RecallSemantics.CONSTRAINT
    return None


def _holds_any(words: tuple[str, ...], folded: str) -> bool:
    return any(word in folded for word in words)


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())
