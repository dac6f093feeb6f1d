"""German: what people say about themselves and others, as tables."""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

from curator.extractors.builtin.grammar import Language, Rule, german, roles
from gedaechtnis.common.dates import Lean
from gedaechtnis.memory.schemas import MemoryType

_PLACE = r"(?i:in|im) (?P<O>(?:(?i:der|den|dem) (?=Schweiz|Türkei|Ukraine|Slowakei|Niederlanden|USA|Mongolei))?\S.*?)"
_TO_PLACE = r"(?:(?i:von|aus) \S.*? )?(?i:nach|in die) (?P<O>\S.*?)"
_FIRM = r"(?i:bei|für|beim) (?:(?i:der|dem|den|die|einer) )?(?:(?i:Firma) (?=\S))?(?P<O>\S.*?)"
_HOUSES = r"schule|gymnasium|klinik|klinikum|krankenhaus|universität|theater|museum|institut|akademie|bibliothek"
_EMPLOYER = rf"(?:(?i:bei|für|beim) (?:(?i:der|dem|den|die|einer) )?(?:(?i:Firma) (?=\S))?|(?i:am|im|an der|in der) (?=[A-ZÄÖÜ][^,]*(?i:{_HOUSES})\b))(?P<O>\S.*?)"
_WHOSE = r"(?P<P>(?i:meine?[rnms]?|unsere?[rnms]?|seine?|ihre?)|\S+s|\S+['’])"
_BE = "ist|sind|bin|bist"
_PHONE = r"(?P<O>\+?[\d(][\d\s()/.-]{4,}\d)"
_MAIL = r"(?P<O>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"

_DECIDED = (
    r"(?:Beschluss|Entscheidung|Decision)\s*:\s*\S.*"
    r"|(?P<frame>(?:(?:(?:für|bei|beim|im|in|am|an|nach|heute|gestern|zum|zur|mit|auf|als)\b[^;:]{1,80}|[^,;:]{1,80})\s)?"
    r"(?:wir haben|(?<=\s)haben wir)\b[^;:]*?)\b"
    r"(?:beschlossen|entschieden(?!\s+(?:mehr|weniger|zu (?:viel|wenig))))\b.*"
)

RULES = (
    Rule("decided", "decide", (".*",), memory_type=MemoryType.DECISION),
    Rule("identity", "identify", (r"(?P<S>.+?) (?i:ist|sind|war) (?P<O>.+)", r"(?P<S>.+?) (?i:ist) (?P<O>(?i:mein\w*|unser\w*) \S+) (?i:bei|aus|in) \S.*")),
    Rule("named", "name", german("heiß(?:e|t|en)", r"(?P<O>\S.*?)"), negation="refuse"),
    Rule("my name", "name", (r"(?P<S>Mein) Name ist (?P<O>.+)", r"(?P<S>.+?)(?:s|'s)? Name ist (?P<O>.+)"), negation="refuse"),
    Rule("nickname", "alias", (
        r"(?P<S>.+?) (?i:wird) (?:(?i:von allen|meist) )?(?P<O>\S+) genannt",
        r"(?P<S>.+?) (?i:heißt) (?i:auch) (?P<O>\S+)",
        r"(?i:alle|wir) nennen (?P<S>.+?) (?P<O>[A-ZÄÖÜ]\S+)",
    ), negation="refuse"),
    Rule("has a named animal", "identify_owned", (
        *german("habe|hat|haben", r"(?P<O>(?i:eine?n?) .+?)(?: (?i:namens|mit (?:dem )?Namen)|,? die|,? der|,? das) (?P<N>\S+?)(?: heißt)?"),
    ), negation="refuse"),
    Rule("has named animals", "identify_owned", german("habe|hat|haben", r"(?i:zwei|drei|vier|fünf|\d) (?P<O>\w+)[,:]+ (?P<N>.+)"), negation="refuse"),
    Rule("has an animal", "introduce", german("habe|hat|haben", r"(?P<O>(?i:eine?n?) .+?)"), negation="refuse"),
    Rule("feeding", "feed", (
        *german("bekommt|bekommen|kriegt|kriegen|frisst|hat", r"(?P<T>.*)", ""),
        r"(?P<S>.*?)(?:(?i:wird) )?(?:(?i:gefüttert))(?P<T>)",
        r"(?P<S>.*?),? ?(?i:Futter|Fütterung|Fütterungszeit)(?:(?i: gibt es| ist| gibt's))?(?P<T>)",
        r"(?i:füttere|füttern|fütter) (?:(?i:ich|wir) )?(?P<S>.+?)(?P<T>)",
    ), subject_kind="pet"),
    Rule("address", "describe", (
        *german("wohn(?:e|t|en)|leb(?:e|t|en)", r"(?i:in der|im|am|an der|in|auf der) (?P<O>[A-ZÄÖÜ][^,]*? \d{1,4}[a-z]?(?:,? (?:in )?(?:\d{5} )?[A-ZÄÖÜ]\S+)?)"),
        rf"{_WHOSE} (?i:Adresse|Anschrift) (?i:ist|lautet) (?P<O>.+)",
    ), predicate="address", negation="refuse"),
    Rule("moved", "relate", (
        *german(_BE, _TO_PLACE, "(?:um)?gezogen"), *german("war|waren", _TO_PLACE, "(?:um)?gezogen"),
        *german("zog|zogen", _TO_PLACE), *german("zog|zogen", _TO_PLACE, "um"),
    ), predicate="lives_in", object_kind="place", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("moves", "relate", (*german("zieh(?:e|t|en)", _TO_PLACE, "um"), *german("zieh(?:e|t|en)", _TO_PLACE)),
         predicate="lives_in", object_kind="place", lean=Lean.FUTURE, change=True, needs_date=True, negation="refuse"),
    Rule("lives", "relate", german("wohn(?:e|t|en)|leb(?:e|t|en)", _PLACE), predicate="lives_in", object_kind="place"),
    Rule("lived", "relate", (
        *german("wohnten?|lebten?", _PLACE), *german("habe|hat|haben", _PLACE, "(?:gewohnt|gelebt)"),
    ), predicate="lives_in", object_kind="place", ended=True, lean=Lean.PAST, negation="refuse"),
    Rule("born in", "relate", (*german(f"{_BE}|wurde|wurden", _PLACE, "geboren"), *german("stamm(?:e|t)", r"(?i:aus) (?P<O>\S.*?)")),
         predicate="born_in", object_kind="place", negation="refuse"),
    Rule("changes job", "relate", (
        *german("wechs(?:le|elt|eln)", r"(?:(?i:von) (?P<from>\S.*?) )?(?i:zu|zur) (?P<O>\S.*?)"),
        *german("fang(?:e|en)|fängt|beginn(?:e|t)", _FIRM, "an"), *german("start(?:e|et)", _FIRM),
    ), predicate="works_at", object_kind="organisation", lean=Lean.FUTURE, change=True, negation="refuse"),
    Rule("changed job", "relate", (
        *german(f"{_BE}|habe|hat", r"(?:(?i:von) (?P<from>\S.*?) )?(?i:zu|zur) (?P<O>\S.*?)", "gewechselt"),
        *german("habe|hat|haben", _FIRM, "(?:angefangen|begonnen)"),
    ), predicate="works_at", object_kind="organisation", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("left job", "leave", (
        *german("habe|hat|haben", r"(?i:bei|beim) (?P<O>\S.*?)", "(?:gekündigt|aufgehört)"),
        *german("habe|hat|haben", r"(?P<O>\S.*?)", "verlassen"),
    ), predicate="works_at", object_kind="organisation", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("works as at", "work_as", german("arbeite(?:t|n)?", r"(?i:als) (?P<J>\S+) " + _EMPLOYER), negation="refuse"),
    Rule("works as", "describe", (*german("arbeite(?:t|n)?", r"(?i:als) (?P<O>[A-ZÄÖÜ]\S+)"), *german(_BE, r"(?P<O>[A-ZÄÖÜ]\S+) (?i:von Beruf)")),
         predicate="job_title"),
    Rule("is by profession", "profession", german(_BE, r"(?P<O>[A-ZÄÖÜ]\w+)"), predicate="job_title", negation="refuse"),
    Rule("works", "relate", (*german("arbeite(?:t|n)?|jobb(?:e|t)", _EMPLOYER), *german(_BE, _FIRM, "(?:angestellt|beschäftigt|tätig)")),
         predicate="works_at", object_kind="organisation"),
    Rule("worked", "relate", (*german("arbeiteten?", _EMPLOYER), *german("habe|hat|haben", _EMPLOYER, "gearbeitet"), *german("war|waren", _FIRM, "(?:angestellt|beschäftigt|tätig)?")),
         predicate="works_at", object_kind="organisation", ended=True, lean=Lean.PAST, negation="refuse"),
    Rule("member", "relate", german(f"{_BE}", r"(?i:Mitglied) (?i:im|in der|bei der|bei|beim|der|des|von) (?P<O>\S.*?)"),
         predicate="member_of", object_kind="organisation"),
    Rule("married", "relate", (*german(_BE, r"(?i:mit) (?P<O>\S.*?)", "verheiratet"), *german(_BE, r"(?i:verheiratet mit) (?P<O>\S.*?)")),
         predicate="married_to", object_kind="person"),
    Rule("was married", "relate", german("war|waren", r"(?i:mit) (?P<O>\S.*?)", "verheiratet"),
         predicate="married_to", object_kind="person", ended=True, negation="refuse"),
    Rule("married on", "relate", german("habe|hat|haben", r"(?P<O>\S.*?)", "geheiratet"),
         predicate="married_to", object_kind="person", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("couple", "relate", german(_BE, r"(?i:mit) (?P<O>\S.*?)", "(?:zusammen|liiert)"), predicate="partner_of", object_kind="person"),
    Rule("separated", "leave", german("habe|hat|haben", r"(?i:mich|sich|uns) (?i:von) (?P<O>\S.*?)", "(?:getrennt|scheiden lassen)"),
         predicate="partner_of married_to", object_kind="person", lean=Lean.PAST, change=True, negation="refuse"),
    Rule("friends", "relate", german(_BE, r"(?i:mit) (?P<O>\S.*?)", "befreundet"), predicate="friend_of", object_kind="person"),
    Rule("knows", "relate", german("kenn(?:e|t|en)", r"(?P<O>\S.*?)"), predicate="knows", object_kind="person"),
    Rule("mutual married", "mutual", (r"(?P<S>.+?) sind (?i:miteinander )?(?:verheiratet|ein Ehepaar)",), predicate="married_to"),
    Rule("mutual couple", "mutual", (r"(?P<S>.+?) sind (?:zusammen|ein Paar)",), predicate="partner_of"),
    Rule("mutual siblings", "mutual", (r"(?P<S>.+?) sind (?:Geschwister|Brüder|Schwestern)",), predicate="sibling_of"),
    Rule("mutual friends", "mutual", (r"(?P<S>.+?) sind (?:(?:gute|beste|enge) )?(?:befreundet|Freunde|Freundinnen)",), predicate="friend_of"),
    Rule("mutual colleagues", "mutual", (r"(?P<S>.+?) sind (?:Kollegen|Kolleginnen)",), predicate="colleague_of"),
    Rule("age", "count", german(_BE, r"(?P<O>\d{1,3}|(?i:\w+)(?= (?i:Jahre alt)))(?: (?i:Jahre)(?: (?i:alt))?)?"), predicate="age", negation="refuse"),
    Rule("turns", "count", german("werde|wird|werden", r"(?P<O>\d{1,3})(?: (?i:Jahre)(?: (?i:alt))?)?"),
         predicate="age", lean=Lean.FUTURE, change=True, needs_date=True, negation="refuse"),
    Rule("birthday", "birthday", (
        *german("habe|hat|haben", r"(?P<O>.+?)", "Geburtstag"), *german(f"{_BE}|wurde", r"(?P<O>.*?\d.*?)", "geboren"),
        rf"{_WHOSE} (?i:Geburtstag|Geburtsdatum) ist (?P<O>.+)",
    ), predicate="born_on", dated=True, negation="refuse"),
    Rule("phone", "contact", (
        rf"{_WHOSE} (?:(?i:neue) )?(?i:Telefonnummer|Handynummer|Nummer|Telefon|Handy|Mobilnummer) (?:(?i:ist|lautet) )?(?:(?i:die) )?:? ?{_PHONE}",
        *german("habe|hat", rf"(?i:die|eine) (?:(?i:neue) )?(?i:Telefonnummer|Handynummer|Nummer)[:,]? {_PHONE}"),
        rf"(?P<S>.+?) (?i:ist) (?i:unter) {_PHONE} (?i:erreichbar|zu erreichen)", rf"(?P<S>.+?) (?i:erreicht man|erreichst du) (?i:unter) {_PHONE}",
    ), predicate="phone", dated=True),
    Rule("e-mail", "contact", (
        rf"{_WHOSE} (?:(?i:neue) )?(?i:E-?Mail(?:-?adresse)?|Mailadresse|Mail) (?:(?i:ist|lautet) )?:? ?{_MAIL}",
        *german("habe|hat", rf"(?i:die) (?i:E-?Mail(?:-?adresse)?|Mailadresse) {_MAIL}"),
        rf"(?P<S>.+?) (?i:ist) (?i:unter|per Mail unter) {_MAIL} (?i:erreichbar|zu erreichen)",
    ), predicate="email", dated=True),
    Rule("favourite", "favourite", (rf"{_WHOSE} (?i:Lieblings)(?P<topic>\w+) (?i:ist|sind|heißt) (?P<O>.+)",),
         predicate="favourite", memory_type=MemoryType.PREFERENCE),
    Rule("likes best", "describe", (
        *german("mag|esse|isst|trinke?n?|trinkt|höre|hört|lese|liest", r"(?i:am liebsten) (?P<O>.+?)"),
        r"(?i:am liebsten) (?i:mag|esse|isst|trinke?|trinkt|höre|hört|lese|liest) (?P<S>\S+) (?P<O>.+)",
    ),
         predicate="favourite", memory_type=MemoryType.PREFERENCE),
    Rule("rather", "describe", german("mag|esse|isst|trinke?n?|trinkt|nehme|nimmt|fahre|fährt|lese|liest|höre|hört", r"(?i:lieber) (?P<O>.+?)(?: (?i:als) .+)?"),
         predicate="prefers", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("prefers", "describe", german("bevorzug(?:e|t|en)|präferier(?:e|t|en)", r"(?P<O>.+?)(?: (?i:gegenüber|statt|vor) .+)?"),
         predicate="prefers", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("enjoys", "describe", german("esse|isst|essen|trink(?:e|t|en)|höre|hört|lese|liest|spiel(?:e|t|en)|mach(?:e|t|en)", r"(?i:gerne?|sehr gerne?) (?P<O>.+?)"),
         predicate="likes", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("eats", "describe", (*german("esse|isst|essen|ess", r"(?P<O>.+?)"),
                              *german(_BE, r"(?P<O>(?i:Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan))")),
         predicate="eats", negation="deny", lasting=False),
    Rule("drinks", "describe", german("trink(?:e|t|en)", r"(?P<O>.+?)"), predicate="drinks", negation="deny", lasting=False),
    Rule("likes", "describe", (*german("mag|mögen|liebe|liebt|lieben", r"(?:(?i:gerne?) )?(?P<O>.+?)"),),
         predicate="likes", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("dislikes", "describe", german("hass(?:e|t|en)|verabscheu(?:e|t|en)", r"(?P<O>.+?)"),
         predicate="dislikes", memory_type=MemoryType.PREFERENCE, negation="deny"),
    Rule("interest", "describe", german("interessier(?:e|t|en)", r"(?i:mich|sich|uns) (?i:für) (?P<O>.+?)"), predicate="interest", negation="deny"),
    Rule("speaks", "language", german("sprech(?:e|en)|spricht|kann", r"(?:(?i:fließend|gut|etwas|sehr gut) )?(?P<O>[A-ZÄÖÜ].*?)(?: (?i:sprechen))?"),
         predicate="speaks", negation="deny"),
    Rule("allergic", "describe", (
        *german(_BE, r"(?i:allergisch) (?i:gegen|auf) (?P<O>.+?)"), *german(_BE, r"(?i:gegen|auf) (?P<O>.+?)", "allergisch"),
        *german("habe|hat|haben", r"(?i:eine) (?P<O>\w+?)-?(?i:allergie)"), *german("habe|hat|haben", r"(?i:eine Allergie gegen) (?P<O>.+?)"),
    ), predicate="allergic_to"),
    Rule("does not tolerate", "intolerance", german("vertrage|verträgt|vertragen", r"(?P<O>.+?)"), predicate="allergic_to"),
    Rule("belongs", "own", (r"(?P<O>.+?) (?i:gehört|gehören) (?P<S>.+)", r"(?i:dass )?(?P<O>.+?) (?P<S>mir|uns) gehört"), predicate="owned_by"),
    Rule("has a device", "device", (
        *german("habe|hat|haben|besitz(?:e|t|en)", r"(?i:eine?n?) (?P<O>.+?)"), rf"{_WHOSE} (?i:neues )?(?i:Handy|Telefon|Laptop|Notebook|Tablet|Computer|Rechner|Auto|E-?Reader|Uhr) ist (?i:eine?n?) (?P<O>.+)",
    ), predicate="owned_by", object_kind="device"),
    Rule("uses a device", "device", german("nutz(?:e|t|en)|benutz(?:e|t|en)|verwend(?:e|et|en)", r"(?:(?i:eine?n?|das|den|die|mein|sein|ihr) )?(?P<O>.+?)"),
         predicate="uses_device", object_kind="device"),
    Rule("rule", "policy", (r"(?i:Regel)\s*: ?(?P<O>.+)", r"(?P<O>.*)"), predicate="policy_rule", memory_type=MemoryType.POLICY),
    Rule("routine", "describe", german(r"\w+", r"(?P<O>(?i:jede[nrsm]?) (?i:Tag|Morgen|Mittag|Abend|Nacht|Woche|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)\b.*?|(?i:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags)\b.*?)"),
         predicate="routine", memory_type=MemoryType.PREFERENCE, dated=True, negation="refuse"),
    Rule("decision", "describe", tuple(
        rf"(?!.*\b(?i:wir haben|haben wir)\b){form}"
        for form in (*german("habe|haben", r"(?i:mich|uns) (?i:für) (?P<O>.+?)", "entschieden"), *german("habe|haben", r"(?P<O>.+?)", "beschlossen"))
    ),
         predicate="decision", memory_type=MemoryType.DECISION, negation="refuse"),
    Rule("mentioned", "mention", (
        r"(?:.*? )?(?P<O>(?i:meine?[nrms]?|unsere?[nrms]?) (?:[a-zäöüß]+ ){0,2}[A-ZÄÖÜ]\w+ [A-ZÄÖÜ][\w-]*)(?:[ ,].*)?",
    ), dated=True, negation="deny"),
)  # fmt: skip


GERMAN = Language(
    code="de",
    rules=RULES,
    roles=roles("de"),
    rewrites=(
        (r"\b(bei der|für die) ((?-i:[A-ZÄÖÜ])\w+)en (?=(?-i:[A-ZÄÖÜ]))", r"\1 \2e "),
        (r"\b(kann|kannst|können) (.+?) nicht (?:leiden|ausstehen|riechen)", r"hasst \2"),
        (r"\bweder (.+?) noch (.+)", r"nicht \1 und \2"),
        (r"^([A-ZÄÖÜ]\S+), ((?:mein|unser)\w* [^,]+), ", r"\2 \1 "),
    ),
    openers=r"also|übrigens|ja|okay|ok|oh|ach|achso|hey|hallo|hi|moin|na ja|naja|na|und|aber|danke|gut|super|alles klar|genau|stimmt|so|bitte|fyi|info|zur info|ps|dass|außerdem|nur damit du(?:'s| es) weißt",
    fillers=r"übrigens|ja|doch|halt|eben|auch|schon|jetzt|inzwischen|mittlerweile|nun|eigentlich|tatsächlich|wirklich|noch|sehr|total|zurzeit|momentan|derzeit|leider|endlich|bitte|immer noch|weiterhin|gerade",
    remember=r"(?:bitte )?(?:merke?(?:'s)?(?: dir)?(?: es| das)?(?: bitte)?(?: mal)?|notiere?(?: dir)?(?: bitte)?|denke? (?:bitte )?daran|denk dran|behalte|wichtig)\b[,:.!]?\s*(?:dass\s+)?",
    forget=r"(?:bitte )?(?:vergiss|vergesse|lösche?|streiche?)\b(?: bitte| wieder)*,?\s*(?:dass\s+)?|das (?:kannst du|bitte) (?:wieder )?(?:vergessen|löschen)\b",
    forget_last=r"(?:das|es|dies|das bitte|das wieder|es wieder|das letzte|die letzte nachricht|was ich (?:eben|gerade) gesagt habe)?",
    correction=r"nein|nee|nö|falsch|das war falsch|(?:das )?stimmt (?:so )?nicht|das ist (?:falsch|nicht richtig)|quatsch|unsinn|korrektur|korrigiere|sorry|entschuldigung|moment|ich meine|ich meinte|eigentlich|doch nicht|ich habe mich (?:vertan|geirrt)|sondern",
    contrast=(
        r"^(?P<head>.*?)\bnicht(?: mehr)? (?P<old>[^,]+?),? sondern (?P<new>.+)$",
        r"^(?P<head>.*?)\bkeine?n? (?P<old>[^,]+?),? sondern (?P<new>.+)$",
        r"^(?P<head>.*?)(?P<new>\S+(?: uhr)?), (?:und )?nicht (?:erst )?(?:um |in |bei )?(?P<old>\S+(?: uhr)?)$",
    ),
    no_longer=(r"\b(?:nicht|kein(?:e[nmrs]?)?)\b(?P<kept>.*?)\bmehr\b",),
    negated=r"nicht|kein(?:e[nmrs]?)?|nie(?:mals)?|keinerlei",
    unclear_negation=r"nicht nur|nicht (?:so |sehr |ganz |immer |jede)|nicht unbedingt|kaum|selten|fast|nicht alle|nichts|niemand",
    before=r"früher|ehemals|einst|damals|vorher",
    momentary=r"gerade|grade|heute|jetzt|momentan|im moment|nachher|gleich|eben|gestern|morgen",
    joint=r",?\s+(?:und|aber|denn|doch|sondern)\s+|,\s+|;\s*|\s+[–—-]\s+(?:und\s+)?",
    verbs=(
        r"ist|sind|bin|war|waren|hei(?:ß|ss)(?:e|t|en)|wohn\w*|leb(?:e|t|en|te|ten)|arbeite\w*|bekommt|bekommen|kriegt|frisst|hat|habe|haben|"
        r"mag|mögen|lieb(?:e|t|en)|hass(?:e|t|en)|isst|esse|essen|trink(?:e|t|en)|zieh(?:e|t|en)|zog|kommt?|komme|gehe?|geht|ging|traf|getroffen|kauf\w*|fahre|fährt|mach(?:e|t|en)|wei(?:ß|ss)|spiel\w*|gehört|spricht|sprech(?:e|en)|kenn(?:e|t|en)|"
        r"bevorzug\w*|nutz(?:e|t|en)|benutz(?:e|t|en)|wird|wurde|werde|fang(?:e|en)|fängt|wechs(?:le|elt)|interessier\w*|start(?:e|et)|"
        r"füttere|merk\w*|vergiss|antworte|schreib\w*|sprich"
    ),
    verbless=r"(?:futter|fütterung)\b",
    family=r"mama|papa|mutti|vati|oma|opa",
    coordination=r",\s*und\s+|,\s*|\s+und\s+|\s+sowie\s+|\s*&\s*",
    myself=r"ich|mir|mich|wir|uns",
    they=r"er|sie|ihm|ihr|ihn|ihnen|der|die|dieser|diese",
    mine=r"mein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?",
    theirs=r"sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|deren|dessen",
    role_of=r"von|vom",
    possessive_endings=("’s", "'s", "s", "’", "'"),
    articles=r"ein(?:e[nmrs]?)?|der|die|das|dem|den",
    not_names=(
        r"ich|du|er|sie|es|wir|ihr|der|die|das|den|dem|des|ein(?:e[nmrs]?)?|mein(?:e[nmrs]?)?|dein(?:e[nmrs]?)?|sein(?:e[nmrs]?)?|"
        r"unser(?:e[nmrs]?)?|euer|eure|kein(?:e[nmrs]?)?|ja|nein|und|oder|aber|wenn|als|dass|was|wer|wo|wie|hier|dort|da|so|in|im|am|um|bei|mit|nach|von|zu|auf|"
        r"dies(?:e[nmrs]?)?|jede[nmrs]?|alle[nmrs]?|heute|gestern|morgen|immer|nie|vielleicht|auch|nur|sehr|man|niemand|jemand|etwas|nichts|viel(?:e[nmrs]?)?|"
        r"montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|futter|hause|zuhause|wohnung|haus|stadt|land|nähe|innenstadt|homeoffice|urlaub|büro|"
        r"regel|name|uhr|jahre?|wetter|leben|liebe|zeit|problem|frage|antwort|idee|bitte|danke|hallo|ordnung|arbeit|firma|wg|adresse|telefonnummer|nummer|bett|"
        r"rente|ruhe|freude|deutsch|englisch|geburtstag|mama|papa|oma|opa|ist|sind|hat|haben|einer|eltern|fest|dorf|ausland|norden|süden|osten|westen|"
        r"zentrum|hotel|garten|keller|schule|uni|kita|krankenhaus|freunde?n?|ferien"
    ),
    connectors=r"von|van|de|der|den|am|an|ob|bei|zu|zur|und|im|of",
    decided=_DECIDED,
    attributes={
        r"telefonnummer|handynummer|nummer|telefon": "phone", r"e-?mail(?:-?adresse)?|mailadresse|mail": "email",
        r"adresse|anschrift": "address", r"geburtstag|geburtsdatum": "born_on", r"alter": "age", r"wohnort": "lives_in",
        r"arbeitgeber|arbeitsplatz|job": "works_at", r"beruf": "job_title", r"allergie|allergien": "allergic_to",
    },
    enquiries=(
        (r"wo (?P<S>.+?) (?:wohn\w*|leb\w*)", "lives_in"), (r"wo (?P<S>.+?) arbeite\w*", "works_at"),
        (r"wie alt (?P<S>.+?) (?:ist|bin)", "age"), (r"wann (?P<S>.+?) (?:geburtstag hat|geboren ist)", "born_on"),
        (r"wann (?P<S>.+?) (?:futter|gefüttert).*", "feeding_time_morning feeding_time_evening"),
        (r"(?P<S>\S+?)(?:s|'s|’s|’)? (?:futterzeit|fütterungszeit|futterzeiten)", "feeding_time_morning feeding_time_evening"),
    ),
)  # fmt: skip
