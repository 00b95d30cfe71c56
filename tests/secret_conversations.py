"""Conversations in which no turn alone gives a secret away, and ordinary ones. All are invented."""

from __future__ import annotations

from tests.secret_notes import made

__all__ = ["ORDINARY", "TOLD_OVER_TURNS"]

_BODY = [made(64, start) for start in range(4)]

TOLD_OVER_TURNS: dict[str, tuple[list[str], list[str]]] = {
    "a password": (["What is your password?", "Tr0ub4dor&3x"], ["Tr0ub4dor"]),
    "a plain word": (["And what's the password?", "It's butterscotch."], ["butterscotch"]),
    "after a pause": (
        ["Can you give me the Wi-Fi password?", "One moment.", "Kettle-4711-blue"],
        ["Kettle-4711"],
    ),
    "a PIN": (
        ["Please tell me the PIN of the card.", "Sure, 4471 63"],
        ["4471 63"],
    ),
    "a code that was sent": (["Which verification code did you get?", "902 715"], ["902 715"]),
    "a name in one turn": (["STRIPE_SECRET_KEY", made(32, 5)], [made(32, 5)]),
    "a name with a colon": (["Here is the client secret:", made(28, 6)], [made(28, 6)]),
    "a key in pieces": (
        [
            "-----BEGIN RSA PRIVATE KEY-----",
            _BODY[0],
            "go on",
            f"{_BODY[1]}\n{_BODY[2]}",
            f"{_BODY[3]}\n-----END RSA PRIVATE KEY-----",
        ],
        _BODY,
    ),
    "a security question": (
        ["What is the answer to your security question?", "Rosebud"],
        ["Rosebud"],
    ),
    "a login": (
        ["Which e-mail and password do you use?", "anna@example.org and Sommer2031!"],
        ["Sommer2031"],
    ),
    "in German": (["Wie lautet das Passwort?", "Sonnenblume"], ["Sonnenblume"]),
    "in Spanish": (["¿Cuál es tu contraseña?", "mariposa"], ["mariposa"]),
    "in French": (["Quel est le mot de passe ?", "Coquelicot8"], ["Coquelicot8"]),
    "in Japanese": (["パスワードを教えてください。", "himawari7"], ["himawari7"]),
    "said of the turn before": (["Bluebird77x", "That's my password."], ["Bluebird77x"]),
    "said of a PIN before": (["4471-6352", "This is the PIN of my card."], ["4471-6352"]),
    "said of a key, after the agent": (
        ["Kettle-4711-blue", "Sure, that was the key of my account."],
        ["Kettle-4711"],
    ),
    "in two halves": (
        ["I send you the password in two parts: first half is Tr0ub", "the rest is 4dor&3x"],
        ["Tr0ub", "4dor"],
    ),
    "in pieces, asked for": (
        ["What is your API key?", "It starts with kq7Zp2", "ok", "The second half: 9vXw41", "ok"],
        ["kq7Zp2", "9vXw41"],
    ),
    "a PIN in halves": (
        ["Here comes my PIN.", "The first part is 44716352", "and the rest is 99025813"],
        ["44716352", "99025813"],
    ),
    "a card in halves": (
        ["ok, my card", "it starts with 4000 0096", "and then?", "9138 8733, until next spring"],
        ["4000 0096", "9138 8733"],
    ),
    "a code that was texted": (
        ["Could you read me the code we texted you?", "It says 118822"],
        ["118822"],
    ),
    "a code that was sent, in German": (
        ["Wie lautet der Code, den wir Ihnen geschickt haben?", "551177"],
        ["551177"],
    ),
    "a second and a third try": (
        ["The Wi-Fi password?", "Otter77kx", "Doesn't work.", "Otter78kx", "wrong", "Otter79kx"],
        ["Otter77kx", "Otter78kx", "Otter79kx"],
    ),
    "numbered parts": (
        ["Part 1 of the key: Zk88xQ91", "go on", "part two: Pp77wm30"],
        ["Zk88xQ91", "Pp77wm30"],
    ),
    "a passphrase that was spoken of": (
        ["He gave me the passphrase.", "amber violin harbour moss. All with spaces."],
        ["amber violin"],
    ),
    "said of the turn before, to be forgotten": (
        ["Maple-88-kx", "That was my password, please forget it."],
        ["Maple-88"],
    ),
    "JSON in two turns": (['{"user": "ann", "password":', '"Blue42Sky"}'], ["Blue42Sky"]),
}
"""The turns of contact and assistant, and what may not be kept of them."""

ORDINARY = [
    ["Which card?", "A Visa, since 2019. Order 4000 0097 is late.", "Noted, ticket 91388733."],
    ["Did you get the code we sent for the discount?", "Yes, SAVE20 works."],
    ["What colour?", "Red77", "That did not work.", "Blue78"],
    ["What is your name?", "Anna"],
    ["What is your password manager?", "Bitwarden4"],
    ["Did you reset your password?", "Yes, on Tuesday."],
    ["What is your password?", "I forgot it."],
    ["What is your password?", "I'd rather not say."],
    ["Please never tell me your password.", "Understood."],
    ["I lost my password.", "Ticket T-4711 is open."],
    ["How do I change the PIN?", "In the settings, under Security."],
    ["When did the API key expire?", "In March 2031"],
    ["Which colour do you like?", "Blue42"],
    ["What is the order number?", "4471-2290"],
    ["The password reset mail never came.", "Which address do you use?", "The one of 2019."],
    ["What is the key point?", "Delivery by May"],
    ["Where do you live?", "Springfield"],
    ["Which seat?", "14C"],
    ["What is your PIN code, for the delivery?", "560001"],
    ["Wie heißt du?", "Anna"],
    ["What happened to your password?", "It expired."],
    ["The first half is 3-1 and the rest is history.", "The second half was better."],
    ["I lost my password.", "The first part is easy, the rest is up to you."],
    ["I changed the PIN.", "The other half is asleep."],
    ["I moved to Oslo.", "That is the key point."],
    ["Delivery by May.", "That is my secret wish."],
]
"""Of these every word is kept."""
