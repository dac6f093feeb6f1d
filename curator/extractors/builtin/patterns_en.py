"""English: what people say about themselves and others, as tables."""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

from curator.extractors.builtin.grammar import Language, Rule, english, roles
from gedaechtnis.common.dates import Lean
from gedaechtnis.memory.schemas import MemoryType

_PLACE = r"(?i:in) (?P<O>(?:(?i:the) (?=Netherlands|US|USA|UK|United|Philippines|Bahamas))?\S.*?)"
_TO_PLACE = r"(?:(?i:from) \S.*? )?(?i:to) (?P<O>(?:(?i:the) (?=Netherlands|US|USA|UK|United|Philippines))?\S.*?)"
_FIRM = r"(?i:at|for|with) (?:(?i:the) )?(?P<O>\S.*?)"
_WHOSE = r"(?P<P>(?i:my|our|his|her|their)|\S+'s|\S+s')"
_BE = "is|are|am|be"
_HAVE = "has|have|had"
_PHONE = r"(?P<O>\+?[\d(][\d\s()/.-]{4,}\d)"
_MAIL = r"(?P<O>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"

_DECIDED = (
    r"(?:Beschluss|Entscheidung|Decision)\s*:\s*\S.*"
    r"|(?P<frame>(?:(?:(?:for|at|in|on|after|with|as|today|yesterday)\b[^;:]{1,80}|[^,;:]{1,80})\s)?"
    r"we(?: have)?(?: (?!should|will|may|must|can|did)\w+){0,3}?) (?:decided|chose|agreed (?:on|to|that))\b.*"
)

RULES = (
    Rule("decided", "decide", (".*",), memory_type=MemoryType.DECISION),
    Rule("identity", "identify", (r"(?P<S>.+?) (?i:is|are|was) (?P<O>.+)",)),
    Rule("named", "name", english(_BE, r"(?i:called|named) (?P<O>.+)"), negation="refuse"),
    Rule("my name", "name", (r"(?P<S>(?i:My)) (?i:name is) (?P<O>.+)", r"(?P<S>.+?)'s (?i:name is) (?P<O>.+)"), negation="refuse"),
    Rule("nickname", "alias", (
        r"(?P<S>.+?) (?i:is) (?i:also) (?i:called|known as) (?P<O>\S+)", r"(?i:everyone|everybody|we) (?i:calls?) (?P<S>.+?) (?P<O>[A-Z]\S+)",
    ), negation="refuse"),
    Rule("has a named animal", "identify_owned", english("has|have|own|owns", r"(?P<O>(?i:an?) .+?),? (?i:named|called|whose name is) (?P<N>.+)"), negation="refuse"),
    Rule("has named animals", "identify_owned", english("has|have|own|owns", r"(?i:two|three|four|five|\d) (?P<O>\w+)[,:]+ (?P<N>.+)"), negation="refuse"),
    Rule("has an animal", "introduce", english("has|have|own|owns", r"(?P<O>(?i:an?) .+)"), negation="refuse"),
    Rule("feeding", "feed", (
        *english("gets?|has|have|receives?|eats?", r"(?P<T>.*)"), r"(?P<S>.+?) (?i:gets?|is|are) (?i:fed)(?P<T>)",
        r"(?:I|(?i:we)) (?i:feed) (?P<S>.+?)(?P<T>)", r"(?P<S>.*?)'s (?i:feeding time|food|dinner|breakfast) (?i:is|comes)(?P<T>)",
    ), subject_kind="pet"),
    Rule("address", "describe", (rf"{_WHOSE} (?i:address is) (?P<O>.+)", *english("lives?", r"(?i:at) (?P<O>\d+\w? .+|.+ \d+\w?)")),
         predicate="address", negation="refuse"),
    Rule("moved", "relate", (*english(f"(?:(?:{_BE}|{_HAVE}) )?(?:just )?(?:moved|relocated)", _TO_PLACE),),
         predicate="lives_in", object_kind="place", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("moves", "relate", english(f"(?:(?:{_BE}) )?(?:moving|relocating)|moves?|will move", _TO_PLACE),
         predicate="lives_in", object_kind="place", lean=Lean.FUTURE, change=True, needs_date=True, negation="refuse"),
    Rule("lives", "relate", english(f"lives?|(?:{_BE}) living|(?:{_BE}) based|(?:{_HAVE}) (?:lived|been living)", _PLACE), predicate="lives_in", object_kind="place"),
    Rule("lived", "relate", english("lived|used to live", _PLACE),
         predicate="lives_in", object_kind="place", ended=True, lean=Lean.PAST, negation="refuse"),
    Rule("born in", "relate", english("was born|were born|am born|is born", _PLACE), predicate="born_in", object_kind="place", negation="refuse"),
    Rule("changes job", "relate", (
        *english(f"starts?|joins?|(?:{_BE}) (?:starting|joining)|will (?:start|join)", r"(?:(?i:work|a new job) )?(?:(?i:at|with) )?(?P<O>[A-Z].*?)"),
        *english("switch(?:es)?|changes?", r"(?:(?i:from) (?P<from>\S.*?) )(?i:to) (?P<O>\S.*?)"),
    ), predicate="works_at", object_kind="organisation", lean=Lean.FUTURE, change=True, negation="refuse"),
    Rule("changed job", "relate", (
        *english(f"(?:(?:{_HAVE}) )?(?:started|joined)", r"(?:(?i:working|work|a new job) )?(?:(?i:at|with|for) )?(?P<O>[A-Z].*?)"),
        *english(f"(?:(?:{_HAVE}) )?switched", r"(?:(?i:from) (?P<from>\S.*?) )?(?i:to) (?P<O>\S.*?)"),
    ), predicate="works_at", object_kind="organisation", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("left job", "leave", english(f"(?:(?:{_HAVE}) )?(?:left|quit|resigned from)|(?:{_HAVE}) stopped working at|stopped working (?:at|for)", r"(?P<O>\S.*?)"),
         predicate="works_at", object_kind="organisation", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("works as at", "work_as", english(f"works?|(?:{_BE}) working", r"(?i:as) (?i:an?) (?P<J>.+?) " + _FIRM), negation="refuse"),
    Rule("works as", "describe", english(f"works?|(?:{_BE}) working", r"(?i:as) (?i:an?) (?P<O>.+)"), predicate="job_title"),
    Rule("is by profession", "profession", english(_BE, r"(?i:an?) (?P<O>\w+)"), predicate="job_title", negation="refuse"),
    Rule("works", "relate", english(f"works?|(?:{_BE}) (?:working|employed)|(?:{_HAVE}) (?:worked|been working|been)", _FIRM), predicate="works_at", object_kind="organisation"),
    Rule("worked", "relate", english("worked|used to work|was employed", _FIRM),
         predicate="works_at", object_kind="organisation", ended=True, lean=Lean.PAST, negation="refuse"),
    Rule("member", "relate", english(_BE, r"(?:(?i:an?) )?(?i:member of) (?:(?i:the) )?(?P<O>\S.*?)"), predicate="member_of", object_kind="organisation"),
    Rule("married", "relate", english(_BE, r"(?i:married to) (?P<O>\S.*?)"), predicate="married_to", object_kind="person"),
    Rule("was married", "relate", english("was|were|used to be", r"(?i:married to) (?P<O>\S.*?)"),
         predicate="married_to", object_kind="person", ended=True, negation="refuse"),
    Rule("married on", "relate", english(f"(?:(?:{_HAVE}) )?(?:married|got married to)", r"(?P<O>[A-Z]\S.*?)"),
         predicate="married_to", object_kind="person", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("couple", "relate", english(_BE, r"(?i:together with|dating|in a relationship with|engaged to) (?P<O>\S.*?)"), predicate="partner_of", object_kind="person"),
    Rule("separated", "leave", english(f"(?:(?:{_HAVE}) )?(?:broke up with|separated from|split up with|divorced|is divorced from)", r"(?P<O>\S.*?)"),
         predicate="partner_of married_to", object_kind="person", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("friends", "relate", english(_BE, r"(?:(?i:good|close) )?(?i:friends with) (?P<O>\S.*?)"), predicate="friend_of", object_kind="person"),
    Rule("knows", "relate", english("knows?", r"(?P<O>[A-Z]\S.*?)"), predicate="knows", object_kind="person"),
    Rule("mutual married", "mutual", (r"(?P<S>.+?) (?i:are) (?i:married)(?i: to each other)?",), predicate="married_to"),
    Rule("mutual wedding", "mutual", (r"(?P<S>.+?) (?i:got married)",), predicate="married_to", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("mutual couple", "mutual", (r"(?P<S>.+?) (?i:are) (?i:a couple|together|partners)",), predicate="partner_of"),
    Rule("mutual siblings", "mutual", (r"(?P<S>.+?) (?i:are) (?i:siblings|sisters|brothers|brother and sister)",), predicate="sibling_of"),
    Rule("mutual friends", "mutual", (r"(?P<S>.+?) (?i:are) (?:(?i:good|best|close) )?(?i:friends)",), predicate="friend_of"),
    Rule("mutual colleagues", "mutual", (r"(?P<S>.+?) (?i:are) (?i:colleagues|coworkers|co-workers)",), predicate="colleague_of"),
    Rule("age", "count", english(_BE, r"(?P<O>\d{1,3}|(?i:\w+)(?= (?i:years? old)))(?: (?i:years?)(?: (?i:old))?)?"), predicate="age", negation="refuse"),
    Rule("turns", "count", english("turns?|will turn|will be", r"(?P<O>\d{1,3})"),
         predicate="age", lean=Lean.FUTURE, change=True, needs_date=True, negation="refuse"),
    Rule("turned", "count", english("turned", r"(?P<O>\d{1,3})"), predicate="age", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("birthday", "birthday", (
        rf"{_WHOSE} (?i:birthday is|date of birth is) (?P<O>.+)", *english("was born|were born|am born|is born", r"(?P<O>.*\d.*)"),
        *english("has|have", r"(?i:his|her|my|their|a)? ?(?i:birthday) (?P<O>.+)"),
    ), predicate="born_on", dated=True, negation="refuse"),
    Rule("phone", "contact", (
        rf"{_WHOSE} (?:(?i:new) )?(?:(?i:phone|mobile|cell|telephone) )?(?i:number|phone|mobile) (?:(?i:is|changed to) )?(?:(?i:now) )?:? ?{_PHONE}",
        rf"(?P<S>.+?) (?i:can be reached (?:at|on|under)) {_PHONE}",
    ), predicate="phone", dated=True),
    Rule("e-mail", "contact", (
        rf"{_WHOSE} (?:(?i:new) )?(?i:e-?mail(?: address)?) (?:(?i:is|changed to) )?:? ?{_MAIL}", rf"(?P<S>.+?) (?i:can be reached at) {_MAIL}",
    ), predicate="email", dated=True),
    Rule("favourite", "favourite", (rf"{_WHOSE} (?i:favou?rite) (?P<topic>[\w ]+?) (?i:is|are) (?P<O>.+)",),
         predicate="favourite", memory_type=MemoryType.PREFERENCE),
    Rule("likes best", "describe", english("likes?|loves?", r"(?P<O>.+?) (?i:best|most|the most)"), predicate="favourite", memory_type=MemoryType.PREFERENCE),
    Rule("prefers", "describe", english("prefers?", r"(?P<O>.+?)(?: (?i:to|over|rather than|instead of) .+)?"),
         predicate="prefers", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("eats", "describe", (*english("eats?", r"(?P<O>.+)"), *english(_BE, r"(?:(?i:an?) )?(?P<O>(?i:vegetarian|vegan))")),
         predicate="eats", negation="deny", lasting=False),
    Rule("drinks", "describe", english("drinks?", r"(?P<O>.+)"), predicate="drinks", negation="deny", lasting=False),
    Rule("likes", "describe", english("likes?|loves?|enjoys?", r"(?P<O>.+)"),
         predicate="likes", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("dislikes", "describe", english("dislikes?|hates?", r"(?P<O>.+)"), predicate="dislikes", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("interest", "describe", english(_BE, r"(?i:interested in) (?P<O>.+)"), predicate="interest", negation="deny"),
    Rule("speaks", "language", english("speaks?", r"(?:(?i:fluent|some|good) )?(?P<O>[A-Z].*?)"), predicate="speaks", negation="deny"),
    Rule("allergic", "describe", (*english(_BE, r"(?i:allergic to) (?P<O>.+)"), *english("has|have", r"(?i:an?) (?P<O>\w+) (?i:allergy)")), predicate="allergic_to"),
    Rule("is intolerant", "describe", english(_BE, r"(?P<O>\w+)[- ](?i:intolerant)"), predicate="allergic_to"),
    Rule("belongs", "own", (r"(?P<O>.+?) (?i:belongs? to) (?P<S>.+)",), predicate="owned_by"),
    Rule("has a device", "device", (
        *english("has|have|owns?|(?:has|have) got", r"(?i:an?) (?P<O>.+)"), rf"{_WHOSE} (?i:new )?(?i:phone|mobile|laptop|notebook|tablet|computer|car|watch|e-?reader) (?i:is an?) (?P<O>.+)",
    ), predicate="owned_by", object_kind="device"),
    Rule("uses a device", "device", english("uses?", r"(?:(?i:an?|the|my|his|her) )?(?P<O>.+)"), predicate="uses_device", object_kind="device"),
    Rule("rule", "policy", (r"(?i:rule)\s*: ?(?P<O>.+)", r"(?P<O>.*)"), predicate="policy_rule", memory_type=MemoryType.POLICY),
    Rule("routine", "describe", (
        r"(?P<S>\S+(?: \S+)?) (?P<O>(?i:goes?|go|does?|has|have|plays?|runs?|swims?|meets?|works? out|jogs?|practi[sc]es?|calls?|visits?) .*?(?i:every) (?i:day|morning|evening|night|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b.*)",
    ), predicate="routine", memory_type=MemoryType.PREFERENCE, dated=True, negation="refuse"),
    Rule("decision", "describe", tuple(rf"(?!(?i:we)\b){form}" for form in english("(?:have )?(?:decided on|decided to|chose|agreed on)", r"(?P<O>.+)")),
         predicate="decision", memory_type=MemoryType.DECISION, negation="refuse"),
    Rule("mentioned", "mention", (
        r"(?:.*? )?(?P<O>(?i:my|our) (?:[a-z-]+ ){1,3}[A-Z][\w-]*)(?:[ ,].*)?",
    ), dated=True, negation="deny"),
)  # fmt: skip


ENGLISH = Language(
    code="en",
    rules=RULES,
    roles=roles("en"),
    rewrites=(
        (r"\bcan(?:not|'t| not) stand\b", "dislike"),
        (r"\bi'm\b", "I am"), (r"\b(he|she|it|that)'s (?=(?:moved|got|been|started|joined|left|switched)\b)", r"\1 has "),
        (r"\b(he|she|it|that)'s\b", r"\1 is"), (r"\b(we|they|you)'re\b", r"\1 are"), (r"\b(i|we|they|you)'ve\b", r"\1 have"),
        (r"\bwon't\b", "will not"), (r"\bcan't\b", "can not"), (r"n't\b", " not"), (r"\b(i|we|he|she|they)'ll\b", r"\1 will"),
        (r"\bneither (.+?) nor (.+)", r"not \1 and \2"), (r"\b(do|does|did) not\b", "not"),
        (r"\bdoes not like\b", "not like"),
        (r"^([A-Z]\S+), ((?:my|our) [^,]+), ", r"\2 \1 "),
    ),
    openers=r"well|so|by the way|btw|yes|yeah|ok|okay|oh|hey|hi|hello|and|but|also|thanks|great|fyi|ps|please|that|right|now|just so you know|sure",
    fillers=r"by the way|btw|really|also|now|currently|still|already|just|finally|very much|totally|absolutely|at the moment|these days|nowadays|of course|unfortunately|actually|please",
    remember=r"(?:please )?(?:remember|note|keep in mind|make a note|(?:don't|do not|not) forget|bear in mind)\b[,:.!]?\s*(?:that\s+)?",
    forget=r"(?:please )?(?:forget|delete|erase|remove)\b(?: about)?(?: the fact)?,?\s*(?:that\s+(?=\S))?",
    forget_last=r"(?:that|it|this|that please|the last one|what i just said)?",
    correction=r"no|nope|wrong|that(?:'s| is| was) (?:wrong|not right|incorrect)|actually|correction|sorry|i meant|i mean|wait|my mistake|i was wrong|rather",
    contrast=(
        r"^(?P<head>.*?)\bnot (?P<verb>(?:live|work|like|eat|drink|speak|prefer|own|have|use|get|study) )?(?P<old>[^,]+?),? but (?:rather )?(?P<new>.+)$",
        r"^(?P<head>.*?)(?P<new>\S+(?: [ap]\.?m\.?)?), (?:and )?not (?:at |in )?(?P<old>\S+(?: [ap]\.?m\.?)?)$",
    ),
    no_longer=(r"\bno longer\b(?P<kept>)", r"\bnot\b(?P<kept>.*?)\bany ?more\b", r"\bnot\b(?P<kept>.*?)\bany longer\b"),
    negated=r"not|never|no",
    unclear_negation=r"not only|not (?:so|very|really|quite|always|every|all)|hardly|rarely|seldom|almost|nothing|nobody",
    before=r"formerly|previously|back then|in the past",
    momentary=r"right now|today|at the moment|now|currently|tonight|yesterday|tomorrow|just",
    joint=r",?\s+(?:and|but|because)\s+|,\s+|;\s*|\s+[–—-]\s+(?:and\s+)?",
    verbs=(
        r"is|are|am|was|were|lives?|lived|living|works?|worked|gets?|has|have|likes?|loves?|hates?|dislikes?|eats?|drinks?|moved|moves?|moving|went|goes|go|met|saw|visited|bought|came|comes|"
        r"knows?|speaks?|prefers?|uses?|belongs?|started|starts?|start|joined|joins?|turned|turns?|enjoys?|remember|forget|answer|reply|write|feed|"
        r"i'm|he's|she's|it's|we're|they're|don't|doesn't|quit|left|owns?"
    ),
    verbless=r"(?:food|feeding|dinner)\b",
    family=r"mum|mom|dad|mummy|daddy|grandma|grandpa",
    coordination=r",\s*and\s+|,\s*|\s+and\s+|\s*&\s*",
    myself=r"i|me|we|us|myself",
    they=r"he|she|it|him|her|they|them|this",
    mine=r"my|our",
    theirs=r"his|her|their|its",
    role_of=r"of",
    possessive_endings=("'s", "'"),
    articles=r"an?|the",
    not_names=(
        r"i|you|he|she|it|we|they|the|an?|my|your|his|her|our|their|this|that|these|those|yes|no|and|or|but|if|when|what|who|where|how|here|there|so|in|on|at|"
        r"with|from|to|of|for|not|never|always|maybe|also|only|very|everyone|everybody|nobody|someone|something|nothing|all|every|each|some|many|"
        r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow|yesterday|home|town|country|rule|name|weather|life|time|problem|question|"
        r"answer|idea|please|thanks|hello|ok|okay|work|english|german|is|are|am|was|dinner|food|breakfast|which"
    ),
    connectors=r"of|the|de|van|von|upon|and|on|for",
    decided=_DECIDED,
    attributes={
        r"(?:phone |mobile |telephone )?number|phone": "phone", r"e-?mail(?: address)?": "email", r"address": "address",
        r"birthday|date of birth": "born_on", r"age": "age", r"home town|hometown|city": "lives_in", r"employer|job|workplace": "works_at",
        r"profession|occupation": "job_title", r"allergy|allergies": "allergic_to",
    },
    enquiries=(
        (r"where (?P<S>.+?) lives?", "lives_in"), (r"where (?P<S>.+?) works?", "works_at"), (r"how old (?P<S>.+?) (?:is|am)", "age"),
        (r"when (?P<S>.+?) (?:was born|has (?:his|her|their) birthday)", "born_on"),
        (r"when (?P<S>.+?) (?:gets food|is fed|gets fed)", "feeding_time_morning feeding_time_evening"),
        (r"(?P<S>\S+?)(?:'s|')? feeding times?", "feeding_time_morning feeding_time_evening"),
    ),
)  # fmt: skip
