"""The words and phrases by which a text that says nothing worth recalling is told from a fact.

Tables only live here: phrases of every kind, what questions and requests begin with, what machine
output looks like, and how somebody is named or addressed. Which kind a text is, how it is read and
what follows from that never does: that is ``meaning``'s business. Nor do words of sarcasm, of
supposing or of directives, which have tables of their own.

They are written for a sentence as ``meaning`` spells it: small letters without accents, words
parted by one space, no apostrophes ("dont", "im") or other marks, no letter thrice in a row. The
last two parts, machine output and names and signs, are matched against the text as it was given.

A phrase is a regular expression in text form that matches whole words. A sentence is of a phrase's
kind only where it is phrases from its beginning to its end, so a phrase must hold all that is
commonly said with it, and nothing that a fact could consist of. Words that are used in many phrases
have a name of their own, with the space that parts them from the next. A text of nothing but these
words must not take longer to read than any other; the tests try.
"""

from __future__ import annotations

import re

__all__ = [
    "ADDRESSED_AT_THE_END",
    "ASKED",
    "ASKED_OF_A_NAME",
    "ASKED_UNMARKED",
    "DUMP",
    "EMOJI",
    "EMOTICON",
    "FACT_IN_PASSING",
    "FILLER",
    "GLUE",
    "LASTING",
    "LAUGHTER",
    "MOOD",
    "NAMED_IN_PASSING",
    "ORDERS",
    "PASSING",
    "RAW_LINE",
    "RAW_TEXT",
    "REQUEST",
    "THANKS",
    "VENTING",
    "VOCATIVE",
]


def _any(*phrases: str) -> str:
    """A pattern for any of some phrases; the longest that fits wins over what it begins with."""
    return "(?:" + "|".join(sorted(phrases, key=len, reverse=True)) + ")"


def _table(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _words(text: str) -> str:
    return _any(*text.split())


# Small talk, moods, what is over soon, and venting: phrases and what they are made of

_VERY = (
    r"(?:(?:so|very|really|super|pretty|quite|too|rather|totally|all|absolutely|just|a bit|a little"
    r"|a little bit|a tad|kind of|kinda|somewhat|extremely|such|still|both|most|more|much|even"
    r"|already|almost) ){0,3}"
)

_GOOD = _words(
    "good great fine perfect awesome amazing excellent wonderful fantastic brilliant lovely nice "
    "cool super superb terrific neat sweet fabulous splendid helpful useful interesting hilarious "
    "impressive okay ok alright incredible marvellous marvelous delightful fascinating exciting"
)

_PRAISE = _any(
    _GOOD,
    _words("kind funny fun clear true right fair correct sensible reasonable thoughtful generous"),
)
"""What something may be called; by themselves the last ones may be somebody's trait."""

_IT = (
    r"(?:(?:that|this|it|thats|its|it all|that all|those|these|they|all of this|you)(?: is|re"
    r"| are)?(?: was| were| all| sounds| looks| seems)?)"
)

_DEGREE = (
    r"(?: (?:again|so much|very much|a lot|a million|a bunch|a ton|loads|all|everyone|everybody"
    r"|guys|folks|mate|buddy|pal|friend|my friend|dear|man|dude|team|there|sir|madam|bro|anyway"
    r"|anyways|though|then|indeed|in advance|to you|to you all|to you too|you too|too|for now|now"
    r"|today|both|for sure|again soon|back|everyone else|at all)){0,3}"
)

_FAVOUR = (
    r"(?: for (?:(?:all|everything|asking|sharing|explaining|helping|letting me know|telling me"
    r"|checking|reminding me|getting back(?: to me)?|understanding|listening|clarifying|confirming"
    r"|waiting|your time)|(?:(?:all|both) )?(?:of )?(?:the|your|these|those|this|that|all the"
    r"|all your)(?: (?:quick|great|kind|fast|prompt|helpful|amazing|detailed|wonderful|useful"
    r"|excellent|good|lovely))? (?:help|reply|response|answer|answers|info|information|tip|tips"
    r"|advice|suggestion|suggestions|update|time|support|patience|effort|explanation|recommendation"
    r"|recommendations|heads up|reminder|feedback|input|clarification|assistance|kindness|message"
    r"|resources|link|links|ideas|details|hard work|work)))?(?: today| anyway| so far)?"
)

_NEWS = (
    r"(?: (?:to know|to hear|idea|point|one|question|news|stuff|job|work|plan|call|catch|advice|tip"
    r"|tips|suggestion|suggestions|thinking|answer|explanation|choice|thing|enough|info|information"
    r"|list|ideas|example|start|to me|by me|with me|for me|for now|of you))?"
)

FILLER = (
    # What is said in a row
    r"(?:thanks|thank you|merci|gracias|danke|vielen dank|obrigado|grazie|cheers)(?: beaucoup"
    r"| so much| a lot| very much| schon)? (?:for your|for the|for all (?:the|your)|pour|pour votre"
    r"|pour ton|pour l|fur die|fur deine|fur ihre|fur das|fur|por|por tu|por su|por la|per il tuo"
    r"|pela)(?: [^\W\d_]+){1,2}",
    r"(?:i )?(?:really |so )?appreciate your [a-z]+|perfect timing|good timing"
    r"|aw+(?:w)?|okie ?dokie",
    r"(?:that|this|it) was (?:so |really |very )?(?:quick|fast|easy|close|fun|painless|helpful)",
    r"(?:thats |this is |its |that is )?(?:exactly|just) what i (?:wanted|needed|was looking for)",
    r"(?:that(?:s| is|ll be) all|nothing else|nothing more|no more questions)"
    r"(?: i (?:need|needed|wanted))?(?: from me)?(?: for (?:now|today))?",
    r"not (?:now|yet|right now|today|at the moment|anymore)|no not yet|maybe later|later maybe",
    r"(?:im )?not (?:so |really |quite )?sure(?: yet| about that)?"
    r"|i (?:dont|do not) (?:really )?know(?: yet)?|no idea|no clue|hard to say|we(?:ll| will) see"
    r"|lets see|i see what you mean",
    r"lets (?:move on|wrap up|see|get back to it|leave it(?: there| at that)?|keep going|carry on)",
    r"(?:im )?(?:glad|happy|pleased) (?:we|you|i|it|that) (?:sorted|solved|cleared|fixed|talked"
    r"|got|could|asked|worked|is|was|are)(?: (?:that|it|this|out|up|sorted|help|talk|here"
    r"|you|helpful)){0,3}",
    r"merhaba|gruezi|gruss gott|selam|ahoj|czesc|zdravo|szia|hei|god morgen|kalimera|salam",
    # Thanks
    r"(?:many |big |huge |a big |a huge |million )?(?:thanks|thank you|thankyou|thank u|thx|thnx"
    rf"|tnx|tks|ty|tysm|cheers|ta|thankee|thanx){_DEGREE}{_FAVOUR}{_DEGREE}",
    rf"(?:that is |thats |its |it is )?{_VERY}appreciated",
    rf"(?:i )?{_VERY}appreciate (?:it|that|this|you|your help|the help|your time){_DEGREE}",
    rf"(?:im |i am )?{_VERY}grateful{_DEGREE}",
    r"i cant thank you enough",
    r"youre (?:the best|a star|a legend|a life ?saver|awesome|amazing"
    rf"|{_VERY}(?:kind|welcome|helpful|right|funny|sweet))",
    r"you (?:rock|are the best|are a star|are welcome)",
    r"(?:life ?saver|legend)",
    rf"(?:youre |you are )?{_VERY}welcome{_DEGREE}",
    r"(?:its |it was |that was )?my pleasure|anytime|any time|dont mention it|glad (?:to help"
    r"|i could help|to hear(?: it| that)?|it helped|that helped|you like it|you liked it)",
    # Greetings
    r"(?:hi|hey|hiya|heya|hello|hallo|helo|howdy|yo|sup|greetings|hola|salut|bonjour|ciao|ola|hej"
    r"|moin|servus|namaste|aloha|salaam|guten (?:tag|morgen|abend)|gute nacht|buenos dias|buenas"
    r"|buenas (?:tardes|noches)|bom dia|boa (?:tarde|noite)|bonsoir|bonne (?:journee|nuit|soiree)"
    rf"|buongiorno|buonasera|buona notte|goedemorgen|hallo zusammen){_DEGREE}",
    rf"(?:(?:a )?(?:very )?good |top of the )(?:morning|afternoon|evening|day|night){_DEGREE}",
    r"(?:morning|evening|afternoon) (?:all|everyone|everybody|team|folks|guys)",
    rf"happy (?:monday|friday|weekend|new year|holidays|birthday|easter|christmas){_DEGREE}",
    r"gm|gn|nighty? night|goodnight|good to see you|nice to (?:meet|see|hear from) you(?: too)?",
    r"long time no see|merry christmas|seasons greetings|welcome back",
    r"(?:so |and )?(?:how are you|how are things|hows it going|how is it going|how are you doing"
    r"|whats up|wassup|how have you been|how do you do|hows life|how was your (?:day|weekend|week"
    rf"|trip|holiday)|how is your day|hows your day|you ok|you there|anyone there){_DEGREE}",
    r"(?:i )?(?:hope|trust) (?:you ?(?:re|are)|this finds you|youre doing|you are doing|all is"
    r"|alls|everythings|you had|you have|your (?:day|week|weekend) (?:is|was)) (?:doing |going "
    rf"|keeping |having )?{_VERY}(?:a )?(?:well|good|fine|great|ok|okay|nice|lovely)(?: weekend"
    r"| day| week| one)?",
    r"(?:im |i am |were |we are |all )?(?:doing )?(?:good|fine|well|great|okay|ok)(?: thanks"
    r"| thank you)(?: and (?:you|yourself))?",
    r"and you|and yourself|hbu|how about you|what about you|same here|you too|same to you|likewise",
    # Goodbyes
    r"(?:bye|bye ?bye|goodbye|good bye|cya|see (?:ya|you|u)|later|laters|farewell|adios|au revoir"
    r"|tschuss|tschus|tschues|auf wiedersehen|ciao|hasta luego|tchau|a bientot|cheerio|ttyl"
    r"|ttys|talk soon|speak soon|(?:talk|speak|catch) (?:to )?you (?:later|soon|tomorrow|then"
    r"|next week|up later)|until (?:next time|then|tomorrow|later)|take care|stay safe|all the best"
    rf"|best wishes){_DEGREE}",
    r"(?:ill )?(?:see|talk to|speak to|catch) (?:you|ya|u) (?:later|soon|tomorrow|then|around"
    rf"|monday|next time|next week|there|in a bit|tonight){_DEGREE}",
    r"(?:have|enjoy|wish you|wishing you)(?: yourself| yourselves)?(?: a| an| the| your"
    rf"| the rest of your)? ?{_VERY}(?:{_GOOD} |safe |relaxing |happy |restful )?(?:day|evening"
    r"|night|weekend|week|one|time|trip|holiday|holidays|flight|afternoon|morning|lunch|meal"
    rf"|rest of your day|rest of the day|journey)(?: ahead| off)?{_DEGREE}",
    r"sweet dreams|sleep well|safe travels|good luck(?: with (?:that|it|everything))?|enjoy",
    # Acknowledgements
    r"(?:ok|okay|okey|oki|okie|okie ?dokie|okey ?dokey|okeydoke|k|kk|kay|alright|allright|all right"
    r"|right|righto|aight|ight|roger|copy(?: that)?|10 4|noted|understood|gotcha|got (?:it|that|you"
    r"|u)|i got (?:it|you|that)|ive got it|i see|i get it|ah i see|i understand|right on|will do"
    rf"|on it|consider it done|received|confirmed|acknowledged|ack|wilco|aye|very well){_DEGREE}",
    r"(?:yes|yeah|yep|yup|yea|ya|yas|yess|ye|sure(?: thing)?|of course|certainly|absolutely"
    r"|definitely|totally|indeed|exactly|precisely|correct|agreed|true|right|obviously|naturally"
    r"|indubitably|for sure|you bet|no|nope|nah|nay|not really|not at all|maybe|perhaps"
    r"|i guess(?: so)?|i think so|i suppose so|i agree|i hope so|me too|me neither|same|ditto"
    r"|of course not|please|yes please|no thanks|no thank you|pls|plz|si|oui|ja|nein|non|nee|claro"
    rf"|vale|d accord|genau|gerne){_DEGREE}",
    rf"{_IT} (?:would be |will be |ll be )?{_VERY}{_PRAISE}{_NEWS}{_DEGREE}",
    rf"(?:sounds |looks |seems |feels |all )?{_VERY}{_GOOD}{_NEWS}{_DEGREE}"
    rf"|(?:would|will) be {_VERY}{_GOOD}",
    rf"(?:{_IT} )?(?:what )?(?:a|an|some|such a|such an|quite a|quite the) {_VERY}{_GOOD}"
    r"(?: (?:idea|point|question|plan|suggestion|news|list|tip|tips|job|day|choice|answer"
    r"|explanation|start|advice|stuff|thought|way|one|ideas|suggestions|information|info))?",
    r"(?:thats )?quite a list",
    r"sounds like (?:a )?(?:plan|fun|good idea|great idea)",
    r"(?:it |that |this )?makes (?:a lot of |perfect |total |much )?sense(?: now| to me)?",
    rf"(?:it |that |this |which )?{_VERY}(?:really )?(?:works|helps|helped|does the trick"
    r"|did the trick)(?: for me| a lot| great| perfectly| fine| me a lot| me out| now)?",
    r"good talk|great (?:talking|chatting|speaking) (?:to|with) you"
    r"|nice (?:talking|chatting|speaking) (?:to|with) you"
    r"|it was (?:nice|great|good) (?:talking|chatting|speaking) (?:to|with) you",
    r"(?:im |i am )?(?:fine|good|cool|happy|ok|okay) (?:by|with|for) (?:me|that|it|now)",
    r"(?:thats|that is|thatll be|that will be) (?:all|it)(?: for now| for today| i needed"
    r"| then| thanks)?",
    r"lets (?:do (?:it|that|this)|go(?: with (?:that|it))?|get started|go for it|start"
    r"|begin|continue)",
    r"(?:i )?(?:love|like|loved|liked) (?:it|that|this|these|them|your (?:ideas|suggestions))",
    r"works|its a deal|done|go ahead|go for it|as you wish|as you like|up to you|whatever"
    r"|if you say so|never ?mind|nvm|nm|no matter|forget it|doesnt matter|it doesnt matter"
    r"|it is what it is",
    # Apologies and reassurances
    r"(?:(?:no|not a) (?:worries|problem|prob|probs|biggie|big deal|rush|need|stress|issue|trouble)"
    r"|np|nw|all good|its (?:ok|okay|fine|all good|alright)|no harm done|happens|it happens"
    rf"|dont worry(?: about (?:it|that))?){_DEGREE}",
    r"(?:(?:im |i am |so |very |really |oh |my |i ){0,3}(?:sorry|apologies|apologise|apologize"
    r"|pardon|pardon me|excuse me|my bad|my mistake|my fault)(?: (?:about|for) (?:that|this"
    r"|it|the (?:delay|confusion|late reply|wait|trouble|typo|typos|inconvenience|mix ?up)"
    rf"|any confusion))?){_DEGREE}",
    r"oops|whoops|oopsie|woops|uh oh|ooops",
    # Noises
    r"(?:ba)?(?:ha){2,}h?|(?:he){2,}h?|(?:hi){3,}|ha|heh|lol|lols|lolz|lmao|lmfao|rofl|xd|hm|hmm"
    r"|mhm|mm|mmhm|uh|uhm|um|umm|er|erm|ah|aha|ahh|oh|ooh|oh (?:wow|ok|okay|right|my|no|well"
    r"|yes|god|my god|boy|dear|man|i see|nice|cool|really)|wow|wowza|whoa|woah|yay|woo|woohoo"
    r"|yippee|hooray|huh|eh|phew|omg|gosh|my goodness|goodness|jeez|dang|damn|duh|tada|well|so"
    r"|anyway|anyways|then|and|but|by the way|btw|also|actually|honestly|kudos|bravo|congrats"
    r"|congratulations|well done|good job|great job|nice (?:one|work|job|try)|way to go|fair enough"
    r"|touche|no way|really|seriously|for real|i know|i know right|you know|amen|jaja(?:ja)*",
    # A handful of other languages
    r"merci(?: beaucoup| bien)?|danke(?: schon| schoen| dir| ihnen| sehr)?|vielen dank|dankeschon"
    r"|dankeschoen|bitte(?: schon| sehr)?|(?:muchas |mil )?gracias|de nada|(?:obrigado|obrigada)"
    r"|muito (?:obrigado|obrigada)|grazie(?: mille)?|prego|dank je(?: wel)?|dank u(?: wel)?|bedankt"
    r"|tack(?: sa mycket)?|takk|tak|kiitos|dziekuje|dzieki|spasibo|arigato|xiexie|shukran|teshekkur"
    r"|tesekkurler|sagol|de rien|s il vous plait|por favor|per favore|alles klar|super danke|genial"
    r"|perfecto|parfait|perfekt|спасибо|привет|пока|谢谢|你好|ありがとう|こんにちは|감사합니다|안녕하세요",
)

_TIME = (
    r" (?:today|tonight|now|right now|just now|at the moment|atm|currently"
    r"|this (?:morning|afternoon|evening|week)|all day|already|again|lately|for now|though"
    r"|honestly|actually|already today|so far|this very moment|here|outside|here now|here today"
    r"|at this moment|rn|after (?:lunch|work|that)|as usual|really|inside|here right now)"
)

_NOW = rf"(?:{_TIME}){{0,3}}"

_I = (
    r"(?:(?:i|im|i am|ive been|i have been|i was|still|feeling|feel|i feel|i do feel|im feeling"
    r"|i am feeling|i felt|been feeling|i must say im|so|just|we are|were|were all|we feel|i get"
    r"|getting|im getting) ){1,2}"
)

_THEY = (
    r"(?:(?:(?:the )?(?:user|customer|contact|client)|she|he|they|shes|hes|theyre) )?"
    r"(?:mentioned (?:they (?:were|are)|being)|(?:is|was|are|were|seems?|seemed|sounds?|sounded"
    r"|looks?|looked|feels?|felt)(?: to be)?(?: feeling| having)?|said they (?:were|are)"
    r"|having|feeling) "
)

_MOOD_WORD = _words(
    "tired sleepy exhausted knackered drained happy sad down low blue grumpy cranky bored stressed "
    "nervous excited thrilled calm annoyed angry mad furious upset frustrated miserable meh "
    "overwhelmed restless giddy pumped fantastic great good okay fine wonderful amazing awful "
    "terrible lousy rubbish crap crappy groggy wiped beat ecstatic better worse"
)

_TRAIT = _words(
    "moody anxious cheerful relaxed lonely gloomy depressed hopeful content optimistic pessimistic "
    "lazy motivated unmotivated melancholic tense worried proud jolly sluggish energetic"
)
"""Moods that are traits too, so that only their hour makes them moods."""

_MOOD_STATE = (
    rf"{_VERY}(?:{_MOOD_WORD}|fed up|worn out|burnt out|burned out|on edge|out of sorts"
    r"|under the weather|over the moon|on top of the world|like (?:crap|rubbish|a million dollars"
    r"|a zombie|crying)|not (?:myself|my best|great|good|so good|too good|well|in the mood)"
    rf"|a bit off|off|(?:in )?(?:a|an|such a|such an|my) {_VERY}(?:bad|good|great|terrible|awful"
    r"|foul|weird|funny|happy|lovely|wonderful|rough|strange|cheerful|amazing|fantastic|sour"
    r"|nice) (?:mood|day|morning|week|afternoon|evening|spirits)|in (?:good|high|low|great) spirits"
    r"|in the (?:mood|zone))"
)

_MOOD_OF_OTHERS = (
    rf"{_THEY}{_MOOD_STATE} (?:today|tonight|right now|now|at the moment|this (?:morning|afternoon"
    r"|evening)|last (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|night)|yesterday)"
)
"""A third person's mood, only with its hour: "is tired" may be said of a customer for good."""

MOOD = (
    rf"{_I}{_MOOD_STATE}(?: and {_MOOD_STATE})?{_NOW}",
    r"in (?:a|an|such a|such an) (?:\w+ ){1,2}mood",
    rf"{_MOOD_STATE}{_TIME}{_NOW}|(?:{_I})?{_VERY}{_TRAIT}{_TIME}{_NOW}",
    rf"(?:{_I})?(?:im |i am )?not (?:feeling |doing )?{_VERY}(?:my best|great|good|well|happy"
    rf"|myself|at my best|in the mood){_NOW}",
    r"(?:ive |i have |im |i am |i had )?(?:been |just )*(?:having |had )?(?:a|one of those"
    rf"|such a) ?{_VERY}(?:bad|good|great|terrible|awful|rough|tough|hard|lousy|lovely|long|amazing"
    rf"|weird|horrible|wonderful|hectic|crazy|stressful)? ?(?:days?|mornings?|week|night){_NOW}",
    rf"(?:what|its been|it was|it is|its) (?:a|an|such a) {_VERY}(?:bad|good|great|terrible|awful"
    r"|rough|lovely|long|beautiful|gorgeous|horrible|wonderful|hectic|crazy|glorious|miserable"
    rf"|perfect) (?:day|morning|week|night|evening|weekend|afternoon){_NOW}",
    r"(?:today|this) (?:is|was|week is)(?: really| just| simply| so)? ?(?:not my day|going well"
    r"|awful|great|a good day|a bad day|terrible|the best day ever|the worst|rough|amazing)",
    r"what a (?:day|week|morning|night|month|mess)|(?:the )?user (?:seemed|sounded|looked"
    r"|mentioned|said)(?: that)?(?: they were| they are| to be| being| like)?(?: feeling"
    rf"| having)? {_MOOD_STATE}{_NOW}",
    r"(?:its )?not my day|i (?:woke up|got up) on the wrong side of the bed|i could cry|i cant even"
    r"|i (?:need|could use|want) (?:a|another|some|more) (?:coffee|drink|nap|break|sleep|hug"
    rf"|holiday|vacation|rest|snack){_NOW}",
    r"i (?:feel|am feeling) (?:it|that)(?: too)?|i (?:slept|didnt sleep) (?:badly|terribly"
    rf"|well|well at all|at all|much|very well){_NOW}|life is (?:good|great|hard|tough)"
    r"|(?:thank god|tgif)(?: its friday)?",
    _MOOD_OF_OTHERS,
)

_BRIEF = (
    r"(?:a|one|just a|just one|another|half a)(?: (?:quick|little|tiny|short))? ?(?:sec|second"
    r"|seconds|min|minute|minutes|mo|moment|tick|bit|while|hour)"
)

_SPAN = (
    rf"(?:{_BRIEF}|(?:about |like |around )?(?:\d+|two|three|five|ten|fifteen|twenty|thirty|a few"
    r"|a couple of|few|couple of)(?: more)? ?(?:secs?|seconds|mins?|minutes|hours?|hrs?))"
)

_GOING_ON = (
    rf"(?:{_VERY}(?:in a (?:hurry|rush|meeting|call|queue|taxi|cab|car|lift|waiting room"
    r"|tunnel|traffic jam|bit of a rush|bit of a hurry|shop|cafe|lecture|class)"
    r"|in (?:traffic|bed|line|class|transit|between meetings)|on (?:a|the|my) (?:train|bus"
    r"|plane|phone|road|call|way|tube|tram|metro|break|lunch break|ferry|way (?:home|back|out"
    r"|there|to (?:work|the (?:office|airport|station|gym|shop)))|other line|mobile|toilet)"
    r"|on another call|at (?:the )?(?:airport|station|gym|lunch|dentist|desk|my desk|supermarket"
    r"|shops|bus stop|doctors|red light|pub|hairdresser)|out and about|out of (?:breath|battery)"
    r"|away from (?:my )?(?:desk|keyboard|the keyboard|my computer|my phone)|afk"
    r"|walking (?:the dog|home)|travelling home|running (?:late|errands|behind|out the door)"
    r"|(?:stuck|sitting|waiting|standing|still)(?: here)? (?:in|at|on|for) (?:traffic|a meeting"
    r"|the train|the bus|the traffic|line|a queue|the queue|an elevator|my (?:coffee|food|train"
    r"|bus|flight|order|lunch)|the (?:bus|train|coffee|kettle))|(?:having|eating|grabbing|making"
    r"|cooking|getting|preparing|finishing|drinking)(?: some| a| my| a quick| a bite of)? ?"
    r"(?:lunch|dinner|breakfast|coffee|a coffee|tea|a tea|a snack|snack|supper|a bite|a bite to eat"
    r"|cup of (?:tea|coffee)|brunch|sandwich|drink|shower)|watching (?:tv|telly|the game|a film"
    r"|a movie|netflix)|about to (?:leave|board(?: my (?:flight|plane|train))?|go|head out|eat"
    r"|sleep|start|step out|drive|land|take off|go to bed|hop on a call|join a (?:call|meeting)"
    r"|go into a meeting|have lunch)|typing (?:from|on) my (?:phone|mobile)|on my phone"
    r"|heading (?:out|home|off|to bed|back)|going to bed|off to (?:bed|lunch|work|sleep)"
    r"|almost there|nearly there|getting there|just leaving))"
)

_FLEETING = _words(
    "busy swamped hungry starving thirsty cold freezing hot sweating hungover late back home awake "
    "driving walking commuting out here ready lost confused listening"
)

_IM = r"(?:(?:im|i am|were|we are|sorry im|just|still|i was|now|currently|atm|i feel) )"

PASSING = (
    rf"{_IM}{{0,3}}{_GOING_ON}{_NOW}",
    rf"{_IM}{{1,3}}{_VERY}{_FLEETING}{_NOW}|{_VERY}{_FLEETING}{_TIME}{_NOW}",
    r"(?:(?:ill|i will|will|ill just|gonna|im) )?(?:be )?(?:right )?(?:back|with you|there|home"
    rf"|ready)(?: again| online)?(?: soon| shortly| later| now| tomorrow| in {_SPAN}| after lunch)",
    r"(?:(?:ill|i will|im|gonna) )?(?:be )?(?:away|out|offline|gone|unavailable|off|busy"
    rf"|out of reach) (?:for|until|till) (?:{_SPAN}|later|lunch|after lunch|tonight)",
    r"(?:let me|ill|i will|i need to|i have to|ill have to|let me just|gonna)(?: quickly"
    r"| just)? (?:think|sleep|check|look|read)(?: (?:about|on|into|up|over|through))?"
    r"(?: (?:it|that|this))?(?: first| now| later| for a bit| again| over)?",
    r"(?:im )?(?:going|off|heading|getting ready|trying) to (?:sleep|bed|work|lunch|eat)(?: now)?",
    r"(?:the|my) (?:kids|kid|baby|dog|cat|neighbours|neighbors|phone|alarm)(?: is|s| are|re"
    r"| keeps| keep) (?:screaming|crying|barking|yelling|calling|being loud|making noise|shouting)"
    r"(?: in the background| outside| next door)?(?: again| right now| now)?",
    r"brb|bbl|bbs|afk|gtg|g2g|ttyl|omw|otw|one sec|sec|bio break|be right back",
    r"(?:please )?(?:give me|gimme|just|wait|hold on|hang on|bear with me)"
    rf"(?: for)? {_SPAN}(?: please)?",
    rf"{_BRIEF}(?: please| pls)?|(?:two|five|ten|\d+) (?:secs?|mins?|minutes|seconds)(?: please)?",
    r"(?:please )?(?:hold on|hang on|wait(?: up| a bit)?|bear with me|stand by"
    r"|hold the line)(?: please)?",
    rf"(?:im |i am |we are )?running (?:a (?:bit|little|few minutes) |{_SPAN} )?(?:late|behind)"
    rf"(?: (?:by )?{_SPAN})?{_NOW}",
    r"(?:(?:im|i am|ive|i have|i) )?just (?:got|gotten|came|come|woke"
    r"|finished|arrived|back|left|stepped|walked|sat|had|ate|landed|hung)"
    r"(?: (?:out of|back|home|up|off|in|from|away|down|outside))*(?: (?:a|the|my) (?:meeting"
    r"|call|phone|train|bus|gym|shower|flight|nap|office|house|door|plane|desk|coffee|phone call)"
    rf"| (?:bed|work|school|class|lunch|dinner|breakfast|here|home)){{0,2}}{_NOW}",
    r"(?:ive |i have |i )?(?:gotta|got to|have to|need to|must|should)(?: really)? (?:run|go|dash"
    r"|leave|head out|head off|hop off|hop on a call|jump off|take this call|get going|catch (?:a"
    rf"|my|the) (?:train|bus|flight|plane))(?: to (?:a|my|the) (?:meeting|call|train))?{_NOW}",
    r"(?:i )?(?:cant|cannot|can not|am unable to)(?: really)? (?:talk|speak|chat|type|answer|call)"
    rf"(?: much| long| properly)?{_NOW}",
    r"(?:let me|ill|i will|gonna|i need to|id need to|let me just)(?: quickly| just)? (?:check"
    r"|look|see|think|have a look|take a look|read (?:it|this|that)|look into (?:it|that|this)"
    r"|look it up|think about (?:it|that|this)|get back to you|check (?:on )?(?:it|that|this)"
    r"|try (?:it|that|this)|give (?:it|that|this) a (?:try|go|shot))(?: (?:out|first|now|later))?"
    r"(?: and (?:get back to you|let you know|report back|come back to you))?",
    r"(?:ill|i will) (?:let you know|keep you posted|report back|get back to you)"
    r"(?: (?:soon|later|tomorrow|then|how it goes))?",
    r"(?:its|it is|its been|it has been|it was|its still|it just started)(?: really| still"
    rf"| just)? {_VERY}(?:raining|snowing|pouring|sunny|cloudy|windy|foggy|hot|cold|freezing"
    r"|boiling|hailing|stormy|humid|chilly|warm|dark|late|loud|noisy|raining cats and dogs|to rain"
    rf"|to snow)(?: in here| out| out there)?{_NOW}",
    rf"(?:the )?(?:sun is|suns) (?:shining|out){_NOW}|(?:the )?weather(?: is|s) {_VERY}(?:{_GOOD}"
    rf"|awful|terrible|bad|horrible|miserable){_NOW}",
    r"(?:my|the) (?:phone|battery|laptop|phones battery|phone battery|wifi|internet|connection"
    r"|signal|screen|mic|camera|coffee|tea|food|lunch|pizza|bus|train|taxi|uber|kettle|doorbell"
    rf"|phone)(?: is|s| has|s just| keeps| just)? {_VERY}(?:about to die|dying|dead|low|almost dead"
    r"|running out|empty|getting cold|cold|ready|here|boiling|ringing|lagging|slow|cutting out"
    r"|breaking up|bad|down|died|dropped|arrived|frozen|freezing|late|delayed|playing up|acting up"
    rf"|spotty|at \d+){_NOW}",
    r"(?:please )?(?:excuse|sorry (?:for|about)|ignore|forgive) (?:the|my|any|all the) (?:typos?"
    r"|noise|mess|background noise|spelling|delay|lag|echo)",
    r"typing (?:from|on) my (?:phone|mobile)(?: so)?|someones at the door|the dog is barking"
    r"|i can(?:t| not)? hear you|can you hear me|youre (?:on mute|breaking up)",
)

_THING = (
    r"(?:this|that|it|the|your|this (?:stupid|damn|bloody|silly|whole)|the (?:stupid|damn|bloody))"
    r"(?: (?:app|site|website|page|thing|bot|chatbot|chat|system|tool|computer|program|wifi"
    r"|internet|software|form|update|service|machine|assistant|phone|laptop|weather|traffic"
    r"|crap|nonsense))?"
)

VENTING = (
    r"(?:ugh+|argh+|urgh|gah|grr+) (?:mondays|people|work|traffic|technology"
    r"|computers|meetings|life)",
    r"(?:im |i am )?(?:so |just )?(?:done|over it|fed up|sick|tired)(?: with| of)? (?:this|it"
    r"|that|all this|everything)|why (?:is|does) (?:everything|nothing|it|this|that) (?:always "
    r"|have to be )?(?:so )?(?:slow|complicated|hard|difficult|annoying|confusing|broken)",
    r"(?:oh )?(?:ugh+|argh+|aargh+|arg|grr+|gah|bah|meh|pff+t?|blah|sigh|ffs|wtf|wth|smh|fml"
    r"|damn it|dammit|damn|crap|shit|fuck|bloody hell|for (?:gods|fucks|heavens|petes|christs) sake"
    r"|jesus|good grief|come on|give me a break|are you (?:kidding|serious)(?: me)?"
    r"|you(?:ve| have)? (?:got to|gotta) be kidding me|not again|what the (?:hell|heck|fuck)"
    rf"|unbelievable|ridiculous|seriously|i give up|ive had enough|im done|enough)(?: {_THING})?"
    r"(?: (?:already|again))?",
    rf"(?:{_THING}(?: is|s)?|its|thats|such|how|why is {_THING}|what) {_VERY}(?:slow|annoying"
    r"|frustrating|stupid|ridiculous|broken|useless|complicated|hard|difficult|tedious|tiring"
    r"|exhausting|terrible|awful|horrible|painful|confusing|laggy|buggy|dumb|bad|unacceptable"
    r"|insane|unfair|crap|garbage|rubbish|a joke|a nightmare|a pain|a mess|the worst"
    rf"|driving me (?:crazy|mad|nuts|insane)|killing me|getting on my nerves){_NOW}",
    rf"{_THING} (?:sucks|stinks|blows|never works|doesnt work|isnt working|is not working"
    rf"|keeps (?:crashing|freezing|hanging|breaking)|crashed|froze|broke|makes no sense){_NOW}",
    rf"(?:i )?(?:hate|cant stand|cant take|am sick of|am tired of|cant believe) {_THING}{_NOW}"
    rf"|im (?:sick|tired|so sick|so tired)(?: and tired)? of {_THING}{_NOW}",
    rf"(?:{_VERY})(?:slow|annoying|frustrating)(?: {_THING})?{_NOW}",
    r"why (?:does|do|is|wont|doesnt) (?:this|it|nothing|everything) (?:always |never "
    r"|even )?(?:happen(?: to me)?|work|keep crashing|take so long|broken|so hard)"
    r"|nothing (?:ever )?works|everything is broken|this is taking (?:forever|ages|so long)"
    rf"|worst {_words('app day service ever thing experience')}(?: ever)?",
)


# What else is in a sentence of phrases

THANKS = _table("thanks thank merci gracias danke dank obrigado grazie cheers appreciate")
"""After these any word may follow: thanks are for everything."""

LAUGHTER = re.compile(r"(?:ha|he|hi|ja|ba)+h?")

GLUE = re.compile(r" *(?:(?:and|but|so|then|well|anyway|also|now|just|ok|oh|btw|by the way)\b *)*")


# Questions and requests

_SUBJECT = _words(
    "i you we he she they it there this that these those the a an my your his her our their its "
    "any some all anyone anybody someone somebody everyone everything anything something"
)

ASKED = re.compile(
    r"(?:(?:at|in|on|for|to|from|by|with|and|or|since|until) )?(?:what|whats|when|whens"
    r"|where|wheres|which|who|whos|whom|whose|why|how|hows)\b|(?:is|are|am|was|were|do|does"
    r"|did|can|could|will|would|should|shall|may|might|must|have|has|had|isnt|arent|wasnt"
    rf"|dont|doesnt|didnt|cant|couldnt|wont|wouldnt|shouldnt|havent|hasnt) {_SUBJECT}\b"
    r"|(?:any|anything|anyone|anybody|got any|ready|you)\b"
)

ASKED_UNMARKED = re.compile(
    r"(?:how (?:do|can|should|would|does) (?:i|you|we|it|this|that)|what (?:time|day|date) is"
    r"|what is (?:this|that|it|the)|whats (?:this|that|the)|where (?:is|are|can|do) (?:i|the"
    r"|you|it|my)|when (?:is|does|do|will) (?:the|it|you|we|i)|why (?:is|are|does|do|cant|isnt"
    r"|doesnt) (?:it|this|that|the|you|i|my)|who (?:are you|is this))\b(?: \w+){0,7}$"
)

FACT_IN_PASSING = re.compile(
    r"\b(?:ive|weve|im|hes|shes|theyre|because|which i|where i|who i|since i|the one"
    r"|that (?:she|he|they))\b"
    r"|(?<!\bdo )(?<!\bdid )(?<!\bcan )(?<!\bshould )(?<!\bcould )(?<!\bwill )(?<!\bwould )"
    r"(?<!\bhave )(?<!\bam )(?<!\bwas )(?<!\bhad )(?<!\bif )(?<!\bwhat )(?<!\bmust )(?<!\bthink )"
    r"\b(?:i|we) (?:am|are|have|had|was|were|got|bought|live|work|like|love|prefer|hate|need|want"
    r"|usually|always|never|just|recently|already|already|also|own|use|used|went|moved|started"
    r"|finished|met|play|eat|dont|cant)\b"
)
"""What a question tells of the one who asks: "…, which I usually take on Mondays"."""

LASTING = re.compile(
    r"\b(?:she|he|her|him|his|hers|they|their|them|customer|client|contact|user|always|never|every"
    r"|in future|from now|whenever|until|by default|unless|prefer\w*|allerg\w*)\b"
)
"""Words that make a request one about the contact, or for good: an instruction to keep."""

_PIECE = _words(
    "poem story song essay joke haiku limerick email mail message letter list table summary title "
    "headline script paragraph tweet post caption recipe example examples outline plan function "
    "program code sentence text article review description answer idea ideas riddle tips tip "
    "reasons overview hint suggestions suggestion recommendations reason story rhyme report speech "
    "version"
)

_TEXT = (
    r"(?:it|this|that|these|those|(?:the|my|this|that) (?:text|above|following|code|paragraph|last "
    r"(?:one|part|bit|point|step)|previous (?:one|answer)|article|email|message|answer|difference"
    r"|result|sentence|story|poem|error|first (?:one|part|point)|second (?:one|part|point)))"
)

ORDERS = _table(
    "tell show teach read explain walk quiz surprise entertain ask help give write find compose "
    "generate create draft invent make sing suggest recommend come describe clarify elaborate "
    "define summarise summarize translate rewrite rephrase shorten paraphrase expand simplify "
    "proofread correct fix continue repeat compare calculate convert solve analyse analyze outline "
    "debug refactor redo format improve edit check list turn put do try say be go keep start more "
    "again next another one let lets question wondering"
)
"""One of these is in every request."""

REQUEST = re.compile(
    r"(?:(?:please|pls|plz|can you|could you|would you|will you|you|now|just|then|also|kindly|and"
    r"|to|i want you to|id like you to) ){0,4}(?:"
    # "Tell me"
    r"(?:tell|show|teach|read|explain to|walk|quiz|surprise|entertain|ask|help|give|write|find)"
    r" (?:me|us)\b"
    # "write a short poem"
    r"|(?:write|compose|generate|create|draft|invent|make up|sing|make|suggest|recommend"
    r"|come up with) (?:me |us )?(?:a|an|some|the|another|one|two|three|five|ten|\d+|more)"
    rf"(?: [\w-]+){{0,3}}? {_PIECE}\b"
    # "translate this", "explain how", "list some"
    r"|(?:explain|describe|clarify|elaborate on|define|summari[sz]e|translate|rewrite|rephrase"
    r"|shorten|paraphrase|expand(?: on)?|simplify|proofread|correct|fix|continue|repeat|compare"
    r"|calculate|convert|solve|analy[sz]e|outline|debug|refactor|redo|format|improve|edit|check)"
    rf" {_TEXT}\b"
    r"|(?:explain|describe|clarify) (?:how|why|what|when|where)\b"
    r"|(?:suggest|recommend|list) (?:a|an|some|more|another|five|ten|three|\d+)\b"
    # "make it shorter"
    rf"|(?:make|turn|put|do|try|say|write) {_TEXT} (?:\w+ )?(?:shorter|longer|better|simpler|again"
    r"|more|less|funnier|clearer|rhyme|into|in|as|sound|bigger|smaller|formal|brief|short)\b"
    r"|be (?:more|less) \w+"
    # "Continue", as the whole sentence
    r"|(?:elaborate|continue|go on|keep going|go deeper|try again|start over|do over|say again"
    r"|repeat|summari[sz]e|more|again|next|help|again please|another one|one more(?: time)?"
    r"|another example|more (?:please|details?|info|information|examples?|ideas|options))"
    r"(?: please)?$"
    r"|do (?:it|that) again|let me know(?: what you think| please| soon)?$"
    r"|i (?:need|want|could use) (?:your |some |a little )?help"
    r"(?: with (?:this|that|it|something))?$"
    r"|i have (?:a|another|one more) (?:quick )?question$"
    r"|i (?:was|am) wondering if you (?:can|could)\b"
    r"|lets (?:try|see|talk about) (?:it|this|that|another)\b)"
)


# Machine output, in the text as given

_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)"

RAW_LINE = re.compile(
    r"Traceback \(most recent call last\)"
    r"|\s{0,8}File \"[^\"\n]{1,200}\", line \d+"
    r"|\s{1,8}at [\w.$<>]{1,200}\([\w.]{1,100}(?::\d+)?\)"
    r"|(?:[\w.]{1,100}\.)?[A-Z]\w{0,60}(?:Error|Exception): \S"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S{0,12} {1,3}(?:\S{1,40} {1,3})?"
    rf"\[?{_LEVEL}\b"
    rf"|\[?{_LEVEL}\]?\s{{0,3}}[:\[|-]|\[{_LEVEL}\] "
    r"|[^\"\n]{0,100}\"(?:GET|POST|PUT|DELETE|HEAD|PATCH) \S{1,200} HTTP/\d"
    r"|HTTP/\d(?:\.\d)? \d{3}\b"
)
"""A line of a log or of a stack trace."""

RAW_TEXT = re.compile(
    r"\s*(?:[\[{][\s\[{]{0,40}\"[^\"\n]{0,80}\"\s*[:,]|[\[{]\s*[}\]]\s*\Z"
    r"|\[\s*-?\d[\d.\s,eE+-]*,[\d.\s,eE+-]*\]\s*\Z"
    r"|<(?:!DOCTYPE|!--|\?xml|html|head|body|div|table|svg|script|span|p|ul|a|img)\b[^<>]{0,300}>"
    r"|data:[\w/+.-]{1,60};base64,|-----BEGIN [A-Z ]{1,40}-----)"
)
"""How JSON, markup and armoured text begin."""

DUMP = re.compile(
    r"(?=\S{0,200}[a-z])(?=\S{0,200}[A-Z])(?=\S{0,200}\d)"
    r"(?:[A-Za-z0-9+/_-]{20,}\n?)*[A-Za-z0-9+/_-]{60,}={0,2}\s*\Z"
)
"""Base64: a long run of letters and digits, perhaps in lines."""


# Names and signs, in the text as given

EMOTICON = re.compile(
    r"(?<![\w:])(?:[:;=8][\'^o-]?[)(dp|/\\o*3\]\[>]+|<3+|\^_?\^|xd+)(?!\w)", re.IGNORECASE
)

EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55]")

ADDRESSED_AT_THE_END = re.compile(
    r"^(\W*(?i:hi|hey|hello|thanks|thank you|many thanks|thx|cheers|bye|good|see you|take care"
    r"|have a)\b[^,]{0,80}), ?[A-Z][\w'-]+(?=\W*$)"
)

VOCATIVE = re.compile(
    r"^(\W*(?i:hi|hey|hello|dear|hiya|thanks|thank you|many thanks|thx|cheers|bye|goodbye"
    r"|sorry|ok|okay|yes|no|great|perfect|good (?:morning|afternoon|evening|night)|merci|danke"
    r"|gracias|hola|bonjour)(?i: again| so much| a lot)?),? [A-Z][\w'-]+(?: [A-Z][\w'-]+)?"
    r"(?=\s*(?:[,;:!.?–—-]|$))"
)
"""A greeting or thanks and the name it is addressed to."""

ASKED_OF_A_NAME = re.compile(r"(?i:\W*(?:is|does|did|has|will|can|was|would|should)) [A-Z][a-z]")

NAMED_IN_PASSING = re.compile(r"\b[Mm]y (?:\w+ ){1,3}[A-Z][a-z]+")
"""What a question tells of the contact: "my sister Ada"."""
