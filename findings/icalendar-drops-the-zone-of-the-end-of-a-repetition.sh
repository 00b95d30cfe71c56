#!/usr/bin/env bash
# icalendar 7.3.2, with recurring-ical-events 3.8.2.
#
# Most engineers expect that an aware datetime in UNTIL is written as the instant
# it is, in UTC, as the standard asks, or that it is refused.
#
# Seen: the zone is dropped and the clock is kept, so 04:00 in New York is written
# as 20260103T040000 and ends a daily meeting in Berlin at ten a day too early.
# Only a datetime in UTC is written as an instant, while DTSTART keeps its zone
# and DTSTAMP is converted to UTC.
#
# Why it matters: who sets the end in a zone other than the meeting's loses the
# last one, or gets one more, without a warning; in one zone only it works, so
# tests pass.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'icalendar==7.3.2' 'recurring-ical-events==3.8.2'

cat > check.py <<'PY'
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events

berlin, new_york = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
last = datetime(2026, 1, 3, 9, tzinfo=UTC)
for until in (last, last.astimezone(berlin), last.astimezone(new_york)):
    calendar, event = icalendar.Calendar(), icalendar.Event()
    event.add("uid", "1")
    event.add("dtstamp", last.astimezone(new_york))
    event.add("dtstart", datetime(2026, 1, 1, 10, tzinfo=berlin))
    event.add("rrule", {"freq": "daily", "until": until})
    calendar.add_component(event)
    written = calendar.to_ical()
    read = icalendar.Calendar.from_ical(written)
    days = [each.start for each in recurring_ical_events.of(read).between((2026, 1, 1), (2026, 2, 1))]
    print("until", until.isoformat(), "which is the same instant:", until == last)
    print(*(line for line in written.decode().splitlines() if line.startswith(("DTST", "RRULE"))), sep="\n")
    print("meetings:", *sorted(f"{day:%d}" for day in days))
PY

cat > expected.txt <<'TXT'
until 2026-01-03T09:00:00+00:00 which is the same instant: True
DTSTART;TZID=Europe/Berlin:20260101T100000
DTSTAMP:20260103T090000Z
RRULE:FREQ=DAILY;UNTIL=20260103T090000Z
meetings: 01 02 03
until 2026-01-03T10:00:00+01:00 which is the same instant: True
DTSTART;TZID=Europe/Berlin:20260101T100000
DTSTAMP:20260103T090000Z
RRULE:FREQ=DAILY;UNTIL=20260103T100000
meetings: 01 02 03
until 2026-01-03T04:00:00-05:00 which is the same instant: True
DTSTART;TZID=Europe/Berlin:20260101T100000
DTSTAMP:20260103T090000Z
RRULE:FREQ=DAILY;UNTIL=20260103T040000
meetings: 01 02
TXT

venv/bin/python -I check.py > seen.txt 2> errors.txt || cat errors.txt >> seen.txt
cat seen.txt
if diff -u expected.txt seen.txt > difference.txt; then
    echo "As described."
else
    cat difference.txt
    echo "This has changed: the output is not the one described above."
    exit 1
fi
