#!/usr/bin/env bash
# standardwebhooks 1.1.0.
#
# Most engineers expect that sign() takes an aware datetime as the moment it
# is, so that ten o'clock at +02:00 and eight o'clock UTC give one signature.
#
# Seen: the zone is replaced by UTC, not converted: ten o'clock at +02:00 is
# signed as ten o'clock UTC. A webhook that was signed with a local time
# fails verify() of the same package, since the header has the right second.
#
# Why it matters: a sender that passes datetime.now().astimezone() works on a
# machine set to UTC and sends nothing but rejected webhooks on any other.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'standardwebhooks==1.1.0'

cat > check.py <<'PY'
from datetime import datetime, timedelta, timezone

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(b"an example")
plus_two = timezone(timedelta(hours=2))
eight = datetime(2026, 1, 1, 8, 0, tzinfo=timezone.utc)
same_moment = eight.astimezone(plus_two)
ten = datetime(2026, 1, 1, 10, 0, tzinfo=timezone.utc)


def sign(moment):
    return webhook.sign("msg_1", moment, "{}")


print("10:00+02:00 is 08:00 UTC:", same_moment == eight)
print("signed alike:", sign(same_moment) == sign(eight))
print("signed as 10:00 UTC:", sign(same_moment) == sign(ten))

now = datetime.now(timezone.utc)
for zone in (timezone.utc, plus_two):
    moment = now.astimezone(zone)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": sign(moment),
    }
    try:
        print(f"signed with {zone}: verified, {webhook.verify('{}', headers)}")
    except WebhookVerificationError as error:
        print(f"signed with {zone}: {error}")
PY

cat > expected.txt <<'TXT'
10:00+02:00 is 08:00 UTC: True
signed alike: False
signed as 10:00 UTC: True
signed with UTC: verified, {}
signed with UTC+02:00: No matching signature found
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
