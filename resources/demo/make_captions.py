"""Writes captions.json, the invented captions of the demo, from the scripts in activities/.

An activity is a script of ordered steps, a step a few sentence templates. A video takes an
ordered run of steps of one activity and one actor, and every sentence is a template with its
choices drawn. Same seed, same bytes. Knows nothing of swag_studio; needs only the standard library.

The files of activities/ are read line by line:
    == NAME                    a new activity
    who: woman couple chef     who may act: keys of CAST, any other word is a role ("A chef")
    place: A | B               a variable: drawn once per video, written $place; `tail` (a clause
                               that may end a sentence) and `show` (what is shown at the end) are
                               used by this file as well
    3 TEMPLATE                 one wording of step 3

and a template holds:
    @           the actor as the subject ("A young woman", then "She" or "The woman"); "@!" keeps
                the verbs in the simple present, where "begins to ..." would read wrong
    <pour>      a verb of the main clause, made to agree with the actor, or put into
                "is seen pouring", "begins to pour" together with the others of its sentence
    [pour]      a verb that only agrees with the actor: pours, pour
    {his}       his, her or their; also {he} {him} {himself}, and {who} for "the woman"
    {hat/hats}  the first for one actor, the second for several
    (a|b|)      one of these, may be nested
    %slow       one of MACROS["slow"]
A step that opens a video uses a template that begins with @.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

HERE = Path(__file__).parent
SEED = 2018
VIDEOS = 800
FEWEST_WORDS = 6
TRIES = 12  # wordings drawn for one sentence before a repeated or a short one is accepted
VERB = r"<([a-z]+)>"
NO_TAIL = r"@!|,| (while|as|until|before|that) |\$place"  # what a second clause would overload
ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

MACROS = {
    "slow": "(slowly|carefully|)",
    "care": "(carefully|gently|)",
    "quick": "(quickly|)",
}

PRONOUNS = {
    "he": {"he": "he", "his": "his", "him": "him", "himself": "himself"},
    "she": {"he": "she", "his": "her", "him": "her", "himself": "herself"},
    "they": {"he": "they", "his": "their", "him": "them", "himself": "themselves"},
}

# pronoun, first mention, later mentions
CAST: dict[str, list[tuple[str, str, str]]] = {
    "man": [
        ("he", "a (man|young man|tall man)", "the man"),
        ("he", "a man in (a blue shirt|a red shirt|a black hat|gloves)", "the man"),
        ("he", "a young man", "the young man"),
        ("he", "an older man", "the (older|) man"),
    ],
    "woman": [
        ("she", "a (woman|young woman|tall woman)", "the woman"),
        ("she", "a woman in (a white shirt|a red shirt|a blue dress|a black hat)", "the woman"),
        ("she", "a young woman", "the young woman"),
        ("she", "an older woman", "the (older|) woman"),
        ("she", "a woman with long hair", "the woman"),
    ],
    "boy": [
        ("he", "a (boy|small boy|young boy)", "the boy"),
        ("he", "a boy in a (red|blue|white) shirt", "the boy"),
    ],
    "girl": [
        ("she", "a (girl|little girl|young girl)", "the girl"),
        ("she", "a girl in a (red|blue|white) dress", "the girl"),
    ],
    "couple": [("they", "a (young|) couple", "the couple"), ("they", "a man and a woman", "they")],
    "men": [("they", "two (young|) men", "the (two|) men")],
    "women": [("they", "two (young|) women", "the (two|) women")],
    "boys": [("they", "two (young|) boys", "the (two|) boys")],
    "friends": [("they", "two friends", "the (two|) friends"), ("they", "two girls", "the girls")],
    "kids": [
        ("they", "(two|three|some) kids", "the kids"),
        ("they", "a group of kids", "the (kids|group)"),
    ],
    "group": [
        ("they", "a (small|large|) group of people", "the group"),
        ("they", "a group of friends", "the (group|friends)"),
        ("they", "several people", "the people"),
    ],
    "workers": [("they", "two workers", "the workers")],
    "father": [
        ("he", "a father", "the father"),
        ("they", "a father and his son", "the father and son"),
    ],
    "mother": [
        ("she", "a mother", "the mother"),
        ("they", "a mother and her daughter", "the mother and daughter"),
    ],
}

OPENERS = ("afterwards,", "next,", "after that,", "soon,")
LAST_OPENERS = ("finally,", "in the end,", "afterwards,")
SHOWN = (
    "@! <hold> up $show and <smile> at the camera.",
    "@! <point> at $show and <talk> to the camera (again|with a smile|).",
    "The camera (zooms in on|moves around) $show as {who} ([smile]|[wave]).",
    "@! <step> back to look at $show and %slow <nod>.",
    "@! <turn> to the camera and proudly <show> $show.",
)

# words put before the first verb, and the mark of its verbs (see reshape); repeats are weights
SIMPLE, SEEN, IS = ("", ""), ("[is] seen", "+"), ("[is]", "+")
OPENING_SHAPES = (SIMPLE, SIMPLE, SIMPLE, SIMPLE, SEEN, SEEN, IS)
SHAPES = (*[SIMPLE] * 12, SEEN, SEEN, IS)
LASTING_SHAPES = (*SHAPES, ("[begin] to", "="), ("[begin]", "+"), ("[start]", "+"))
# only what takes a while can begin
LASTING = (
    "beat brush build carve chop clean climb count cover cut dance dig draw dry fill fold grind "
    "hammer iron knit lift load mix mop paddle paint peel play pour press pull push race rake roll "
    "rub run scrape screw scrub shake shape shave sing slice slide spray spread squeeze stack stir "
    "sweep swim tie turn walk wash whisk wipe wrap write"
)
# a verb in fewer templates keeps the simple present: its other forms would be rare words
COMMON_VERB = 8


@dataclass
class Activity:
    """One script: who may act, the variables, and the wordings of every step in order."""

    name: str
    who: list[str] = field(default_factory=list)
    variables: dict[str, list[str]] = field(default_factory=dict)
    steps: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Actor:
    """Who acts in one video; `pronoun` is a key of PRONOUNS."""

    pronoun: str
    first: str
    later: str


@dataclass
class Scene:
    """What one video holds on to from sentence to sentence."""

    actor: Actor
    variables: dict[str, str]
    actor_was_subject: bool = False


class Draw:
    """Random choices made of random() alone: the one method whose values Python keeps stable."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self._used: dict[str, dict[str, int]] = {}

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random()

    def one(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def shuffled(self, items: Sequence[int]) -> list[int]:
        return [item for _, item in sorted((self._random(), item) for item in items)]

    def in_turn(self, key: str, options: Sequence[str]) -> str:
        """One of the options least used under this key: no word of a script stays rare."""
        used = self._used.setdefault(key, {})
        least = min(used.get(option, 0) for option in options)
        option = self.one([option for option in options if used.get(option, 0) == least])
        used[option] = least + 1
        return option


def read_activities(folder: Path) -> list[Activity]:
    """All scripts of a folder, in the order of file names and lines."""
    activities: list[Activity] = []
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            start, _, rest = line.partition(" ")
            if not line:
                continue
            if start == "==":
                activities.append(Activity(rest))
            elif start.isdigit():
                steps = activities[-1].steps
                if int(start) == len(steps) + 1:
                    steps.append([])
                if int(start) != len(steps):
                    raise ValueError(f"{path.name}:{number}: step {start} is out of order")
                steps[-1].append(rest)
            elif start == "who:":
                activities[-1].who = rest.split()
            elif start.endswith(":"):
                activities[-1].variables[start[:-1]] = rest.split(" | ")
            else:
                raise ValueError(f"{path.name}:{number}: not a line of a script: {line!r}")
    return activities


def choose(text: str, draw: Draw) -> str:
    """The text with its macros and (a|b) choices drawn, the innermost first."""
    text = re.sub(r"%([a-z]+)", lambda match: MACROS[match[1]], text)
    while match := re.search(r"\(([^()]*)\)", text):
        option = draw.in_turn(match[1], match[1].split("|"))
        text = text[: match.start()] + option + text[match.end() :]
    return text


def third_person(verb: str) -> str:
    if re.search(r"(s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return re.sub(r"([^aeiou])y$", r"\1ie", verb) + "s"


def ing_form(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if re.fullmatch(r"[^aeiou]*(qu)?[aeiou][^aeiouwxy]", verb):  # one short syllable: cut, cutting
        return verb + verb[-1] + "ing"
    return verb + "ing"


def draw_actor(activity: Activity, draw: Draw) -> Actor:
    who = draw.in_turn(activity.name, activity.who)
    role = [(pronoun, f"a {who}", f"the {who}") for pronoun in ("he", "she")]
    pronoun, first, later = draw.one(CAST.get(who, role))
    return Actor(pronoun, choose(first, draw), later)


def draw_variables(activity: Activity, draw: Draw) -> dict[str, str]:
    return {
        name: choose(draw.in_turn(f"{activity.name} {name}", options), draw)
        for name, options in activity.variables.items()
    }


def opening_templates(step: Sequence[str]) -> list[str]:
    return [template for template in step if template.startswith("@")]


def draw_steps(activity: Activity, draw: Draw) -> list[list[str]]:
    """3 to 6 steps in order, never two left out in a row, so that the story can be followed;
    sometimes the last one gives way to showing the result."""
    steps = list(activity.steps)
    if "show" in activity.variables and draw.chance(0.3):
        steps[-1] = list(SHOWN)
    count = min(draw.one((3, 4, 4, 5, 5, 6)), len(steps))
    skips = min(draw.one((0, 0, 1, 1, 2)), len(steps) - count)
    strides = draw.shuffled([2] * skips + [1] * (count - 1 - skips))
    slack = len(steps) - count - skips + 1
    # half of the videos lean towards the beginning of the script
    first = int(min(draw.between(0, slack), draw.between(0, slack * draw.one((1, 2)))))
    while not opening_templates(steps[first]):  # an event without the actor can't come first
        first -= 1
    return [steps[number] for number in accumulate([first, *strides])]


def reshape(sentence: str, opening: bool, opener: bool, common: set[str], draw: Draw) -> str:
    """Vary the verb phrase of a sentence that begins with the actor: "is seen pouring",
    "begins to pour", "then pours". Marks plain forms as `<=pour>` and -ing forms as `<+pour>`."""
    verbs = re.findall(VERB, sentence)
    if sentence.startswith("@!") or not common.issuperset(verbs):
        lead, mark = SIMPLE
    elif opening:
        lead, mark = draw.one(OPENING_SHAPES)
    else:
        lead, mark = draw.one(LASTING_SHAPES if verbs[0] in LASTING.split() else SHAPES)
    sentence = sentence.replace("@!", "@", 1)
    if mark:
        sentence = sentence.replace("<", f"<{mark}")
    plain = not (opening or opener or "then" in sentence)
    then = "then" if plain and draw.chance(0.14) else ""
    if lead == "[is] seen":
        subject = f"@ [is] {then} seen"
    elif lead == "[is]":
        subject = f"@ [is] {then and 'now'}"
    else:
        subject = f"@ {then} {lead}"
    return sentence.replace("@", subject, 1)


def agree(sentence: str, actor: Actor, noun: str) -> str:
    """Fill in the verbs and pronouns of the actor."""
    plural = actor.pronoun == "they"
    words = PRONOUNS[actor.pronoun] | {"who": noun}

    def verb(match: re.Match[str]) -> str:
        mark, base = match[1], match[2]
        if mark == "+":
            return ing_form(base)
        if mark == "=":
            return base
        if base == "is":
            return "are" if plural else "is"
        return base if plural else third_person(base)

    def word(match: re.Match[str]) -> str:
        one, slash, several = match[1].partition("/")
        if slash:
            return several if plural else one
        capital = one[0].isupper()
        return words[one.lower()].capitalize() if capital else words[one]

    sentence = re.sub(r"[<\[]([=+]?)([a-z]+)[>\]]", verb, sentence)
    return re.sub(r"\{([A-Za-z /]+)\}", word, sentence)


def tidy(sentence: str) -> str:
    """Single spaces, "an" where it belongs, a capital."""
    sentence = re.sub(r"\s+", " ", sentence).strip()
    sentence = re.sub(r" ([.,])", r"\1", sentence)
    sentence = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


class Writer:
    """Writes one video after another; remembers every sentence, so that none comes twice if a
    few tries can help it."""

    def __init__(self, activities: Sequence[Activity], draw: Draw) -> None:
        templates = [t for activity in activities for step in activity.steps for t in step]
        verbs = Counter(verb for template in templates for verb in set(re.findall(VERB, template)))
        self._common = {verb for verb, count in verbs.items() if count >= COMMON_VERB}
        self._draw = draw
        self._seen: set[str] = set()

    def video(self, activity: Activity) -> list[str]:
        draw = self._draw
        scene = Scene(draw_actor(activity, draw), draw_variables(activity, draw))
        sentences: list[str] = []
        steps = draw_steps(activity, draw)
        for number, templates in enumerate(steps, 1):
            if number == 1:
                templates = opening_templates(templates)
            for _ in range(TRIES):
                template = draw.in_turn("\n".join(templates), templates)
                sentence = self._sentence(template, scene, number == 1, number == len(steps))
                if sentence not in self._seen and len(sentence.split()) >= FEWEST_WORDS:
                    break
            self._seen.add(sentence)
            sentences.append(sentence)
            scene.actor_was_subject = template.startswith("@")
            if scene.variables.get("tail", "-") in sentence:
                del scene.variables["tail"]  # once a video is enough
        return sentences

    def _sentence(self, template: str, scene: Scene, opening: bool, last: bool) -> str:
        draw, actor = self._draw, scene.actor
        by_actor = template.startswith("@")
        room = by_actor and len(template.split()) < 14 and not re.search(NO_TAIL, template)
        if room and "tail" in scene.variables and draw.chance(0.25):
            template = template.removesuffix(".") + " $tail."
        sentence = re.sub(r"\$([a-z]+)", lambda match: scene.variables[match[1]], template)
        sentence = choose(sentence, draw)
        noun = choose(actor.later, draw)
        if by_actor:
            opener = ""
            if not opening and draw.chance(0.06):
                opener = draw.one(LAST_OPENERS if last else OPENERS)
            sentence = reshape(sentence, opening, bool(opener), self._common, draw)
            # a pronoun is clear only where the sentence before had the same subject
            pronoun = scene.actor_was_subject and draw.chance(0.55)
            subject = actor.first if opening else actor.pronoun if pronoun else noun
            sentence = f"{opener} {sentence.replace('@', subject, 1)}"
        return tidy(agree(sentence, actor, noun))


def draw_times(count: int, draw: Draw) -> tuple[float, list[list[float]]]:
    """A duration in seconds and ascending [start, end] pairs within it."""
    start = draw.between(0.0, 4.0)
    times: list[list[float]] = []
    for _ in range(count):
        end = start + draw.between(4.0, 40.0)
        times.append([round(start, 2), round(end, 2)])
        # now and then an event begins a little before the one before it ends
        start = end + (draw.between(-2.0, 0.0) if draw.chance(0.25) else draw.between(0.0, 6.0))
    return round(times[-1][1] + draw.between(0.0, 6.0), 2), times


def make_captions(activities: Sequence[Activity], seed: int = SEED) -> dict[str, object]:
    """All videos, ActivityNet Captions shaped, sorted by id."""
    draw = Draw(seed)
    writer = Writer(activities, draw)
    captions: dict[str, object] = {}
    for number in range(VIDEOS):
        sentences = writer.video(activities[number % len(activities)])
        duration, times = draw_times(len(sentences), draw)
        video_id = "v_" + "".join(draw.one(ID_LETTERS) for _ in range(11))
        captions[video_id] = {"duration": duration, "timestamps": times, "sentences": sentences}
    return dict(sorted(captions.items()))


def main() -> None:
    captions = make_captions(read_activities(HERE / "activities"))
    # one video a line, so that a change of the scripts can be read as a diff
    lines = (f"{json.dumps(name)}: {json.dumps(video)}" for name, video in captions.items())
    (HERE / "captions.json").write_bytes(("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii"))


if __name__ == "__main__":
    main()
