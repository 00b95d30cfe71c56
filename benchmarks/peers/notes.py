"""The notes that every system is told: all different, all true of one contact at a time.

Each has two shapes, one text and one triple, because some systems take sentences and others take a
relation to a named thing. Nothing here is about a real person. The same call gives the same notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import chain

PERSON = "Dana Whitfield"


@dataclass(frozen=True, slots=True)
class Note:
    """One note: as a sentence, and as a relation of the contact to a named thing."""

    text: str
    relation: str
    thing: str

    @property
    def as_json(self) -> dict[str, str]:
        return asdict(self)


# Within a kind the notes differ in one number, name, place or day, and nothing else.
NEAR = {
    "Invoice {} is unpaid.": ("has unpaid invoice", "invoice {}", range(1040, 1050)),
    "Order A-77{} was delivered to Leeds.": ("received order", "order A-77{}", range(10, 20)),
    "The audit meeting is on {} March.": ("attends audit meeting on", "{} March", range(3, 13)),
    "The projector in room {} is broken.": ("reported projector in", "room {}", range(201, 211)),
    "The licence of seat {} has expired.": ("has expired licence of", "seat {}", range(31, 41)),
    "Pallet {} arrived damaged.": ("received damaged pallet", "pallet {}", range(510, 520)),
    "Line {} of the plant runs at night.": ("runs at night", "line {}", range(1, 11)),
    "The backup of server {} failed.": ("had failed backup of", "server {}", range(71, 81)),
    "{} signs for purchases.": (
        "has purchases signed by",
        "{}",
        ("Adair", "Brigid", "Corin", "Delphine", "Ewan", "Fiona", "Gavin", "Hanne", "Idris", "Jo"),
    ),
    "The {} branch opens at eight.": (
        "opens at eight in",
        "the {} branch",
        ("Cork", "Ghent", "Graz", "Turku", "Porto", "Gdansk", "Lyon", "Bergen", "Brno", "Malmo"),
    ),
}

# Within a kind the notes name things that have little to do with one another.
FAR = {
    "Owns {}.": (
        "owns",
        (
            "a kayak", "a bakery", "two donkeys", "a vintage tram ticket collection",
            "a recording studio", "a vineyard", "a telescope", "a 3D printer", "a houseboat",
            "a beehive", "a set of bagpipes", "a wind turbine", "a chess clock from 1910",
            "a greenhouse", "a food truck", "an electric bicycle", "a loom", "a drone",
            "a pottery kiln", "a share of a racehorse",
        ),
    ),
    "Asked for a quote on {}.": (
        "asked for a quote on",
        (
            "standing desks", "fire doors", "cloud storage", "forklift rental", "catering",
            "legal translation", "roof repair", "uniforms", "water filters", "a staff survey",
            "phone headsets", "snow clearing", "printed banners", "solar panels", "first-aid kits",
            "barcode scanners", "pest control", "a trade fair booth", "diesel generators",
            "reusable crates",
        ),
    ),
    "Has visited {}.": (
        "has visited",
        (
            "Nairobi", "Reykjavik", "the Atacama desert", "Kyoto", "Tbilisi", "the Faroe Islands",
            "New Orleans", "Samarkand", "Hobart", "Luang Prabang", "Valparaiso", "Dakar",
            "Yellowknife", "Muscat", "Bruges", "Darjeeling", "Antarctica", "Havana", "Petra",
            "Lake Baikal",
        ),
    ),
    "Took a course in {}.": (
        "took a course in",
        (
            "welding", "negotiation", "watercolour", "statistics", "sign language", "beekeeping",
            "contract law", "improvised theatre", "cheese making", "network security", "sailing",
            "bookkeeping", "floristry", "public speaking", "astronomy", "carpentry", "Portuguese",
            "mountain rescue", "video editing", "soil chemistry",
        ),
    ),
    "Supplies {}.": (
        "supplies",
        (
            "hinges to shipyards", "yeast to breweries", "costumes to opera houses",
            "gaskets to dairies", "seedlings to city parks", "lenses to observatories",
            "rope to circuses", "ink to newspapers", "saddles to riding schools",
            "flour to pizzerias", "valves to hospitals", "felt to piano makers",
            "salt to road crews", "buttons to tailors", "ice to fishmongers", "cork to wineries",
            "chalk to climbing gyms", "wax to candle makers", "sand to glassworks",
            "slate to roofers",
        ),
    ),
    "Enjoys {}.": (
        "enjoys",
        (
            "jazz", "crossword puzzles", "open-water swimming", "silent films", "gardening",
            "curling", "spicy noodles", "birdwatching", "science fiction", "ballroom dancing",
            "old maps", "marathon running", "karaoke", "origami", "courtroom dramas", "fly fishing",
            "board games", "church organs", "street photography", "dry stone walling",
        ),
    ),
    "Reported a problem with {}.": (
        "reported a problem with",
        (
            "the login page", "late deliveries", "a leaking coffee machine", "wrong sizes",
            "the mobile app crashing", "rude drivers", "a noisy lift", "missing screws",
            "the newsletter", "a broken seal", "double billing", "slow search results",
            "the car park barrier", "faded labels", "an allergen list", "an empty voucher",
            "the heating in the lobby", "unreadable manuals", "a stuck turnstile",
            "the export to spreadsheets",
        ),
    ),
    "Works with {}.": (
        "works with",
        (
            "Halden Logistics", "the city orchestra", "a physiotherapist", "Orrin Textiles",
            "three apprentices", "the harbour authority", "a ghostwriter", "Pemberley Foods",
            "a guide dog trainer", "the national archive", "a tax adviser", "Quill Robotics",
            "the lifeboat crew", "a retired judge", "Sable Insurance", "a film crew",
            "the botanical garden", "an esports team", "Tarn Brewery", "a school for the deaf",
        ),
    ),
    "Plans to buy {}.": (
        "plans to buy",
        (
            "a delivery van", "noise-cancelling headphones", "an orchard", "a bigger freezer",
            "theatre tickets", "a label printer", "a wedding suit", "a season pass for the museum",
            "gravel", "a piano stool", "winter tyres", "a domain name", "a conference table",
            "hiking boots", "a security camera", "stage lights", "a canoe trailer",
            "a second monitor", "linen curtains", "an espresso grinder",
        ),
    ),
    "Once wrote about {}.": (
        "once wrote about",
        (
            "lighthouses", "minimum wages", "the history of zips", "night trains",
            "urban foxes", "microfinance", "a lost symphony", "tidal power", "penicillin",
            "medieval recipes", "chess engines", "coral reefs", "divorce law", "lace",
            "polar exploration", "subtitles", "meteorites", "football stadiums", "glaciers",
            "hospital kitchens",
        ),
    ),
}  # fmt: skip

# For what is measured beside the 300; no system may have met their texts before.
SPARE = {
    "Has a nephew who studies {}.": "has a nephew who studies",
    "Donated {} to the school fair.": "donated to the school fair",
    "Read a review of {}.": "read a review of",
    "Dreams about {}.": "dreams about",
    "Lectured on {}.": "lectured on",
    "Photographed {} last spring.": "photographed last spring",
    "Told a joke about {}.": "told a joke about",
    "Has a poster of {}.": "has a poster of",
    "Collects news about {}.": "collects news about",
    "Gave a friend advice on {}.": "gave a friend advice on",
}


# What holds of the contact, a question, and the later news: each with the word for its value.
CHANGES = (
    ("lives in", "Where does she live?",
     "Lives in Leeds.", "Leeds", "Has moved to York.", "York"),
    ("works at", "Who does she work for?",
     "Works at Halden Logistics.", "Halden Logistics",
     "Started a new job at Orrin Textiles.", "Orrin Textiles"),
    ("wants to be contacted by", "How does she want to be contacted?",
     "Wants to be contacted by email.", "email",
     "Phone calls suit her better from now on.", "Phone calls"),
    ("drives", "Which car does she drive?",
     "Drives a Volvo.", "a Volvo", "Has sold her car and drives a Tesla now.", "a Tesla"),
    ("has the job of", "What is her job?",
     "Works as a buyer.", "a buyer", "Was promoted to head of purchasing.", "head of purchasing"),
    ("has the marital status", "Is she married?",
     "Is single.", "single", "Got married in May.", "married"),
    ("has parcels sent to", "Where do her parcels go?",
     "Parcels go to the Ghent depot.", "the Ghent depot",
     "From now on parcels go to the Antwerp depot.", "the Antwerp depot"),
    ("buys packaging from", "Who does she buy packaging from?",
     "Buys packaging from Quill Robotics.", "Quill Robotics",
     "Switched to Sable Paper for packaging.", "Sable Paper"),
    ("has the plan", "Which plan is she on?",
     "Is on the Basic plan.", "Basic plan", "Upgraded to the Premium plan.", "Premium plan"),
    ("wants invoices in", "In which language does she want invoices?",
     "Wants invoices in English.", "English",
     "Invoices should be in French from now on.", "French"),
    ("pays by", "How does she pay?",
     "Pays by cheque.", "cheque", "Pays by card now.", "card"),
    ("travels to work by", "How does she get to work?",
     "Takes the train to work.", "the train", "Goes to work by bicycle these days.", "bicycle"),
    ("drinks in meetings", "What does she drink in meetings?",
     "Drinks black coffee in meetings.", "black coffee",
     "Has switched to green tea in meetings.", "green tea"),
    ("stays in Oslo at", "Which hotel does she use in Oslo?",
     "Stays at the Grand in Oslo.", "the Grand",
     "Prefers the Bristol in Oslo now.", "the Bristol"),
    ("has the account manager", "Who is her account manager?",
     "Her account manager is Priya.", "Priya",
     "Tom has taken over as her account manager.", "Tom"),
    ("trains at", "Where does she train?",
     "Trains at the Riverside gym.", "Riverside gym",
     "Left her gym and joined the Hilltop gym.", "Hilltop gym"),
    ("has the deadline", "When is the deadline?",
     "The deadline is 3 March.", "3 March", "The deadline was moved to 17 April.", "17 April"),
    ("has a team of", "How large is her team?",
     "Her team has six people.", "six people",
     "Her team has grown to nine people.", "nine people"),
    ("has the office day", "On which day is she in the office?",
     "Is in the office on Mondays.", "Mondays", "Her office day is Thursday now.", "Thursday"),
    ("has the doctor", "Who is her doctor?",
     "Her doctor is Dr Adair.", "Dr Adair", "Has changed to Dr Hanne, a new doctor.", "Dr Hanne"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """A note, the later one that replaces it in plain words, and what is asked then."""

    before: Note
    after: Note
    question: str


def changes() -> list[Change]:
    return [
        Change(Note(before, relation, old), Note(after, relation, new), question)
        for relation, question, before, old, after, new in CHANGES
    ]


def distinct() -> list[Note]:
    """300 different notes: ten kinds of ten near ones, ten kinds of twenty that are far apart."""
    near = (
        Note(text.format(name), relation, thing.format(name))
        for text, (relation, thing, names) in NEAR.items()
        for name in names
    )
    far = (
        Note(text.format(thing), relation, thing)
        for text, (relation, things) in FAR.items()
        for thing in things
    )
    return list(chain(near, far))


def spare(number: int) -> list[Note]:
    """Other notes, twenty to each number; those of two numbers share no text."""
    (text, relation), things = list(SPARE.items())[number], list(FAR.values())[number][1]
    return [Note(text.format(thing), relation, thing) for thing in things]


def raced(number: int) -> Note:
    """What many writers say at once in one round."""
    town = ("Aarhus", "Bilbao", "Cagliari", "Dijon", "Esbjerg", "Faro", "Genoa", "Hasselt")[number]
    return Note(f"Rents a warehouse in {town}.", "rents a warehouse in", town)


def acknowledged(number: int, door: str) -> Note:
    """What a process says before it is killed; a background door reads only plain statements."""
    if door == "background":
        return Note(f"Remember that I own boat {700 + number}.", "owns", f"boat {700 + number}")
    day = ("ash", "beech", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine")
    tree, side = day[number % 10], ("north", "south")[number // 10]
    return Note(f"Planted {tree} trees on the {side} field.", f"planted on the {side}", tree)


def by_text() -> dict[str, Note]:
    """Every note above by its text, for the model that is asked what a text says."""
    rest: Iterable[Note] = chain(
        chain.from_iterable(spare(number) for number in range(len(SPARE))),
        (raced(number) for number in range(8)),
        (acknowledged(number, "live") for number in range(20)),
        *((change.before, change.after) for change in changes()),
    )
    return {note.text: note for note in chain(distinct(), rest)}
