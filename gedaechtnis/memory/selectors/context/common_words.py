"""German and English words that people and pets are called by, and that mostly mean something else."""

from __future__ import annotations

_WORDS = """
adler april august bach bauer baum berg blank blume braun ernst esel falk falke felix fink fischer frank frei freund
frost fuchs gabel gold graf grau groß gross grün gruen hahn hase heide held heller herbst herzog hirsch hirt holz hund
huhn jäger jaeger jung junge kaiser kater katze klee klein koch kohl könig koenig krause krug kuhn kunst kurz lang
lange lerche linde löwe loewe mai mais mann maria maurer meister mohn mond morgen müller mueller nacht nagel neu neumann
nelke otter papst perle pfau pfeffer prinz rabe reich richter ritter rose roth rot sand schatz schäfer schaefer
schmidt schmied schneider schnell schön schoen schreiber schulze schuster schwan schwarz sommer sonne sonntag spatz
stark stein stern storch strauß strauss tag tanne teufel tiger tinte vogel vogt wagner wald weber weide weiß weiss
winter wirt wolf wolke zander zimmermann zucker

alder amber amy angel art ash autumn baker barber basil bay bear bell berry bill biscuit bishop blossom blue bob bond
book brown buck bud bush butler buttons candy carol carter cash chance charity chase cherry chip chuck clay clement
cliff clover cole cook cookie cooper coral cruz daisy dale dash dawn dean destiny dick dixie dolly don drew duke earl
eve faith fern finn fisher forest fox frank frost gene ginger glen grace grant gray green guy hank harmony harry hazel
heath heather heaven holly honey hope hunter iris ivy jack jade jasmine jay jean jet jewel joy june kat king lance lane
laurel lee liberty light lily long lord luck mark mason max may melody mercy miles miller misty more nick noble norm
oak olive opal page paris parker parson pat patience pearl peg penny pepper piper porter pound price prince princess
prudence queen rain ray red reed rich river rob robin rock rocky rod rose rosemary rowan ruby rusty sage sandy shade sky
skip smith snow sonny spring stew sterling stone storm strong sue summer sunny tanner taylor tiger tom trinity turner
victor viola violet wade walker ward warren wave west white will willow wish wolf wood woods young
"""

COMMON_WORDS = frozenset(_WORDS.split())
