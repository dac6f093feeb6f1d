"""Word lists of both languages that the builders look into: what is food, a device, a language, a command."""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

import re

DEICTIC = re.compile(
    r"(?:es|das|dies\w*|dich|dir|euch|ihn|sie|ihr|mich|mir|dein\w*|eure?\w*|die|der|den|wie|was|wenn|dass|alles|nichts|ich|hier|"
    r"it|that|this|these|those|you|your|him|her|them|the|how|what|when|to be|me|my|everything|nothing|here|a lot|much|well|viel|wenig|gut|schlecht|too)\b",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"^(?:eine?[nmrs]?|an?|some|any)\s+", re.IGNORECASE)
CLAUSE_INSIDE = re.compile(r"\b(?:dass|weil|wenn|ob|wie|because|that|which|who|und|and|if)\b|[;:?!]", re.IGNORECASE)
HABIT = re.compile(
    r"\b(?:immer|nur|viel|oft|meistens?|täglich|jeden|regelmäßig|only|every|always|usually|often|a lot)\b",
    re.IGNORECASE,
)
FOOD = re.compile(
    r"\b(?:ihr|sein|das|her|his|its|their)?\s*(?:Katzenfutter|Hundefutter|Futter|Fressen|Essen|gefüttert|food|fed|dinner|breakfast|feeding)\b",
    re.IGNORECASE,
)
FED = re.compile(
    r"\b(?:\w*futter|fressen|frisst|gefüttert|füttere?|fütterungs?\w*|food|fed|feeds?|feeding\w*|dinner)\b",
    re.IGNORECASE,
)
SMALL = re.compile(
    r"\b(?:um|erst|schon|gegen|at|around|und|and|zu|täglich|jeden tag|every day|daily|is|ist|gibt es|immer|always|am|in the|only|not until)\b|[,.:]",
    re.IGNORECASE,
)
DEVICE = re.compile(
    r"\b(?:iphone|fairphone|pixel|galaxy|macbook|imac|ipad|thinkpad|kindle|raspberry|tesla|surface|xperia|oneplus|nokia|chromebook|"
    r"playstation|xbox|switch|steam deck|homepod|echo|sonos|garmin|fitbit|apple watch|airpods|kobo|tolino|framework|dell|lenovo|"
    r"asus|samsung|huawei|xiaomi|motorola|vw|bmw|audi|golf|polo|skoda|toyota|renault|opel)\b",
    re.IGNORECASE,
)
LANGUAGES = re.compile(
    r"(?:deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|niederländisch|polnisch|russisch|ukrainisch|türkisch|arabisch|"
    r"chinesisch|japanisch|koreanisch|griechisch|schwedisch|dänisch|norwegisch|finnisch|tschechisch|ungarisch|rumänisch|persisch|farsi|"
    r"german|english|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|chinese|mandarin|japanese|korean|"
    r"greek|swedish|danish|norwegian|finnish|czech|hungarian|romanian|persian|hindi|hebräisch|hebrew)",
    re.IGNORECASE,
)
IMPERATIVES = re.compile(
    r"(?:bitte |please )?(?:immer |nie |niemals |always |never |do not |don't )?(?:antworte|schreib|schreibe|sprich|nutze?|benutze?|verwende|frage?|schicke?|sende|rufe?|sage?|zeige?|gib|mache?|nimm|"
    r"erinnere?|wecke?|lass|halte|formuliere|erstelle|fasse|duze?|sieze?|erwähne|stelle?|schalte|buche|plane|bestelle|speichere?|öffne|nenne?|rede|"
    r"answer|reply|respond|write|use|speak|talk|call|send|tell|ask|show|give|keep|let|make|remind|address|format|summari[sz]e|mention|turn|book|order|"
    r"switch|open|save|wake|include|add|avoid)\b",
    re.IGNORECASE,
)
INFINITIVE_RULE = re.compile(r"(?:bitte )?(?:immer|nie|niemals|grundsätzlich) .+ (?:\w+en)", re.IGNORECASE)
ALWAYS = re.compile(
    r"\b(?:immer|nie|niemals|grundsätzlich|stets|always|never|ab jetzt|ab sofort|künftig|from now on)\b", re.IGNORECASE
)
WISH = re.compile(r"(?:ich (?:will|möchte),? dass du|i want you to|you should|you must|du sollst) ", re.IGNORECASE)
DIAL = {
    "Europe/Berlin": "49",
    "Europe/Vienna": "43",
    "Europe/Zurich": "41",
    "Europe/London": "44",
    "America/New_York": "1",
}
PROFESSIONS = re.compile(
    r"(?:lehrer|ärztin|arzt|ingenieur|architekt|anwält|anwalt|bäcker|koch|köch|tischler|schreiner|maler|elektriker|polizist|pilot|pfleger|erzieher|"
    r"programmierer|entwickler|informatiker|physiker|chemiker|biolog|psycholog|journalist|fotograf|musiker|schauspieler|autor|designer|berater|"
    r"verkäufer|friseur|gärtner|landwirt|bäuer|richter|apotheker|hebamme|krankenschwester|student|rentner|schreiner|schlosser|mechaniker|mechatroniker|"
    r"buchhalter|steuerberater|sekretär|bibliothekar|professor)(?:in|e|e?n)?"
    r"|teacher|doctor|engineer|architect|lawyer|baker|cook|chef|carpenter|painter|electrician|pilot|nurse|programmer|developer|physicist|chemist|"
    r"biologist|psychologist|journalist|photographer|musician|actor|actress|author|writer|designer|consultant|hairdresser|gardener|farmer|judge|"
    r"pharmacist|midwife|student|mechanic|accountant|librarian|professor|scientist|plumber|dentist|vet|artist",
    re.IGNORECASE,
)

DECIDING = frozenset(
    ["beschlossen", "entschieden", "beschluss", "entscheidung", "decided", "chose", "agreed", "decision"]
)
"""Words that tell that something was decided, and not what."""
