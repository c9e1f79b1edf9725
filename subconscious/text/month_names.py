"""The names of the months in other languages than English, in the form that they have after a day: "3. ledna"."""

from __future__ import annotations

_NAMES = (
    "januar februar märz april mai juni juli august september oktober november dezember",  # German
    "jänner feber maerz apr. mai jun. jul. aug. sept. okt. nov. dez.",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",  # French
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",  # Spanish
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",  # Portuguese
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",  # Italian
    "januari februari maart april mei juni juli augustus september oktober november december",  # Dutch
    "januari februari mars april maj juni juli augusti september oktober november december",  # Swedish
    "januar februar marts april maj juni juli august september oktober november december",  # Danish
    "januar februar mars april mai juni juli august september oktober november desember",  # Norwegian
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",  # Polish
    "ledna února března dubna května června července srpna září října listopadu prosince",  # Czech
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta"
    " marraskuuta joulukuuta",  # Finnish
    "jan. feb. mrz. april mai juni juli august sep. october november dec.",  # abbreviated, or English with a stop
)

MONTH_NUMBERS = {
    name.removesuffix("."): number for names in _NAMES for number, name in enumerate(names.split(), start=1)
}
"""Maps the name of a month, in small letters, to its number."""

DATE_NAMES = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
"""The alternatives of a pattern that matches any name in ``MONTH_NUMBERS``."""

MONTH_NAMES = "|".join(sorted((*MONTH_NUMBERS, "january", "february"), key=len, reverse=True))
"""The alternatives of a pattern that matches the name of a month after an ordinal.

English names that are common words ("may", "march") are left out.
"""
