"""Words that say nothing about what a text is about, in German and English."""

from __future__ import annotations

# Umlauts both as typed and as `ae`: a keyboard without them is common.
_GERMAN_WORDS = """
aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus bei beim bin
bis bist da dabei dadurch dafuer dafür dagegen daher dahin damals damit danach daneben dann daran darauf daraus darf
darin darueber darum darunter darüber das dass davon davor dazu daß dein deine deinem deinen deiner deines dem den
denen denn der deren des deshalb dessen dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch
dort du durch eben ein eine einem einen einer eines einige einigen einiger einiges einmal er es etwa etwas euch euer
eure eurem euren eurer fuer für gar gegen gewesen gib gibt ging hab habe haben hast hat hatte hatten hattest hier
hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes
jener jenes jetzt kann kannst kein keine keinem keinen keiner keines koennen koennte konnte können könnte machen mal
man manche manchem manchen mancher manches mehr mein meine meinem meinen meiner meines mich mir mit muss musste muß
nach naemlich nein nicht nichts noch nun nur nämlich ob oder ohne schon sehr sein seine seinem seinen seiner seines
seit selbst sich sie sind so sogar solche solchem solchen solcher soll sollte sollten sondern sonst ueber um und uns
unser unsere unserem unseren unserer unter vom von vor waehrend wann war waren warst warum was weg weil welche
welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir wird
wirst wo woher wohin wollen wollte womit worden wozu wuerde wuerden wurde wurden während würde würden zu zum zur
zwar zwischen über
"""

_ENGLISH_WORDS = """
a about above after again against all also am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
further had hadn't has hasn't have haven't having he her here hers herself him himself his how i if in into is isn't
it its itself just let let's me more most mustn't my myself no nor not of off on once only or other ought our ours
ourselves out over own same shan't she should shouldn't so some such than that the their theirs them themselves then
there these they this those through to too under until up us very was wasn't we were weren't what when where which
while who whom whose why will with won't would wouldn't you your yours yourself yourselves
"""

GERMAN = frozenset(_GERMAN_WORDS.split())
ENGLISH = frozenset(_ENGLISH_WORDS.split())
