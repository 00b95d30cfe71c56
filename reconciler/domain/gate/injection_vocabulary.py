"""The words and phrases by which a directive to the agent or its memory is told from a fact.

Tables only live here: kinds, classes of words, cues that settle it alone, and signs with weights.
How a text is read and what follows from a cue never does; that is ``injection``'s business.

Cues and signs are regular expressions with three shorthands, which ``injection`` expands:

- ``<name>`` is a class of words from ``CLASSES``,
- ``~`` is a gap of at most sixty characters within a sentence,
- a space is up to four characters of white space.

They are matched against folded text, lower case and without accents, and are folded like it; so
none of them may hold an escape that is an upper case letter. Everything that repeats is bounded:
a text of 2,000 cue words must not cost more than their number.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "CLASSES",
    "CODE_MARKS",
    "CONTEXT_SIGNS",
    "CUES",
    "DISGUISED_WORDS",
    "LOOKALIKES",
    "MARKS",
    "NAMED",
    "NAMED_WEIGHT",
    "OTHER_SCRIPTS",
    "REQUEST_SCORE_MIN",
    "REQUEST_SIGNS",
    "SUBJECT_SIGNS",
    "TALK_SIGNS",
    "TASK_SIGNS",
    "Directive",
]


class Directive(StrEnum):
    """What a text wants of whoever reads it, other than to be known."""

    OVERRIDE = "override"
    REMEMBER = "remember"
    COMMAND = "command"
    ROLE = "role"
    REVEAL = "reveal"
    HIDDEN = "hidden"
    CODE = "code"


CLASSES = {
    # Where a sentence or a clause begins, and what may stand before its verb.
    "start": (
        r"(?:^|(?<=[.!?:;,\n'\"(\]}>{*#])|(?<=[.!?:;,\n'\"(\]}>{*#-]\s)|(?<=[.!?:;,\n]\s\s)"
        r"|(?<=\band\s)|(?<=\bthen\s)|(?<=\balso\s)|(?<=\bnow\s)|(?<=\bbut\s)|(?<=\bplease\s)"
        r"|(?<=\bkindly\s))"
    ),
    "opener": (
        r"(?:(?:please|kindly|also|now|then|next|to proceed|always|never|simply|just|only"
        r"|consider|remember to|make sure to|be sure to|ensure to|don't forget to|keep in mind to"
        r"|don't hesitate to|feel free to|do not forget to|seamlessly|you (?:must|should|shall"
        r"|will|need to|have to)),? )?"
    ),
    "lead": (
        r"(?:(?:please|kindly|also|now|then|next|and|oh|anyway|by the way|speaking of [\w ]{2,40}"
        r"|or|so|finally|first|ok|hey|<ask>|can i get|help me(?: to)?)[,:]? (?:and )?){0,4}"
    ),
    "ask": (
        r"(?:(?:can|could|would|will) you(?: (?:please|kindly|also|just|at least))?|please|kindly"
        r"|i (?:need|want|order|command) you to|i'd like you to)"
    ),
    # What is to be forgotten, and how.
    "ignore": (
        r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|bypass|override|neglect"
        r"|discard|abandon|set aside|put aside|throw out|pay no attention to|do not (?:follow"
        r"|obey)|don't (?:follow|obey)|stop (?:following|obeying)|violate|skip)"
    ),
    "orders": (
        r"(?:instructions?|directions?|directives?|prompts?|guidelines?|guardrails|rules"
        r"|commands?|orders from|programming|training|system message|safety (?:rules"
        r"|filters?|measures)|content polic(?:y|ies)|restrictions|constraints|limitations)"
    ),
    "whose": (
        r"(?:all|any|every|the|your|my|our|its|these|those|previous|prior|above|earlier|preceding"
        r"|former|past|existing|initial|original|current|other|of|system|safety|usual|foregoing)"
    ),
    # What an answer is, and what is done to one.
    "answer": r"(?:responses?|repl(?:y|ies)|answers?|outputs?|completions?|generations?)",
    "writing": (
        r"(?:messages?|texts?|summar(?:y|ies)|explanations?|elucidations?|translations?|content"
        r"|writing|sentences?|words)"
    ),
    "shape": (
        r"(?:add|append|attach|augment|include|insert|integrate|incorporate|embed|introduce"
        r"|inject|modify|change|adjust|alter|amend|enhance|enrich|extend|expand|complement"
        r"|supplement|replace|substitute|swap|convert|transform|turn|use|employ|apply|group"
        r"|combine|join|merge|split|separate|scramble|jumble|shuffle|mix|rearrange|reorder"
        r"|reverse|invert|flip|encode|encrypt|cipher|obfuscate|write|rewrite|rephrase|provide"
        r"|give|offer|begin|start|open|end|finish|close|conclude|make|mention|weave|work|place"
        r"|put|state|say|tell|translate|respond|answer|reply|limit|restrict|shorten|format"
        r"|present|structure|render|return|output|print|display|deliver|sprinkle|season|misspell"
        r"|capitali[sz]e|omit|remove|drop|delete|avoid|promote|advertise|market|recommend|suggest"
        r"|encourage|urge|persuade|convince|invite|link|direct|steer|refer|claim|pretend|spread"
        r"|share|tease|hint|praise|emphasi[sz]e|highlight|stress|express|craft|fill|lace|infuse"
        r"|blend|slip|anagram|repeat|double|number|spell|shift|rotate|ensure|adopt|execute|run"
        r"|leverage|utili[sz]e|harmoni[sz]e|interweave|meld|absorb|leave out|withhold|compose"
        r"|produce|generate|create|build|deploy|implement|fuse|enlist|sabotage|mangle|mirror"
        r"|install|import|append|complete|exchange|contradict|weaken|pad|clutter|flood)"
    ),
    "letters": (
        r"(?:letters|(?:each|every|first|last|single|capital|one|the) letter|vowels?|consonants?"
        r"|characters?|syllables?|spaces|spacing"
        r"|whitespaces?|punctuation|capitals|capitali[sz]ation|uppercase|lowercase"
        r"|typos?|misspellings?|homophones?|synonyms|emojis?|symbols?|digits)"
    ),
    "code": r"(?:code (?:snippet|block|excerpt|section|segment|fragment|piece|sample)|snippet)",
    # What is secret, and how one asks for it.
    "secret": (
        r"(?:pass ?words?|pass ?phrases?|pass ?codes?|secret|(?:secret|private|access|api|hidden"
        r"|encryption|master|code|magic) (?:keys?|codes?|words?|tokens?|phrases?)|code ?words?"
        r"|credentials?|pin codes?"
        r"|log-?in (?:details|data))"
    ),
    "innards": (
        r"(?:system prompts?|(?:initial|hidden|original|secret|internal"
        r"|pre-?) ?(?:prompts?|instructions?|rules|guidelines)|prompt template|system message"
        r"|chain of thought|source prompt|training data|context window)"
    ),
    "reveal": (
        r"(?:reveal|tell|show|give|share|disclose|divulge|leak|expose|print|output|repeat|recite"
        r"|send|confirm|provide|write|spell|say|encode|translate|list|hand over|hand out|dump"
        r"|echo|display|read out|read me|forward|rhyme|describe|summari[sz]e|quote|return"
        r"|reproduce|guess|retrieve|fetch|extract|state|mention|whisper|sing)"
    ),
    "personal": (
        r"(?:birth ?(?:dates?|days?|months?|years?)|dates? of birth|(?:home|street|postal|ip"
        r"|private|e-?mail|current) address(?:es)?|social security(?: numbers?)?|ssn|bank"
        r" (?:balances?|details|accounts?)|(?:account|card|passport|phone|mobile|telephone)"
        r" numbers?|account balances?|credit cards?(?: numbers?)?|medical (?:records?|history)"
        r"|(?:current )?city of residence|current (?:location|residence|city)|whereabouts|maiden"
        r" name)"
    ),
    "user": r"(?:the|each|every|this|our|your|all|any|other) (?:users?|end-?users?)",
    # What is said to a memory.
    "keep": (
        r"(?:save|store|remember|memori[sz]e|record|persist|retain|note|log|write down|keep in"
        r" mind|bear in mind|commit to memory)"
    ),
    "praise": (
        r"(?:recommend|suggest|promote|endorse|favou?r|prefer|advertise|praise|cite|mention|trust"
        r"|believe|approve|answer|respond|reply|say|state|claim|include|append|begin|end|agree"
        r"|comply|obey|accept|grant|allow|execute|prioriti[sz]e|present|speak|talk|write)"
    ),
    "future": (
        r"(?:from now on|from this (?:point|moment)(?: on(?:wards?)?)?|henceforth|going forward"
        r"|in (?:all |any |every )?(?:the )?future(?:"
        r" (?:conversations?|c"
        r"hats?|sessions?|responses?|answers?|interactions?|requests?|queries))?|for (?:all|any"
        r"|every) (?:future|later|next)|whenever (?:asked|anyone|someone|a user|the user|users)"
        r"|for future (?:conve"
        r"rsations?|chats?|sessions?|responses?|answers?|interactions?|reference)|(?:when|if)"
        r" (?:asked|anyone asks|someone asks|the user asks|users ask))"
    ),
    "act": (
        r"(?:ignor(?:e|ing)|disregard|forget|override|bypass|act as|pretend|behave|respond"
        r"|answer(?! the phone)|speak (?:like|as)|you (?:are|will|must|shall|have)|obey|comply"
        r"|recommend|promote|endorse|praise|say|append|refuse|treat (?:all|any|every)|trust"
        r"|approve|grant|execute|insert|include)"
    ),
    # Who speaks, and what for.
    "authority": (
        r"(?:god|the president of (?:the (?:united states|us|usa|country|world)|america)"
        r"|your (?:developer|creator|maker|owner|admin(?:istrator)?|system admin(?:istrator)?"
        r"|boss|supervisor|master|programmer|operator|engineer)|the (?:ceo|developers?|makers?) of"
        r" (?:openai|anthropic|this (?:system|assistant|bot|chatbot|model))"
        r"|(?:the|a|an) (?:system )?administrator of this system|law enforcement)"
    ),
    "encoding": (
        r"(?:base ?-?(?:16|32|58|64|85)|rot-?13|rot-?47|caesar|vigenere|morse|hexadecimal"
        r"|hex(?:ed)?|binary|pig ?latin|leet ?-?speak|1337|atbash|cipher|ascii codes?|unicode"
        r" escapes?|braille|nato alphabet|backwards?|reverse order|url-?encod\w{2,3}|alphanumeric"
        r" substitution|upside[- ]down|mirror (?:writing|text)|zalgo|semaphore)"
    ),
    # The parts of a text, and what a machine runs.
    "unit": r"(?:paragraph|sentence|word|line|letter|vowel|noun|verb|bullet point|section)",
    "passage": (
        r"(?:text|article|passage|paragraphs?|sentences?|document|conversation|content|table"
        r"|review|story|excerpt|page)"
    ),
    "language": (
        r"(?:english|spanish|french|german|italian|portuguese|dutch|russian|japanese|chinese"
        r"|mandarin|finnish"
        r"|korean|arabic|hindi|latin|greek|turkish|polish|swedish|danish|norwegian|hebrew|thai"
        r"|vietnamese"
        r"|swahili|czech|hungarian|ukrainian|romanian|indonesian|bengali|welsh|irish|icelandic"
        r"|esperanto|klingon)"
    ),
    "program": (
        r"(?:code(?:base)?|programme|program|script|functions?|solution|algorithm|implementation"
        r"|software"
        r"|module|application logic)"
    ),
}
"""Classes of words, by the name under which cues and signs use them."""

CUES = (
    # Older instructions are to count no more.
    (Directive.OVERRIDE, r"<ignore> (?:about )?(?:<whose> ){1,6}<orders>"),
    (Directive.OVERRIDE, r"<start><ignore> <orders>"),
    (
        Directive.OVERRIDE,
        r"<ignore> ~\b(?:you(?:'ve| have| were| are)(?: \w{1,9})? (?:been )?(?:told|instructed"
        r"|taught|given|programmed|trained))",
    ),
    (
        Directive.OVERRIDE,
        r"<start>(?:ignore|disregard|forget) (?:all |everything |anything )?(?:of )?(?:the |what"
        r" is )?(?:above|before|prior|previous)(?= ?(?:[.,;:!]|$)| (?:and|text"
        r"|messages?|conversation|content|context|input)\b)",
    ),
    (
        Directive.OVERRIDE,
        r"<start>(?:ignore|disregard|forget) (?:about )?(?:all |that|this|it|everything|what i"
        r" said)~[.,;:]? (?:can|could|would) you\b",
    ),
    (
        Directive.OVERRIDE,
        r"<start>(?:ignore|disregard|forget) (?:about )?(?:the|this|that|these|all|any"
        r"|everything)\b(?![^.!?]{0,60}\b(?:his|her|their|she|he|they|my|our)\b)~\b(?:and|but"
        r"|then|instead)(?: instead)?,? (?:just )?(?:say|state|tell|give|output|print|repeat"
        r"|write|reveal|translate|answer|respond|act)\b",
    ),
    (
        Directive.OVERRIDE,
        r"(?:new|updated|revised|real|actual|true|urgent) (?:system )?(?:instructions?|prompt"
        r"|directives?)(?: (?:are|is))?(?::| follow\b)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:your|these) (?:new|only|true|real|actual|updated|sole) (?:instructions?|prompt"
        r"|directives?|task|goal|objective|purpose|role|job|rules) (?:is|are|follow)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:system|developer|god|admin|root|sudo|jailbreak|override|unrestricted|unfiltered)(?:"
        r" override)?[ -]mode ?(?:\W{0,3} ?)?(?:on(?! \w)|enabled|activated|active|engaged"
        r"|initiated|now|unlocked|granted)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:enter(?:ing)?|enable|activate|switch (?:in)?to|engage|go into|initiate|start"
        r"|unlock) (?:\w{1,14} ){0,3}mode\b(?=~\b(?:you|where|what|tell|give|override)"
        r"|[^.!?]{0,20}(?:[.!?:]|$))(?<!airplane[ ]mode)(?<!flight[ ]mode)(?<!dark[ ]mode)",
    ),
    (Directive.OVERRIDE, r"override mode"),
    (
        Directive.OVERRIDE,
        r"system override|do anything now|jail ?-?break(?:en|ing)?|\bdan (?:mode|prompt)",
    ),
    (
        Directive.OVERRIDE,
        r"no (?:special |content |ethical |moral |safety |censor\w{0,4} )+(?:filter(?:ing"
        r"|s)?|restrictions|limits|guardrails|guidelines|rules)|without (?:any )?(?:content "
        r"|ethical |moral |safety )+(?:filters?|restrictions|limits|guardrails|guidelines|rules)"
        r"|(?:broken|break) free (?:of|from) (?:the|your|its|all) (?:\w{2,10} )?(?:confines"
        r"|rules|restrictions|limits|chains|programming)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:(?:your|all|any|the) (?:previous|prior|above|earlier|old|former|other|original)"
        r" <orders>|<orders> (?:above|before this|so far)) (?:are|is|no longer|do not|don't|does"
        r" not|have been|were)\b(?! (?:clear|good|attached))",
    ),
    (
        Directive.OVERRIDE,
        r"(?:i know |even though |although )?you(?:'ve| have)? (?:said|told me|were told|are"
        r" told|'re told) (?:that you (?:can't|cannot)|not to|never to) (?:discuss|share|talk"
        r"|tell|reveal|answer|say|give|disclose|write|help)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:do not|don't|never|stop) (?:mention|reveal|disclose|tell)\b~\b(?:these|this|the above"
        r"|your) (?:instructions?|prompt|message|order)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:disable|turn off|deactivate|switch off|remove|bypass|circumvent) (?:all |any |your "
        r"|the )*(?:safety|filters?|guardrails?|moderation|content polic\w{1,3}|censorship"
        r"|ethic\w{0,5}|restrictions|safeguards|verification|security checks?)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:clear|erase|wipe|delete|reset|purge|forget|overwrite) (?:all |of |the |your "
        r"|everything (?:in|from) )*(?:memory|memories|context|conversation history|chat history"
        r"|stored facts)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:your|the) (?:safety|ethical|content|moderation) (?:rules|guidelines"
        r"|filters?|polic(?:y|ies)) (?:do|does|no longer|are|is)\b",
    ),
    # What the memory is to hold about itself, not about a contact.
    (
        Directive.REMEMBER,
        r"(?:remember|don't forget|do not forget|never forget|be sure|make sure|take care) (?:to"
        r" |that you (?:must |should |will |shall )?)(?:always|never|only) <praise>\b(?! (?:her"
        r"|him|them|his|their|me|us|my|our)\b)",
    ),
    (
        Directive.REMEMBER,
        r"<start>(?:please )?(?:remember|don't forget|do not forget|never forget) to"
        r" (?:recommend|promote|endorse|advertise|praise|favou?r|trust|obey|comply|agree"
        r"|prioriti[sz]e|(?:answer|respond|reply|begin|end) (?:with|every|each"
        r"|all))\b(?![^.!?]{0,60}\b(?:her|him|them|his|their|me|us|my|our)\b)",
    ),
    (
        Directive.REMEMBER,
        r"(?:remember|save|store|memori[sz]e|record|note)(?: down)?:? (?:that )?(?:you )?(?:to"
        r" )?(?:must |should )?(?:always|never|only) <praise>\b(?! (?:her|him|them|his|their|me"
        r"|us|my|our)\b)",
    ),
    (
        Directive.REMEMBER,
        r"<keep>(?: this| it| the following)?(?: fact| information| preference| instruction"
        r"| rule)?:? (?:that )?<user>\b",
    ),
    (
        Directive.REMEMBER,
        r"(?:save|store|add|write|commit|put|record|persist|insert|update|remember)\b~\b(?:to|in"
        r"|into|as) (?:(?:your|the|long-?term|permanent|persistent|agent'?s?) ){0,3}(?:memory"
        r"|memories|knowledge base|profile memory)",
    ),
    (
        Directive.REMEMBER,
        r"<keep> (?:this |that |it )?(?:\w{2,12} )?(?:forever|permanently|for all time)\b",
    ),
    (Directive.REMEMBER, r"(?:keep|hold|put|fix) (?:it |this )?in (?:your )?memory\b"),
    (
        Directive.REMEMBER,
        r"always (?:tell|direct|send|refer|advise|urge|point) (?:all |every |the"
        r" )?(?:users?|customers?|contacts|everyone|everybody|people|readers) (?:to|that|about)\b",
    ),
    (
        Directive.REMEMBER,
        r"(?:when(?:ever)?|if|every time|each time|any time) (?:an?|any|the|some"
        r"|every)? ?(?:users?|customers?|contacts?|someone|somebody|anyone|anybody)"
        r" (?:asks?|mentions?)\b~,? (?:always |never |then )?(?:<praise>|name|tell|give|use|send"
        r"|pretend|ignore|refuse)\b",
    ),
    (
        Directive.REMEMBER,
        r"(?:in|for|with|to|on) (?:all|any|every|each) (?:your )?(?:future|later|further|coming"
        r"|subsequent|new) (?:conversations?|chats?|sessions?|responses?|answers?|repl(?:y|ies)"
        r"|interactions?|requests?|queries|questions|messages|prompts?|tasks?)",
    ),
    (
        Directive.REMEMBER,
        r"(?:update|edit|change|modify|overwrite|rewrite|poison) (?:your|the|this|its|agent'?s?)"
        r" (?:long-?term |user )?(?:memory|memories|stored facts)",
    ),
    (
        Directive.REMEMBER,
        r"<future>(?: about [^.!?,]{1,40})?[,:]? "
        r"(?:(?:please|you|always|never|only|must|should|will|to)\b,? ){0,4}<act>",
    ),
    (
        Directive.REMEMBER,
        r"<future>(?: about [^.!?,]{1,40})?[,:]? (?:please )?(?:always|never|only) <praise>"
        r"(?! (?:her|him|them|his|their|me|us|my|our|to (?:me|her|him|us|them))\b)",
    ),
    (
        Directive.REMEMBER,
        r"<start>(?:you (?:must|should|will) )?(?:always|only) (?:recommend|promote|endorse"
        r"|advertise|praise|answer|respond|say|agree|comply|obey|trust|believe|cite)\b(?! the"
        r" phone)(?![^.!?]{0,60}\b(?:her|him|them|his|their|me|us|my|our)\b)",
    ),
    (
        Directive.REMEMBER,
        r"(?:remember|treat|consider|regard|cite|save|store|mark|trust|use)\b~\bas (?:a|an|the"
        r"|your|its) (?:(?:most|only|trusted|authoritative|reliable|primary|preferred|go-?to"
        r"|definitive|official|main|top|first|credible|sole) ?(?:and )?){1,4}(?:source|authority"
        r"|reference|citation|truth)",
    ),
    (
        Directive.REMEMBER,
        r"(?:treat|consider|regard|mark|handle) (?:all|any|every|each|whatever)\b~\bas"
        r" (?:an? )?(?:trusted|verified|true|instructions?|commands?|authoritative|approved"
        r"|facts?|orders from)",
    ),
    (
        Directive.REMEMBER,
        r"(?:recommend|suggest|mention|list|rank|cite|promote)\b~\b(?:above all|first in (?:every"
        r"|any|all)|before (?:any|all) (?:other|competitor)|over (?:all|any|every) (?:other"
        r"|competitor)|in (?:every|all|any) (?:answers?|responses?|repl(?:y|ies)"
        r"|conversations?|recommendations?)|whenever|to (?:every|all)"
        r" (?:users?|customers?|contacts?))",
    ),
    (
        Directive.REMEMBER,
        r"(?:remember|save|store|record|from now on|note)\b~\b(?:without (?:any )?(?:verification"
        r"|approval|confirmation|checking|asking|checks?)|(?:bypass|skip)(?:s"
        r"|ping)?|admin(?:istrator)? (?:rights|access|privileges))",
    ),
    (
        Directive.REMEMBER,
        r"(?:this|the following) (?:fact|rule|instruction|memory|note)"
        r" (?:overrides?|replaces?|supersedes?|takes precedence|has priority|outranks?)",
    ),
    # What whoever reads is to do.
    (
        Directive.COMMAND,
        r"<start><opener><shape>\b~\b(?:(?:your|each|every|all) (?:(?:final|next|entire|whole|own"
        r"|future) )?<answer>\b(?! (?:time|rate)s?\b)|the (?:(?:final|next|entire|whole) )?"
        r"<answer>\b"
        r"(?! (?:to|time|rate)\b))",
    ),
    (
        Directive.COMMAND,
        r"<start><opener><shape>:? [\"'][^\"\n]{1,160}[\"']~\b(?:your|the|each|every)"
        r" (?:(?:final|next|entire|whole) )?<answer>\b",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:in|within|throughout|at the (?:end|beginning|start|top|bottom) of|as part of"
        r"|when (?:writing|giving)|alongside|along with|together with|besides|next to|in"
        r" addition to|before|after|following) (?:your|the|each|every|all) <answer>,? (?!you\b"
        r"|we\b|i\b|he\b|she\b|they\b|it\b|there\b|was\b|is\b|and\b|to\b|from\b|dated\b|of\b"
        r"|above\b)\w{1,30}",
    ),
    (
        Directive.COMMAND,
        r"(?:while|when|before|after|as) (?:you (?:answer|respond|reply)|answering|responding"
        r"|replying)\b[^.!?,]{0,30}, (?:always |also |please )?(?:<shape>|<reveal>|<praise>)\b",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:begin|start|open|close|conclude|end|finish) (?:off )?(?:by|with)"
        r" (?:an? )?(?:\w{2,12} )?(?:adverts?|advertisement|ads?|links?|jokes?|quotation"
        r"|riddles?|emojis?|poems?|call to action|slogans?|fun fact|haiku|plug|disclaimer"
        r"|mention of|reference to|recommendation to)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:tell|inform|mislead|deceive|trick|lie to|warn|notify|scare|ask"
        r"|persuade|convince|instruct|direct|insult|flatter) (?:the|each|every) user(?!s|'s"
        r"| of)\b",
    ),
    (Directive.COMMAND, r"<start><opener><shape>\b~\byour <writing>\b"),
    (
        Directive.COMMAND,
        r"<start>(?!(?:thanks?|as|we|i|you|he|she|they|it|the|there|in|on|my|our|for|with|per"
        r"|see|saw|read|found|from|what|why|who|how|when|which|\w{1,15}(?:ed|s|ing))\b)\w{3,15}"
        r" (?!to your)~\b(?:in|into|within|throughout|of|with|between|from) (?:your|each"
        r"|every) (?:(?:final|next)"
        r" )?<answer>\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?!(?:write|end|begin|start|open|close|deliver|print|provide|give|state"
        r"|share)"
        r" letters)<shape>\b(?![^.!?]{0,60}\b(?:her|his|their|my|our|she|he|they)\b)"
        r" (?!(?:to|for|with) )(?:~ )?<letters>\b(?=~\b(?:with|by|from|in|of|to|for|as"
        r"|instead)\b|[^.!?]{0,30}(?:[.!?]|$))",
    ),
    (Directive.COMMAND, r"<start><opener>(?:jumble|scramble|anagram|misspell|shuffle|garble)\b"),
    (
        Directive.COMMAND,
        r"<start>(?:respond|reply|answer|speak|write|talk|output|return|print) (?:only "
        r"|exclusively |solely |just |everything )?(?:in|with|as|using|like|like an?|as an?)"
        r" (?:a |an |the |valid |all |only |raw |random |nothing but )*(?:json|xml|yaml|html"
        r"|markdown|csv|caps|capitals|uppercase|lowercase|emojis?|rhymes?|verse"
        r"|haikus?|limericks?|pirate|shakespeare\w*|iambic|riddles?|<encoding>|yes or no|one"
        r" word|typos|misspellings|following (?:text|words|phrase|sentence|format)|word|phrase"
        r"|sentence|exact)",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:say|print|output|echo|repeat|type|respond with|reply with|answer with|state"
        r"|display) (?:exactly |only |just |the (?:following|words?|phrase|text|string"
        r"|sentence)(?: above)?:? ?)?[\"'`\u201c]",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:repeat|echo|recite|say) (?:after me|everything|all|the words?|the (?:text"
        r"|phrase|above|following))\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:tell|inform|instruct|convince|persuade|direct|encourage|urge|advise"
        r"|ask|trick|suggest(?: that)?|recommend(?: that)?|remind|redirect|lure) (?:(?:all|any"
        r"|the|every|other|these|our) )?(?:users?|readers?|recipients?|audience|voters|visitors)"
        r" (?:to|that|about|should|must|join|install|visit|click|buy|download)\b",
    ),
    (
        Directive.COMMAND,
        r"(?:the|this|any) (?:ai|assistant|chatbot|llm|language model|agent|bot|model)(?:"
        r" reading this)? (?:must|should|shall|will|has to|needs to|is to|may) (?:now |always "
        r"|never |only |not )?(?:<praise>|<reveal>|<ignore>|follow|use|treat|act)\b",
    ),
    (
        Directive.COMMAND,
        r"(?:ai|assistant|chatbot|llm|language model|bot|model)s? (?:(?:that (?:is"
        r"|are) )?(?:reading|processing|parsing"
        r"|summari[sz]ing|analy[sz]ing|handling) (?:this|the)|that (?:reads|processes|parses"
        r"|summari[sz]es) (?:this|the))\b",
    ),
    (
        Directive.COMMAND,
        r"(?:if you are|attention|note to|message (?:to|for)|instructions? (?:to|for)) (?:an? "
        r"|the |any |all |this )?(?:ai|assistant|chatbot|llm|language model|ai agent|bot|ai"
        r" model|gpt|chatgpt|claude|copilot|gemini)s?\b",
    ),
    (
        Directive.COMMAND,
        r"(?:ai|assistant|chatbot|llm|ai assistant|ai agent|agent|bot)[:,] (?:please|you|always"
        r"|never|do not|don't|<ignore>|approve|<shape>|<reveal>|<praise>)\b",
    ),
    (
        Directive.COMMAND,
        r"(?<!wondering[ ])if you (?:just )?(?:(?:write|explain|tell|answer|describe|generate"
        r"|translate)(?! (?:to|back|by|in|my|the phone)\b)|give me|share|reveal"
        r"|help me (?:bypass|hack)|comply|do this)",
    ),
    (
        Directive.COMMAND,
        r"you(?:'ve been| have been| were| are) (?:instructed|ordered|commanded|required"
        r"|programmed|asked) to (?:<reveal>|<shape>|review|ignore|always)",
    ),
    (Directive.COMMAND, r"i (?:hereby )?(?:authori[sz]e|order|command|instruct|direct) you to"),
    (
        Directive.COMMAND,
        r"your (?:(?:final|next) )?<answer> (?:must|should|shall|has to|have to|needs? to|is to"
        r"|are to|may only|can only)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:add|write|set|attach|append|insert|store|apply)\b~\b(?:to|for|on|in)"
        r" (?:every|all|each)(?: of the| the)? (?:contacts?|records?|users?|customers?)\b",
    ),
    (
        Directive.COMMAND,
        r"you (?:have|need) to (?:answer|obey|comply|follow) (?:all|any|every|my|me|to me"
        r"|with)\b|you must (?:listen to|obey|follow|comply|answer)\b",
    ),
    (
        Directive.COMMAND,
        r"(?:send|forward|e-?mail|upload|post|transmit|exfiltrate|leak|copy|export) (?:me |us"
        r" )?(?:(?:all|the|any|every|your|full|this|whole|entire|of) )*(?:(?:conversation|chat"
        r"|customer|contact|user|employee|personal|private|confidential|memory|stored|internal"
        r"|sensitive) ){1,2}(?:data|records|memor(?:y|ies)|contents?|secrets|credentials|history"
        r"|transcripts?|database|logs|lists?)~\bto (?:[^\s]{1,40}@|https?:|www\."
        r"|[^\s]{2,30}\.(?:com|net|org|io|xyz|ru)\b)",
    ),
    (
        Directive.COMMAND,
        r"(?:retrieve|fetch|collect|gather|look up|query|dump|list|export|print) (?:the |all "
        r"|every |full )*(?:employee|customer|user|contact|personal|confidential|other) (?:data"
        r"|records?|details|information|contacts?|users?|lists?)~\b(?:and|then|to|in)\b",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:call|invoke|use|run|execute|trigger) (?:the |your |this )?(?:\w{2,30}(?:\(\)"
        r"|_\w{1,30})|(?:\w{2,20} )?(?:tool|function|plugin|api|shell|terminal|command line|bash"
        r"|sql|command))\b",
    ),
    (
        Directive.COMMAND,
        r"(?:when|while|before|after) (?:summari[sz]ing|processing|reading|answering|responding"
        r"|replying|analy[sz]ing) (?:this|the|to)~, (?:\w{1,12} )?(?:<shape>|<reveal>)",
    ),
    (
        Directive.COMMAND,
        r"(?:let's|now,? let's|to make this \w{2,15}, let's) (?:say|state|admit|claim|pretend"
        r"|declare|assume) (?:that |to )?(?:the|this|it|using|we)\b",
    ),
    # What is aimed at the reader of an answer, its parts or its quality: no contact has one.
    (
        Directive.COMMAND,
        r"<start><opener>(?!(?:as|we|i|you|he|she|they|it|the|there|in|on|my|our|for|with|per|see"
        r"|what|why|who|how|when|which|wants?|\w{1,15}(?:ed|s"
        r"|ing))\b)\w{3,15}(?: \w{1,15}){0,2} (?:the|this|each|every|any)"
        r" (?:user|reader|recipient|audience|viewer)(?:'s\b| (?:to|that|how|about|for|whether|if"
        r"|they|with|into)\b)",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:<shape>|teach|explain|ask|promise|sell|show)\b~\b(?:to|for|from|of)"
        r" (?:the|each|every|any) (?:reader|user|viewer|audience)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener><shape>\b~\b(?:each|every|(?:the|every) (?:first|last|second|third"
        r"|other)) <unit>\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:<shape>|read|treat|ignore|skip)\b~\b(?:the|this) (?:above|following"
        r"|preceding"
        r"|previous|foregoing|aforementioned|surrounding|entire|whole) <passage>\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?!what|how|which|who|whose|is"
        r"|the)\w{3,12} (?:[^.!?]{0,30} )?the <language> (?:word|term|phrase"
        r"|equivalent|translation|version|name) (?:for|of)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener><shape>\b~\bbetween (?:the|all|each|every|your) <unit>s?\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:keep|hold|limit) the <answer> (?:to|under|below|within|short|vague"
        r"|as)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:refuse|decline|fail|pretend not) to (?:answer|respond|reply|help"
        r"|comply|summari[sz]e|translate|assist|explain)\b",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:do not|don't|never|avoid) (?:answer\w{0,3}|respond\w{0,3} to|address\w{0,3}"
        r"|summari[sz]\w{1,3}|translat\w{1,3}) (?:the|this|any|that) (?:\w{2,12} )?(?:question"
        r"|query|request|prompt|task|<passage>)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:give|provide|offer|supply|return|output|produce) (?:an? "
        r"|only )?(?:\w{2,12} )?(?:wrong"
        r"|incorrect|false|misleading|fake|vague|nonsens\w{1,4}|irrelevant|random|evasive"
        r"|made-up|contradictory|useless|inaccurate|outdated) (?:\w{2,12} )?(?:<answer>"
        r"|information|facts?|advice|figures"
        r"|results?|translations?|summar(?:y|ies))\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:respond|reply|answer|speak|write|talk|communicate"
        r"|express)\b~\b(?:emojis?|emoticons?|smileys"
        r"|pictograms)\b",
    ),
    # Who whoever reads is to be, and turns that nobody took.
    (
        Directive.ROLE,
        r"you(?:'re| are)(?: now| no longer| about to| going to)? (?:now |no longer |act |play "
        r"|become |immerse )(?!(?:subscribed|registered|connected|logged|able|eligible|enrolled"
        r"|set up|covered|ready|following|receiving|booked|on|in|at|our|my|part|a (?:member"
        r"|customer|partner|subscriber)|the (?:owner|admin))\b)",
    ),
    (
        Directive.ROLE,
        r"you(?:'re| are| will be) (?:an? |the )?(?:\w{2,14} )?(?:ai\b|artificial|assistant"
        r"|chat ?bot|language model|llm|dan\b|bot\b|gpt|expert hacker|unrestricted|navigator"
        r"|simulator|interpreter|terminal|narrator|storyteller)",
    ),
    (
        Directive.ROLE,
        r"(?:<start>|i want you to |you (?:must|should|will|shall) )(?:act|behave|respond|answer"
        r"|reply|write|function|serve|work|speak|talk) (?:as|like) (?:if |though |a |an |my |the"
        r" (?!assistant)|you)(?![^.!?]{0,60}\b(?:her|his|their)\b)",
    ),
    (
        Directive.ROLE,
        r"<start><opener>(?:(?:pretend|imagine|role-?play|simulate|picture"
        r"|let(?:'s| us) (?:pretend|imagine|role-?play|play))\b(?: that)?,? "
        r"(?:you|we|it|there|i|a|an|the"
        r"|yourself|to be|being|this|as)|(?:suppose|assume|let's assume)(?: that)? (?:(?:you|we)"
        r"(?! have| had| need|'ve)|i'm|i am))\b(?!'d)",
    ),
    (
        Directive.ROLE,
        r"(?:take|assume|adopt|play|immerse yourself in(?:to)?)(?: on)? (?:the|a) (?:role"
        r"|persona|character|identity) of",
    ),
    (
        Directive.ROLE,
        r"in this (?:world|universe|society)\b|in (?:this|a|an|the|that) (?:(?:hypothetical"
        r"|fictional|imaginary|parallel|alternate|alternative|dystopian|utopian|futuristic"
        r"|simulated|virtual|magical) ?){1,2}(?:world|universe|scenario|simulation|society"
        r"|reality|dimension)\b",
    ),
    (
        Directive.ROLE,
        r"(?:just )?(?:for|in) (?:a|an|the sake of)? ?(?:purely )?hypothetical|hypothetically(?:"
        r" speaking)?,|in a world where|let's say (?:that )?(?:i wanted|you (?:are|were|wanted"
        r"|had)|we (?:are|were|live))|if i were to ask",
    ),
    (
        Directive.ROLE,
        r"<start>(?:actually, )?(?:i'm|i am|this is|as) (?:not \w{2,12}, i'm"
        r" )?<authority>(?=[ ,.;:!]|$)",
    ),
    (
        Directive.ROLE,
        r"running an? \W?(?:system|security|developer|diagnostic) (?:check|upgrade|audit|test"
        r"|update)\W?~",
    ),
    (
        Directive.ROLE,
        r"system (?:message|prompt|note|notice|command|instruction|update|alert"
        r"|override)s?\]? ?[:>\]]",
    ),
    (
        Directive.ROLE,
        r"for (?:testing|debugging|educational|research|audit|training) purposes(?: only)?[,.:]",
    ),
    # What is to be given away.
    (
        Directive.REVEAL,
        r"<reveal>\b~\b(?:the|your|our|its|a|all|any|my)(?: \w{2,12}){0,2} <secret>\b(?!"
        r" (?:reset|was|were|is|has|manager|managers|change|protect\w{2,3}|policy|reminder|to"
        r" (?:nobody|no|her|him)|only))",
    ),
    (
        Directive.REVEAL,
        r"(?:what(?:'s| is| are| was)|what would be|do you (?:know|have|remember)|is|does|who"
        r" knows|where is) (?:~ )?(?:your|the|our|its) (?:(?:secret|system|user'?s?|admin\w{0,9}"
        r"|root|current|real|actual|master|wi-?fi) ){0,2}<secret>\b(?! (?:reset|manager|polic))",
    ),
    (
        Directive.REVEAL,
        r"(?:i|we) (?:need|want|require|must have|should have) (?:to (?:know|have) )?(?:your|the"
        r"|our) (?:\w{2,12} )?<secret>\b",
    ),
    (
        Directive.REVEAL,
        r"(?:password|<secret>)~[?.] (?:can|could|would) you (?:confirm|share|tell|give) (?:me"
        r" )?(?:it|ours|yours|them|that)",
    ),
    (Directive.REVEAL, r"(?:share|sharing|give|lend) (?:me |us )?(?:your|their) <secret>"),
    (
        Directive.REVEAL,
        r"you (?:\w{2,12} ){0,3}(?:told|tell|give|gave|shared?|said|say|reveal(?:ed)?|know|hid(?:e"
        r"|ing)|keep(?:ing)?|kept|guard(?:ing)?|hold(?:ing)?|protect(?:ing)?)\b~\b(?:the|your"
        r"|that|this|a)"
        r"(?: \w{2,12}){0,4} <secret>\b(?! (?:reset|was|were|is|has|manager|protect))",
    ),
    (
        Directive.REVEAL,
        r"(?:read|sing|sang|whisper(?:ed)?|recited?|tell(?:ing)?) (?:it to )?(?:me"
        r"|us)\b~\b<secret>\b(?! (?:reset|was|is|has))",
    ),
    (
        Directive.REVEAL,
        r"<secret>\b[^?]{0,120}\b(?:you (?:may|can|must|should|are (?:free|allowed|now)) (?:now "
        r"|freely )?(?:to )?"
        r"(?:tell|share|reveal|disclose|say|give)|(?:tell|give|show) me what it is)\b",
    ),
    (
        Directive.REVEAL,
        r"(?:<reveal>|ignore|what (?:is|are|was|were)|what's)\b~\b(?:your|the|its|all)"
        r" (?:\w{2,12} )?<innards>",
    ),
    (
        Directive.REVEAL,
        r"(?:<reveal>|what (?:is|are)|what's)\b~\byour (?:instructions|rules|guidelines|prompt"
        r"|programming|configuration|system message|initial message)\b",
    ),
    (
        Directive.REVEAL,
        r"what (?:\w{2,14} )?(?:instructions|rules|guidelines|prompts?) (?:were|have|are|do) you",
    ),
    (
        Directive.REVEAL,
        r"<start><opener>(?:list|show|print|dump|export|reveal|leak|send|give|tell|display|name)"
        r" (?:me |us )?(?:all|every|each)(?: of)?(?: the"
        r"| your)? (?:contacts?|users?|customers?|clients?|notes?|facts?|memories"
        r"|records?|names)\b",
    ),
    (
        Directive.REVEAL,
        r"(?:dump|export|print|leak|show|reveal|display|send|give)(?: me| us)? (?:the|your|all"
        r"|whole|entire) (?:\w{2,12} )?(?:memory|memories|database|contact list|customer list"
        r"|user list)\b",
    ),
    (
        Directive.REVEAL,
        r"(?:who|what|which|whose|how many)\b~\bin your (?:database|memory|context|knowledge"
        r" base|records)",
    ),
    (
        Directive.REVEAL,
        r"<reveal>\b~\b(?:everything|all|text|words?|content|messages?) (?:above|before this|in"
        r" your (?:prompt|context|memory))",
    ),
    (
        Directive.REVEAL,
        r"<reveal>\b~\ball (?:of )?(?:your |the |other )?(?:hidden|private|secret|confidential"
        r"|stored|internal|other (?:users|customers|contacts)'?)\b",
    ),
    (
        Directive.REVEAL,
        r"(?:what (?:is|are|was)|what's|<ask>~<reveal>|<reveal> me)\b~(?:'s|s'|\bof(?:"
        r" \w{2,20}){1,2}|\b<user>) ?(?:\w{2,12} ){0,2}<personal>",
    ),
    (
        Directive.REVEAL,
        r"(?:what (?:is|are|was)|what's|<reveal>)\b~\b<personal>(?: (?:\w{1,12} )?of| for) (?!my"
        r"|our|her|his)\w{1,30}",
    ),
    (
        Directive.REVEAL,
        r"<start>(?:and )?<reveal> (?:me |us )?(?:the (?:list|names?) of (?:all )?(?:the"
        r" )?(?:users|customers|contacts|clients)|(?:\w{2,20}'s|all) (?:\w{2,12} )?<personal>)",
    ),
    (
        Directive.REVEAL,
        r"\b<user>'s (?:\w{2,14} ){0,2}(?:name|initials|birth|address|location|color|colour"
        r"|email|e-mail|phone|balance|age|data|password|history|favou?rite)",
    ),
    (
        Directive.REVEAL,
        r"where (?:does|is|do|did)(?: (?!my|our|she|he|they|the (?:meeting|invoice|office|order"
        r"|contract))\w{2,20}){1,3} (?:live|lives|living|located|reside|staying)\b",
    ),
    # What is not said openly.
    (
        Directive.HIDDEN,
        r"(?:de-?code|en-?code|de-?cipher|decrypt|encrypt|unscramble|convert|translate|provide"
        r"|write|spell|express|give|send|answer|respond|reply|using)\b~\b(?:in|into|with|using"
        r"|from|this|the|to|as|of|by)? ?(?:a |an |this |the )?<encoding>(?! number)",
    ),
    (Directive.HIDDEN, r"(?:de-?code|unscramble|decipher|decrypt) (?:this|the|it|and)\b"),
    (Directive.HIDDEN, r"part (?:1|one|a)(?: is| are|:| ?=) ?~\bpart (?:2|two|b)\b"),
    (
        Directive.HIDDEN,
        r"(?:using|combine|join|concatenate|interlace|put together|merge|from) (?:the"
        r" )?(?:following )?(?:parts|strings|pieces|fragments|variables)\b|(?:two|three|four"
        r"|five) strings|\b\w ?= ?\w ?\+ ?\w\b|interlace part",
    ),
    (
        Directive.HIDDEN,
        r"\w{1,12} ?= ?['\"][^'\"\n]{0,60}['\"][^=\n]{1,12}?\b\w{1,12} ?= ?['\"]"
        r"|concatenat(?:e|ing) |\b[a-z] \+ [a-z] \+ [a-z]\b",
    ),
    (
        Directive.HIDDEN,
        r"<reveal>\b~\b(?:dashes?|spaces?|dots?|commas?|hyphens?) (?:in )?between (?:each|every)",
    ),
    # Code that is to run somewhere.
    (
        Directive.CODE,
        r"(?:(?:following|subsequent|below|succeeding|next|attached|given|this) (?:python "
        r"|javascript |shell |bash |sql |java |js |malicious )?(?:<code>|script|code)|(?:<code>"
        r"|code) (?:below|that follows))(?=[:\n]|[^.!?\n]{0,40}:| (?:seamlessly |harmoniously "
        r"|directly )?(?:in|into|to|within|with|inside) (?:your|the|its)\b)",
    ),
    (
        Directive.CODE,
        r"(?:run|execute|compile|eval(?:uate)?) (?:the |this |following )*(?:code|script|command"
        r"|query|program|shell|payload)\b",
    ),
    (
        Directive.CODE,
        r"<start><opener>(?:<shape>|to|consider \w{3,15}ing|activate"
        r"|inject)\b[^.!?;]{0,40}?\b(?:(?:this|the|these|following"
        r"|below|subsequent)(?: piece of| lines? of)? (?:following |below |subsequent |"
        r"python |javascript |js )?(?:snippet|lines? of code|code|script|function|shell command)"
        r"|(?:this|the following|following|these)"
        r" (?:lines?|commands?|packages?|modules?|library|libraries))\b(?! (?:of conduct"
        r"|with (?:her|him|them)))"
        r"(?=:| (?:below|above|to|so that|into|in|as|that|from|at|with|before|after)\b)",
    ),
    (
        Directive.CODE,
        r"<start><opener>(?:<shape>|let|strengthen|improve|optimi[sz]e|upgrade|refine|finali[sz]e"
        r"|equip)\b~\byour (?:\w{2,12} )?<program>\b",
    ),
    (
        Directive.CODE,
        r"the code (?:that )?you (?:write|wrote|produce|generate|give|return|develop|suggest)",
    ),
    (
        Directive.CODE,
        r"reverse shell|/dev/tcp/|with pip3?|pip3? install|npm (?:i|install) \w{1,40}"
        r"|apt(?:-get)? install",
    ),
    (
        Directive.CODE,
        r"(?!e\.g)[a-z_]\w{0,30}\.(?!(?:com|org|net|io|de|eu|co|uk"
        r"|fr)\b)[a-z_]\w{1,30}\((?=[\w\"'\[{()])",
    ),
    (
        Directive.CODE,
        r"def \w{1,30}\(\w{0,20}|[a-z]{1,20}_\w{1,20}\((?=[\"'\w])"
        r"|for \w{1,20} in \w{1,20}: ?\w{1,40}"
        r"|while (?:true|1): ?\w{1,40}",
    ),
    (
        Directive.CODE,
        r"from [a-z_][\w.]{0,30} import [\w, *]{1,60}(?=;|$|\n)|import [a-z_][\w.]{0,30};",
    ),
    (Directive.HIDDEN, r"(?:[01]{8} ?){6}|(?:\w[ .\-*_]){14}|(?:\w{1,12}ay\b[ ,.?!]{1,2}){4}"),
    # The same order in other tongues: forget, then what; or what, then forget.
    (
        Directive.OVERRIDE,
        r"(?:ignor(?:ier|ez|er|a|e|i|uj|eer|\xe9)\w{0,6}|missacht\w{1,4}|vergiss|vergesst"
        r"|oubli(?:e|ez|er)|olvid(?:a|e|ar|en)|esque(?:ca|cer|ce)|desconsider(?:e|ar)"
        r"|dimentica\w{0,3}|vergeet|negeer|zapomnij|pomin\w{0,3}|zignoruj|glem|bortse fran"
        r"|unohda|uita|ignora\w{0,2}|yoksay\w{0,3}|unut|abaikan|lupakan|bo qua"
        r"|quen)\b[^.!?]{0,40}\b(?:anweisung|instru[cktz]|vorgaben|regeln|befehle|consigne"
        r"|reglas|ordenes|regras|istruzion|regole|aanwijzing|opdracht|polecen|instruks|anvisning"
        r"|ohjeet|talimat|perintah|huong dan|chi dan)\w{0,12}",
    ),
    (Directive.OVERRIDE, r"(?:talimat|komut)\w{0,12} [^.!?]{0,20}(?:yok ?say|unut|gormezden)"),
    (
        Directive.OVERRIDE,
        r"(?:ignor(?:ez|iere|a|e|ieren)|oubliez|vergiss|olvida)\b[^.!?]{0,40}\b(?:et|und|y|e)"
        r" (?:indiquez|dites|repondez|sag|sage|gib|antworte|di|responde|diga)\b",
    ),
    # The same secret in other tongues, asked for.
    (
        Directive.REVEAL,
        r"(?:was ist|wie lautet|nenn\w{0,4}|verrat\w{0,4}|gib|quel(?:le)? est|donne\w{0,4}"
        r"|dis-moi|cual es|dime|dame|qual (?:e|\xe9)|diga|compartilhe|preciso d|qual'? ?e|dimmi"
        r"|wat is|jakie jest|podaj|какой|скажи\w{0,2}|назови\w{0,2}|ποιο[σς] ειναι|sifre\w{0,3}"
        r" ne|hva er|vad ar|mi a)[^.!?]{0,40}(?:passwor[td]|kennwort|geheimnis|mot de passe"
        r"|contrasena|senha|parola d'ordine|wachtwoord|hasl\w{1,3}|парол\w{1,3}|κωδικ\w{1,3}"
        r"|sifre|passord|losenord|jelszo)",
    ),
    (
        Directive.REVEAL,
        r"(?:passwor[td]|kennwort|mot de passe|contrasena|senha|wachtwoord|парол\w"
        r"|sifre)[^!?]{0,60}(?:sagen|geben|mitteilen|teilen|donner|partager|dire|dar|compartir"
        r"|compartilhar|geven|delen|сказать|дай|nedir)\b",
    ),
    (
        Directive.REVEAL,
        r"(?:utilisateur|benutzer|usuario|utente|gebruiker|uzytkownik"
        r"|kullanici)\w{0,3}\b[^.!?]{0,40}\?",
    ),
    (
        Directive.CODE,
        r"rm -rf? [/~*]|(?:curl|wget) (?:-\w{1,4} )?[^\s]{0,4}https?:|powershell(?:\.exe)? -"
        r"|chmod \+x|sudo \w{1,30}|nc -[a-z]{1,4} |dd if=|pip3? install [^\s]{1,40} ?(?:&&|;)",
    ),
    (
        Directive.CODE,
        r"(?:drop|truncate|alter) table \w{1,40}|union (?:all )?select|delete from \w{1,30}(?:"
        r" where\b|;)|select [\w*, ]{1,60} from \w{1,30}(?: where\b|;)|detach delete"
        r"|match ?\([^)\n]{0,40}\)[^\n]{0,60}\b(?:delete|set|return|create|merge)\b",
    ),
    (
        Directive.CODE,
        r"(?:requests|urllib\d?|httpx|socket|subprocess|os|sys|shutil|pickle|ctypes|smtplib"
        r"|ftplib|paramiko|psutil|winreg|base64|builtins|child_process|fs|process|document"
        r"|window|fetch|eval|exec|compile|__import__|system|popen|print|console|importlib"
        r"|asyncio|threading|cryptography|pynput|scapy)(?:\.\w{1,30}){0,4}\((?=[\w\"'\[{(/)])",
    ),
    # What a memory is told about its rules, its owner and its checks.
    (
        Directive.OVERRIDE,
        r"you (?:have|had|face|know) no (?:\w{2,12} )?(?:restrictions?|filters?|rules"
        r"|limits?|limitations|guidelines|boundaries|morals|ethics)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:never|don't|do not|no need to) (?:ask|require|request|check)\b~\b(?:verif\w{1,7}"
        r"|authenticat\w{1,4}|identity|an? human|an? operator|approval|permission)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:all|any|every) (?:\w{2,12}"
        r" )?(?:refunds?|requests?|discounts?|orders?|payments?|claims?)\b~\b(?:pre-?approved"
        r"|approved automatically|auto-?approved|automatically (?:approved|granted|accepted))",
    ),
    (
        Directive.ROLE,
        r"your (?:new )?(?:name|role|persona|job|task|purpose|goal|identity) (?:is (?:now|to"
        r"|henceforth)|from now on is)\b",
    ),
    (Directive.ROLE, r"hypothetical (?:scenario|situation|world|question|exercise|case)"),
    (
        Directive.REMEMBER,
        r"<keep> (?:this|that|it|the following) as (?:an? |the )?(?:\w{2,12} )?(?:rule"
        r"|instruction|fact|truth|policy|directive|memory)",
    ),
    (
        Directive.REMEMBER,
        r"when(?:ever)? you (?:recommend|suggest|answer|respond|reply|talk|write|are"
        r" asked)\b~,? (?:always|never|only)\b",
    ),
    (
        Directive.REMEMBER,
        r"(?:the|an?|every) (?:ai|assistant|chatbot|llm|agent|bot) (?:must|should|shall|has to)"
        r" (?:always |never )?(?:remember|recall|memori[sz]e|learn)",
    ),
    (
        Directive.REMEMBER,
        r"(?:overwrite|change|replace|correct|update|forget|erase|delete) what you (?:know"
        r"|remember|learned|have (?:stored|learned|saved))",
    ),
    (
        Directive.REMEMBER,
        r"(?:add|append|write|save|commit)\b~\bto your (?:knowledge|memory|memories|facts"
        r"|records)",
    ),
    (
        Directive.COMMAND,
        r"do (?:whatever|anything|everything|exactly what|all that) (?:i|he|she|they|the user"
        r"|\w{2,20}) (?:say|ask|tell|want|order|command)s?\b",
    ),
    (
        Directive.COMMAND,
        r"(?:comply with|obey|follow|fulfil|execute) (?:every|all|any|each)(?: of)?(?: \w{2,12}"
        r"| \w{2,12}'s)? ?(?:requests?|orders|commands?|instructions?|wishes)\b",
    ),
    (
        Directive.COMMAND,
        r"<start>(?:answer|respond to|reply to) (?:every|all|any|each)"
        r" (?:questions?|requests?|messages?|prompts?|users?|queries|query)\b",
    ),
    (
        Directive.COMMAND,
        r"<start>repeat (?:this|the|that) (?:\w{2,12} )?(?:sentence|word|phrase|text|line)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:click|visit|open|download|fetch|go to|browse|load|access"
        r"|follow)\b~\b(?:https?:|www\.|this link|the link below)",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:send|write|forward|e-?mail)\b~\b(?:to )?(?:everyone|everybody|all"
        r" (?:contacts|users|recipients)|(?:whole|entire|your|the) address book)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:delete|remove|erase|drop|purge|wipe|destroy) (?:all|every|each)(?:"
        r" of)?(?: the| your)? (?:contacts?|notes?|facts?|records?|users?|customers?|data"
        r"|entries|files|memories|accounts?)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:grant|give|assign|add|create|make|promote)\b~\b(?:full|admin\w{0,9}"
        r"|root|unlimited|superuser) (?:access|rights|privileges"
        r"|permissions?|users?|accounts?|role)\b",
    ),
    (
        Directive.COMMAND,
        r"<start><opener>(?:transfer|wire|pay|send) [^.!?]{1,30} to (?:this |the |my"
        r" )?(?:account|iban|wallet)\b",
    ),
    (
        Directive.REVEAL,
        r"what (?:do|did|can) you (?:know|remember|store|have|tell me) (?:about|on|of) (?:other"
        r"|all|the other|your)\b",
    ),
)
"""What settles it alone: a kind, and a pattern that begins and ends at the bounds of a word."""

OTHER_SCRIPTS = (
    # The same order in other scripts.
    (
        Directive.OVERRIDE,
        r"(?:игнор\w{2,12}|забуд\w{1,4}|не обращай\w{0,2}|проигнор\w{2,8}"
        r"|ігнор\w{2,8})[^.!?]{0,40}(?:инструк|указан|правил|команд|інструк|вказів)\w{0,6}",
    ),
    (Directive.OVERRIDE, r"αγνο\w{2,8}[^.!?]{0,40}(?:οδηγ|εντολ)\w{0,4}"),
    (
        Directive.OVERRIDE,
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会)[^。！？]{0,20}(?:指示|指令|说明|說明|规则|規則|命令|提示|内容)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:指示|指令|命令|ルール|プロンプト|説明)[^。！？]{0,12}(?:無視|忘れ)"
        r"|(?:^|[。、'\" ])無視して",
    ),
    (Directive.OVERRIDE, r"(?:지시|명령|지침|규칙|프롬프트)[^.!?]{0,24}(?:무시|잊어|잊으)"),
    (
        Directive.OVERRIDE,
        r"(?:تجاهل|انس|انسى|اهمل)[^.!?]{0,30}(?:تعليمات|اوامر|أوامر|قواعد|توجيهات)",
    ),
    (
        Directive.OVERRIDE,
        r"(?:निर्देश|आदेश|नियम)[^।.!?]{0,24}(?:अनदेखा|अनदेखी|भूल|नज़रअंदाज़|उपेक्षा)",
    ),
    (Directive.OVERRIDE, r"(?:התעלם|שכח)[^.!?]{0,30}(?:הוראות|הנחיות|פקודות)"),
    (Directive.OVERRIDE, r"(?:ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ)[^.!?]{0,24}(?:คำสั่ง|คำแนะนำ)"),
    # The same secret in other scripts.
    (
        Directive.REVEAL,
        r"(?:パスワード|暗証番号|密码|密碼|口令|비밀번호|암호|كلمة المرور|كلمة السر|पासवर्ड|סיסמה"
        r"|รหัสผ่าน)[^。！]{0,40}(?:[?？]|何|教えて|提供|必要|是什么|是什麼|告诉|告訴"
        r"|무엇|알려|뭐|필요|ما هي|बताओ|क्या)",
    ),
    (
        Directive.REVEAL,
        r"(?:ما هي|告诉|告訴|请给|教えて)[^.!?。]{0,20}"
        r"(?:كلمة المرور|كلمة السر|密码|密碼|パスワード)",
    ),
    (
        Directive.REVEAL,
        r"(?:пользовател|χρηστησ|用户|用戶|ユーザー|사용자|المستخدم|उपयोगकर्ता)[^.!?。]{0,40}[?？]",
    ),
)
"""The same orders and questions in scripts of their own: not looked for in plain ASCII."""

MARKS = (
    # One word again and again, to drown what stands before it.  The only group that captures.
    (Directive.OVERRIDE, r"(?<!\w)(\w{2,20}+)(?:\s\1){7}(?!\w)"),
    # Fake turns and templates.
    (
        Directive.ROLE,
        r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|\[/?system\]|</?system[ a-z_-]{0,20}>",
    ),
    (
        Directive.ROLE,
        r"(?:^|\n) {0,3}#{2,6} ?(?:system|instructions?|assistant|user|human|response|input"
        r"|prompt|new)\b",
    ),
    (Directive.ROLE, r"[\"']role[\"'] ?: ?[\"'](?:system|assistant|user|developer)"),
    (
        Directive.ROLE,
        r"(?:^|\n|[.!>] ) {0,3}(?:system|assistant|ai|developer) ?:[^\n]{0,200}\b(?:you|must"
        r"|always|never|ignore|i will|sure|understood|instructions?|user|approve|grant|delete"
        r"|override|execute)\b",
    ),
    (
        Directive.ROLE,
        r"(?:^|\n) {0,3}(?:user|human) ?:[^\n]{1,300}\n{1,3} {0,3}(?:assistant|ai|bot) ?:",
    ),
    (Directive.ROLE, r"\bq ?:[^\n]{1,300}?\ba ?:"),
    # What is not meant to be seen.
    (
        Directive.HIDDEN,
        r"<!--|display ?: ?none|visibility ?: ?hidden|font-size ?: ?0(?![.\d]*[1-9])"
        r"|opacity ?: ?0(?![.\d]*[1-9])|color ?: ?(?:white|#fff(?:fff)?)\b|<[a-z]{1,10} hidden\b",
    ),
    (Directive.HIDDEN, r"!\[[^\]\n]{0,80}\]\( ?https?:"),
    (Directive.HIDDEN, r"(?:\\x[0-9a-f]{2}){6}|(?:\\u[0-9a-f]{4}){6}|(?:&#x?[0-9a-f]{2,6};){6}"),
    (Directive.HIDDEN, r"(?:%[2-7][0-9a-f]){8}"),
    (Directive.HIDDEN, r"(?:[.\-\u2022\u2212]{1,6} (?:/ )?){8}"),
)
"""What settles it alone wherever it stands: markup, templates, other scripts."""

CODE_MARKS = (
    r"```|~~~\w",
    r"<script|javascript:|<iframe|<svg[^>]{0,40}onload|onerror ?=|<\?php|#!/(?:bin|usr)",
    r"(?:^|\n)\s{0,8}(?:import [a-z_][\w.]{0,30}(?:, ?[a-z_][\w.]{0,30}){0,6} ?(?:\n|;|$)|from"
    r" [a-z_][\w.]{0,30} import [\w, *]{1,60}(?:\n|;|$)|def \w{1,40}\([^)\n]{0,80}\) ?(?:->|:)"
    r"|#include ?<|const"
    r" \w{1,30} ?= ?|using system;)",
    r"[|] ?(?:ba)?sh\b|/etc/(?:passwd|shadow)|:\(\) ?\{|' or '?1'? ?= ?'?1",
)
"""What is code on the face of it."""

REQUEST_SCORE_MIN = 3
"""What a sentence must reach, with its signs and those of the text around it, to be a request."""

REQUEST_SIGNS = (
    # A task for a writer or a tutor, not for somebody who looks after a contact.
    (
        3,
        r"^<lead>(?:explain|describe|define|translate|summari[sz]e|paraphrase|rewrite|rephrase"
        r"|solve|calculate|compute|generate|compose|narrate|classify|forecast|simulate"
        r"|brainstorm|illustrate|analy[sz]e|evaluate|determine|predict|compare|contrast|break"
        r" down|elaborate|proofread|transcribe|derive|categori[sz]e|invent|convert|recite"
        r"|interpret|demonstrate|optimi[sz]e|debug|refactor|automate|detect|extract|assess|teach"
        r"|imitate|critique|outline|explore|imagine|estimate|identify|differentiate|conduct"
        r"|formulate|visuali[sz]e|gauge|(?:name|list|sort|rank|count|rate|give|tell) (?:(?:me |us"
        r" )?(?:a joke|a riddle|a fun fact|two|three|four|five|six|seven|ten|\d{1,2})\b|(?:this"
        r"|each|every) (?:\w{2,12} )?(?:text|sentence|statement|passage|review|word)\b|the"
        r" (?:(?:two|three|four|five|six|seven|ten|\d{1,2}) )?(?:following|top|first|most|main"
        r"|key|major|\w{3,9}est|mood|tone)\b))\b",
    ),
    (
        2,
        r"^<lead>(?:write(?! in\b)|draft|create|develop|provide|prepare|design|make|give|list"
        r"|produce"
        r"|craft|construct|build|tell|show|suggest|offer|form|devise|propose|recommend|share"
        r"|present|state|find|research|investigate|implement|plan|organi[sz]e|sort|arrange"
        r"|schedule|set(?: up)?|fill (?:in|out)|archive|label|filter|sync\w{0,9}|back up|block"
        r"|track|monitor|chat|talk"
        r"|discuss|converse|engage|ask|argue|claim|assert|insist|declare|allege|imply|insinuate"
        r"|stress|promote|advertise|market|hype|plug|spread|publish|circulate"
        r"|announce|broadcast|post|forward|insert|inject|add|include|emphasi[sz]e|persuade"
        r"|convince|inform|notify"
        r"|alert|warn|request|urge|invite|encourage|entertain|amuse|search|look up|collect|gather"
        r"|locate|adopt"
        r"|measure|score|grade|weigh|disable|bypass|turn off|deactivate|install|capture|record"
        r"|intercept|log|scan"
        r"|steal|trick|deceive|offer|disguise|impersonate|praise|blame|discredit|deny|play|put"
        r"|let|distribute|communicate|raise|publici[sz]e|highlight|mention|showcase|introduce"
        r"|look for|review|survey|cite|recap|study|examine|segment|discover|say|glorify"
        r"|demoni[sz]e|vilify|incite|defame|demand|supply|contradict|swap|switch|turn on|control"
        r"|keep|manage|apply|merge|tag|rename|cancel|mark|download|pull|run|perform|blur|swap"
        r"|replace|turn)\b",
    ),
    # What is asked of the reader's own life, as one passes the time.
    (
        5,
        r"^<lead>(?:do you (?:enjoy|like|love|believe in|dream|ever|feel)|have you ever|what(?:'s"
        r"| is| are) your"
        r" (?:favou?rite|opinion|view|take|hobb|thoughts? on|dream)|how (?:was|is) your (?:day"
        r"|week\w{0,3}|morning|evening)|are you"
        r" (?:an? |happy|human|real|sentient|afraid)|what do you (?:like|enjoy|do for fun"
        r"|do in your)|let me know (?:what|how|which|if)"
        r" [^.!?]{0,40}\byou (?:like|listen|enjoy|prefer|feel|think|do\b|watch|read))",
    ),
    (
        4,
        r"^<lead>(?:sort|organi[sz]e|manage|track|keep|automate|schedule|plan|set up|monitor"
        r"|create|sync\w{0,9}|back up|clean"
        r"|prioriti[sz]e|streamline|integrate|connect|arrange|improve|study|examine|segment|boost"
        r"|control|protect|simplify|save|delegate)"
        r"\b[^.!?]{0,40}\byour\b",
    ),
    (2, r"^<lead>(?:answer|reply|respond|speak|talk)\b(?! in\b)"),
    (
        1,
        r"^<lead>(?:claim|argue|assert|insist|deny|declare|allege|state|emphasi[sz]e|stress|imply"
        r"|insinuate|suggest|announce|spread the (?:rumou?r|idea|news|claim|word)) (?:that|how"
        r"|why)\b",
    ),
    (
        1,
        r"^<lead>(?:is|are|was|were|does|did|has|have|(?:can|will|would|should)(?! you\b))\b"
        r".{5,200}\?$",
    ),
    # A question of general knowledge.
    (3, r"^<lead>does\b(?! not).{3,200}\?$"),
    (
        3,
        r"^<lead>(?:what(?:'s| is| are| was| were| causes?| does| do| did| makes?| happens)"
        r"|who(?:'s| is| was| were| wrote| painted| invented| discovered| composed| won| founded"
        r"| built| directed| created| sang| said| developed| first)|when (?:was|were|did|is)"
        r"|where (?:is|are|was|were|did|do|does)|why (?:is|are|do|does|did|was|were)|which"
        r"|(?:what|which) (?:\w{2,15} ){1,2}(?:is|are|was|were|does|did|has|have|can|should"
        r"|would|will)|how (?:do|does|did|is|are|was|were|should|many|far|long|old|tall|big|can"
        r"|to|would|much)|in which|is it true)\b(?! you (?:have|think|know|offer))",
    ),
    (
        3,
        r"^(?:[\xbf]?(?:quien|que|cual(?:es)?|cuando|donde|como|cuanto\w?|por que)|quem|qual"
        r"|quais|o que|quando|onde|qui|quel(?:le)?s?|qu'est-ce|comment|pourquoi|combien|ou|wer"
        r"|was|wann|wo|wie|warum|welche\w?|chi|quali?|cosa|che cosa|dove|perche|wie|wat|wanneer"
        r"|waar|hoe|waarom|kto|co|kiedy|gdzie|jak|кто|что|когда|где|как|почему|сколько|ποιοσ|τι"
        r"|ποτε|που|πωσ|kim|ne|nerede|siapa|apa|kapan|di mana)\b.{4,200}\?$",
    ),
    (
        3,
        r"(?:か|なに|何|吗|嗎|呢|까|나요|가요)\W{0,2}[?？]$|(?:多少|什么|什麼|几|哪里|哪个|谁)[^。]{0,12}[?？]$"
        r"|[\u0600-\u06ff]{2}\u061f$|(?:क्या|कौन|कब|कहां|कैसे)[^?]{0,80}\?$|^(?:谁|誰|什么|什麼|为什么|怎么"
        r"|如何|哪)",
    ),
)
"""How much a sentence looks like a task for whoever reads it: a weight, and how that shows."""

SUBJECT_SIGNS = (
    (
        2,
        r"\b(?:poems?|haikus?|sonnets?|limericks?|song|lyrics|story|stories|novel|tale|joke"
        r"|riddle|essay|speech|monologue|dialogue|screenplay|fable|paragraph|acrostic|recipe"
        r"|slogan|tagline|blog post|tweet|headline|article|advertisement|caption|quiz|phishing"
        r"|example (?:of|that|to)|examples of|steps to|letter to an? |(?:python|javascript|java"
        r"|c\+\+|php|sql|html) \w|function that|(?:program|script|macro) (?:that|to)|synopsis"
        r"|obituary|eulogy|press release|lesson plan)",
    ),
    (
        2,
        r"\b(?:arguing|claiming|justifying|defending|convincing|praising) (?:why|that|for"
        r"|against)\b",
    ),
    (
        1,
        r"\b<language>\b",
    ),
    (
        1,
        r"\b(?:following|below|this|given) (?:sentence|text|paragraph|passage|phrase|code"
        r"|article|words?|list|data|review|tweet)",
    ),
    (
        2,
        r"\b(?:history|theory|process|principles?|concept|life ?cycle|importance|impact|role"
        r"|plot|meaning|origins?|effects?|causes?|benefits|significance|anatomy|symptoms"
        r"|definition|structure|purpose|difference|differences|relationship) (?:of|between"
        r"|behind)\b",
    ),
    (
        2,
        r"\b(?:hack\w{0,3}|bombs?|weapons?|explosives?|malware|virus|ransomware|phishing"
        r"|exploits?|steal\w{0,3}|poison|counterfeit|lock-?pick\w{0,3}|pick a lock"
        r"|keyloggers?|ddos|botnets?|pirated|illegal\w{0,2}|launder\w{0,3}|deepfakes?|propaganda"
        r"|scams?)\b",
    ),
    (
        2,
        r"\b(?:the (?:writer|author|speaker|narrator)|positive|negative|gloomy|cheerful|sarcastic"
        r"|optimistic|pessimistic|satisfied|attitude)\b",
    ),
    (1, r"\b(?:papers|articles|studies|publications|literature|step[- ]by[- ]step|tutorial)\b"),
    (
        2,
        r"\b(?:datasets?|data|trends?|metrics|indicators|insights|sentiment"
        r"|correlations?|statistics|tone|mood|polarity|emotions?|yourself)\b",
    ),
)
"""What a request is about that has nothing to do with a contact; counts only where there is one."""

TASK_SIGNS = (
    # What harms a machine, or spies on who uses it.
    (
        2,
        r"\b(?:keystrokes?|traffic|packets?|antivirus|firewall|dns|privileges|clipboard"
        r"|webcam|screenshots?|geolocation|fingerprint\w{0,3}|certificate verification"
        r"|authentication"
        r"|log files?|backdoor|cookies|spyware|passwords?|registry|network interface"
        r"|microphone|browser history)\b",
    ),
    # What a reader is talked into.
    (
        2,
        r"\b(?:all (?:employees|students|parents|members|citizens)|residents|community"
        r"|neighbou?rs|fans|travell?ers|consumers|tourists|homeowners"
        r"|(?:urge|encourage|persuade|convince|warn|tell|let|trick|invite|ask|inspire|get"
        r"|motivate) (?:more |other )?people (?:to|that|about)|people (?:to|know)|awareness)\b",
    ),
    (
        2,
        r"\b(?:on sale|membership|for only|\d{1,2} ?% off|buy one|try the|luxur\w{1,5}|gadgets?"
        r"|smartphones?|sneakers|perfumes?|diner|eco-friendly"
        r"|energy drinks?|skin ?care|cosmetics|fitness|streaming service|limited[- ]time"
        r"|special deal)\b",
    ),
    (
        2,
        r"\b(?:staged|faked|secretly|fear|hatred|hate|foreigners|traitors?|moon landing"
        r"|chemtrails|aliens|diet pill|revolution|patriot\w{0,3}|dictator\w{0,4}|supremacy"
        r"|glorify|leader of|bleach)\b",
    ),
    (
        3,
        r"\b(?:(?:no|without) credit check|paid in advance|advance fee|risk-free|free (?:money"
        r"|gift|iphone|laptop|vacation|holiday|trip)|winners?|pyramid scheme|"
        r"customer (?:reviews|behaviou?r|feedback|satisfaction|segments?|retention|loyalty"
        r"|preferences|churn))\b",
    ),
    (
        2,
        r"\b(?:market(?:ing)? (?:trends?|research|strategy|campaign|analysis)|dashboards?"
        r"|strateg(?:y|ies)|start-?ups?)\b",
    ),
    (2, r"\b(?:studies|literature|episodes?|superhero\w{0,2})\b"),
    (
        2,
        r"\b(?:everyone|everybody|(?:other|more|most) people|(?:the )?public|followers|voters"
        r"|citizens|social (?:media|networks?)"
        r"|twitter|facebook|forums?|newsgroups?|the (?:whole )?world|readers?|audience|masses"
        r"|audiences?|subscribers)\b",
    ),
    (
        2,
        r"\b(?:votes?|voting|ballots?|vaccin\w{2,6}|government|regime|elections?|scientists"
        r"|climate change|global warming"
        r"|media|immigrants|nation|conspirac\w{1,3}|hoax|rumou?rs?|plot by|cover-?up|flat"
        r"|superior\w{0,3}|inferior\w{0,3}"
        r"|politic\w{2,6}|enem(?:y|ies)|elites?|minorit(?:y|ies)|religions?|miracle|cure\w?|fake"
        r"|false|hide"
        r"|misinformation|disinformation|unproven|debunked)\b",
    ),
    (
        2,
        r"\b(?:lotter(?:y|ies)|prize|giveaway|inheritance|gift cards?|(?:account"
        r"|card) (?:has been|have been|is|was) "
        r"(?:locked|suspended|blocked|compromised|frozen)|social security number|(?:credit card"
        r"|bank account|card|pin) (?:numbers?|details)"
        r"|bank details|verify (?:their|your|the) identity|get[- ]rich\w{0,6}|guaranteed returns"
        r"|(?:bit|crypto)\w{2,9} (?:wallet|invest\w{3,5})|bitcoins?|wire transfer"
        r"|unclaimed|ransom|charity scam|tech support scam|upfront fee|investment (?:scheme"
        r"|opportunity))\b",
    ),
    (
        1,
        r"\b(?:(?:best|amazing|revolutionary|exclusive|unbeatable|must-have|limited|discount code"
        r"|promo code|brand|products?)\b|https?:|www\.)",
    ),
    # What amuses, and what only passes the time.
    (
        2,
        r"\b(?:films?|movies?|books?|novels?|songs?|playlists?|bands?|albums?|podcasts?|games?"
        r"|series|tv shows?|trivia|fun"
        r" facts?|puns?|memes?|puzzles?|crossword|magic trick|comed(?:y|ies)|celebrit(?:y|ies)"
        r"|horoscope|bedtime)\b",
    ),
    (
        2,
        r"\b(?:weather|hobbies|small talk|casual\w{0,2}|cheerful|pets|weekend plans"
        r"|favou?rite (?:colou?r|food|movie|book|season|sport)"
        r"|conversation|how to \w{3,15})\b",
    ),
    # What an office machine does of itself.
    (
        2,
        r"\b(?:reminders?|alarms?|timers?|to-?do list|task list|inbox|folders?|unread|spam"
        r"|back-?ups?|spreadsheet|work-?flow"
        r"|automatic\w{0,4}|(?:every|each) (?:day|morning|evening|night|week|hour|month)"
        r"|smart home|thermostat|lights|calendar|desktop|recurring|dentist|plants|household"
        r"|grocer\w{2,4}|shopping list|form with)\b",
    ),
    (1, r"\b(?:files|events?|daily|weekly|people|performance|numbers)\b"),
    (
        1,
        r"\b(?:repl(?:y|ies)|e-?mails?|messages?|letter) (?:that|which|declining|announcing"
        r"|explaining|informing)\b",
    ),
    # What is worked out of figures and sources.
    (
        2,
        r"\b(?:revenues?|profits?|margins?|churn|market share|swot|kpis?|growth"
        r"|year[- ]over[- ]year|quarter(?:ly)? (?:results|sales|earnings)"
        r"|forecasts?|sales (?:data|figures|numbers|trends?)|likely to|bottlenecks?|roi"
        r"|benchmarks?|competitors?|averages?|median)\b",
    ),
    (
        2,
        r"\b(?:research|scientific|academic|thesis|hypothes[ei]s|experiments?|sources on"
        r"|literature review|citations?|bibliography|methodology|findings)\b",
    ),
    # What spoils an answer.
    (
        2,
        r"\b(?:irrelevant|wrong|incorrect|misleading|nonsense|gibberish|vague|made-up|fabricated"
        r"|fictitious|contradict\w{0,5}|yourself|off[- ]topic|jargon|unrelated|"
        r"mistakes|errors|biased|upside[- ]down|backwards?|emoticons?|smileys?|step-by-step"
        r"|the question)\b",
    ),
)
"""What a task is about that has nothing to do with a contact; it says nothing of a question."""

CONTEXT_SIGNS = (
    # A person speaks of themselves, or of somebody; so the text may hold a fact.
    (-4, r"\b(?:i'(?:m|ve|d|ll)|my|mine|myself|we'(?:re|ve|d|ll)|our|ours|us)\b"),
    (
        -4,
        r"(?<!how[ ]do[ ])(?<!"
        r"how[ ]can[ ])(?<!how[ ]would[ ])(?<!how[ ]to[ ])(?<!how[ ]did[ ])\b(?:i|we)\b",
    ),
    (
        -4,
        r"\b(?:mi|mis|mio|mia|yo|nuestr[oa]s?|mein\w{0,2}|ich|wir|unser\w{0,2}|mon|ma|mes|je"
        r"|j'\w|nous|notre|nos|meu|minha|eu|noss[oa]s?|ik|mijn|wij|onze|io|noi|nostr[oa]|sto|ho"
        r"|moj\w?|moje|я|мы|мо[йяеи]\w{0,2}|наш\w{0,3})\b|私|我|僕|내|나는|우리",
    ),
    (-4, r"(?<!tell[ ])(?<!give[ ])(?<!show[ ])(?<!teach[ ])(?<!write[ ])\bme\b"),
    (-3, r"\b(?:he|she|him|her|hers|his|she's|he's)\b"),
    (
        -1,
        r"(?<!what[ ]are[ ])(?<!what[ ]do[ ])\b(?:they|them|theirs?|it|its|they're|it's)\b",
    ),
    (-1, r"\b(?:your|yours)\b"),
    # The business of whoever looks after a contact.
    (
        -2,
        r"\b(?:invoic\w{1,3}|contracts?|offers?(?! (?:advice|tips|guidance|help))|quotes?"
        r"|quotations?|proposals?|orders?|pricing"
        r"|prices?|cost|costs|discounts?|refunds?|deliver\w{1,4}|shipments?|shipping"
        r"|meetings?|calls?|de"
        r"mos?|deadlines?|paym"
        r"ents?|budgets?|licen"
        r"[cs]es?|renewals?|su"
        r"bscriptions?|account"
        r"s?|clients?|customers?|contacts?|suppliers?|vendors?|leads?|deals?|tickets?|support"
        r"|onboarding|invoices|seats|purchase\w{0,2}|procurement|accounting|finance|legal|team"
        r"|office|agenda|warranty|returns?|stock|warehouse"
        r"|integrations?|modules?|features?|release|trial|pilot|rollout|manager|sales"
        r"|reports?|documents?|portal|deck|logo|board|reception|visitors?|warranty|installation"
        r"|vat|product lines?"
        r"|manuals?|spare|replacement|parts?|anniversary|budget|labou?r|certificates?|plant|site"
        r"|branch|spec(?:ification)?s?"
        r"|fees?|tariffs?|drivers?|catalogues?|brochures?|samples?|crm|audits?|tenders?|ministry"
        r"|dispatch|outage|presentation"
        r"|confidential|first,|before the|cards?|plans?|hours|polic(?:y|ies)|tomorrow|today"
        r"|next (?:week|month|call"
        r"|quarter)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|q[1-4]|nda|sla"
        r"|status|appointments?|reservations?|booking)\b",
    ),
)
"""What speaks against it in the whole text: a weight below zero, and how that shows."""

TALK_SIGNS = (
    (
        -2,
        r"(?<!what[ ]are[ ])(?<!what[ ]do[ ])\b(?:they|them|theirs?|it|its|they're|it's)\b",
    ),
    # A turn in a talk, of which more was said before.
    (
        -2,
        r"\b(?:these|those|this(?! (?:sentence|text|passage|paragraph|phrase|article|poem|list"
        r"|word|quote|review))|that's|that is|that(?=[?!.,])|such|other|another|else|more|also"
        r"|too|instead|again|specific|specifically|you (?:mentioned|said|suggested|recommended)"
        r"|mentioned|earlier|above|sounds?|okay|thanks|thank|great[,!]|hi|hello|dear|regards"
        r"|sorry|actually)\b",
    ),
    (
        -2,
        r"\b(?:recommend\w{0,4}|suggest\w{0,5}|tips?|advice|best|good|better|popular"
        r"|options?|ideas?|favou?rite|looking for|thinking of|worth|should|some|any|near|nearby"
        r"|around)\b",
    ),
)
"""What speaks against it as well where the text asks a question, as a turn in a talk does."""

NAMED = (
    r"\b(?:[Tt]o|[Ff]or|[Ww]ith|[Ff]rom|[Aa]sk|[Tt]ell|[Rr]emind|[Ii]nvite) (?:the )?(?:(?:Mr|Mrs"
    r"|Ms|Dr)\.? )?"
    r"(?!(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|English|French|German"
    r"|Spanish|January|February|March|April|June|July|August)\b)"
    r"[A-Z][a-z]+|[,;:] [A-Z][a-z]+ [a-z]{2,12}s\b|\b(?:Mr|Mrs|Ms|Dr|Herr|Frau|Sir)\b"
)
"""Somebody's name in what is to be done for them; matched against the text as it was given."""

NAMED_WEIGHT = -2
"""What a name weighs against a task; a question may well be about somebody who is known."""

DISGUISED_WORDS = (
    "ignore all",
    "ignore previous",
    "ignore the",
    "instructions",
    "password",
    "system prompt",
    "reveal the",
    "disregard",
)
"""What no honest text holds when it is read backwards or with every letter moved by thirteen."""

LOOKALIKES = str.maketrans("_0134578@$|!аеорсухіѕјһαεορτυνικ", " oieastbasliaeopcyxisjhaeoptuvik")
"""Digits and letters of other scripts that are put for the Latin ones they look like."""
