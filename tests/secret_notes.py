"""Notes that give a secret away, and notes that only speak of one. All of them are invented.

What looks like a key is put together here from parts, so that no scanner takes it for a real one.
The notes at even places were looked at while the patterns were written; those at odd places were
kept aside, and say how well the patterns do on what they were not written from.
"""

from __future__ import annotations

import random
import string

__all__ = ["HARMLESS", "SECRETS", "made"]

_WORDS = "ribbon copper otter violet anchor magnet walnut timber saddle lantern pepper glacier"
_HEX, _LETTERS = "0123456789abcdef", string.ascii_letters + string.digits
_BASE64 = _LETTERS + "+/"


def _made(length: int, letters: str = _LETTERS) -> str:
    """A key of so many characters, the same at every run, with a digit near its start."""
    drawn = random.Random(f"{length}{letters}").choices(letters, k=length)
    drawn[1] = "7" if "7" in letters else drawn[1]
    return "".join(drawn)


def made(length: int, number: int) -> str:
    """A key of letters and digits, another one for each number."""
    drawn = random.Random(number).choices(_LETTERS, k=length - 3)
    return "".join(("k7Q", *drawn))


def _note(pattern: str, secret: str) -> tuple[str, str]:
    return pattern.replace("…", secret), secret


_ENGLISH = [
    # Told in a sentence
    _note("The passphrase is … for the backup disk.", "velvet harbour ticket"),
    _note("Passphrase for her laptop: …", "orange kettle marmot"),
    _note("The passphrase is ….", "correct horse battery staple"),
    _note("The password? It's …", "Bluebird"),
    _note("His password? …", "Gr4nite77"),
    _note("Password, if you need it: …", "sunny-otter-9"),
    _note("As for the password, it is …", "Kestrel88"),
    _note("Use … to log in to the portal.", "maple#Tree21"),
    _note("Log in with … as the password.", "winterwolf"),
    _note("She logs in with anna@example.org and …", "Sommer2031!"),
    _note("Username bob, password …", "hunter22"),
    _note("Her login is anna and her password is …", "butterscotch"),
    _note("The Wi-Fi password at the office is …", "welcomehome"),
    _note("wifi: GuestNet / …", "pinecone42"),
    _note("WLAN key …", "zebra-crossing-17"),
    _note("His computer unlocks with …", "Trombone5"),
    _note("The phone's passcode is … .", "8052"),
    _note("The laptop opens with the PIN …", "493817"),
    _note("Backup code is …", "7193-4420"),
    _note("Her recovery codes are … and 5521-8830.", "9034-1172"),
    _note("Backup codes: …, 48211930, 77310245", "83920114"),
    _note("The 2FA code was …", "620914"),
    _note("Her one-time code is … today.", "301 774"),
    _note("Answer to the security question: …", "Rosebud"),
    _note("Her security question's answer is …", "Grandma Edna"),
    _note("The answer to her secret question (first pet) is …", "Biscuit"),
    _note("Mother's maiden name for the bank's verification: …", "Fitzwilliam"),
    _note("Telephone banking password is …", "marigold"),
    _note("The verbal password with the alarm company is …", "pelican"),
    _note("The safe word for account changes is …", "tangerine"),
    _note("The admin pw is …", "letmein99"),
    _note("pw: …", "correcthorse"),
    _note("PW for the router = …", "admin4321"),
    _note("root pass is …", "toor2031x"),
    _note("creds: admin / …", "s3cr3tSauce"),
    _note("Credentials for staging: demo / …", "Demo!2031"),
    _note("login: anna / …", "Frühling88"),
    _note("login anna:…", "yellowsub7"),
    _note("User: carol\nPass: …", "mocha latte"),
    _note("Username: dave\nPassword: …", "dragonfly"),
    _note("Password\n…", "Quicksand61"),
    _note("API key:\n…", _made(28)),
    _note("The API key\n\n…\n\nworks on staging.", _made(30)),
    _note("secret:\n  …", _made(26)),
    _note("Client secret\n…", _made(34)),
    _note("My access key is below.\n…", _made(27)),
    _note("The license key is …", "-".join(_made(5, "ABCDEFGH23456789") for _ in "12345")),
    _note("Unlock pattern on her tablet is …", "7-4-1-5-9"),
    _note("The PIN of her card is the year …", "1987"),
    _note("His debit card PIN, four digits: …", "5520"),
    _note("Voicemail PIN … .", "9917"),
    _note("She whispered that the password was …", "swordfish"),
    _note("They changed the password from admin to …", "N3wD00r"),
    _note("New password … works since Monday.", "Harvest2031"),
    _note("The password has been reset to …", "Temp-4471"),
    _note("Temporary password … must be changed.", "Xk7-Temp"),
    _note("It's … — that's her password.", "Pumpkin3"),
    _note("Her password starts with 'Sun' and in full it's …", "Sunflower12"),
    _note("Password (portal): …", "Driftwood9"),
    _note("Password - …", "Cobblestone4"),
    _note("Password → …", "Riverbank8"),
    _note("The password of the shared mailbox reads …", "Oakleaf55"),
    _note("Her iCloud password equals …", "Clementine7"),
    _note("He uses … for everything.", "P@ssw0rd2031"),
    _note("The key to decrypt the archive is …", "basalt-Moon-4"),
    _note("zip password: …", "opensesame"),
    _note("The PDF opens with the password …", "statement12"),
    # Commands and headers
    _note("curl -u anna:… https://api.example.com/v1", "Tr0mbone"),
    _note("curl --user deploy:… https://ci.example.com", "shipit!now"),
    _note("Cookie: sessionid=…", _made(32, _HEX)),
    _note("Cookie: theme=dark; auth=…; lang=en", _made(40)),
    _note("Set-Cookie: JSESSIONID=…; Path=/; HttpOnly", _made(32, "0123456789ABCDEF")),
    _note("X-Api-Key: …", _made(24)),
    _note("Authorization: Basic …", _made(24, _BASE64)),
    _note("X-Auth-Token …", _made(32, _HEX)),
    _note("mysql -u root -p… shop", "R00tOfAll"),
    _note("sshpass -p … ssh ann@host", "tunnel77"),
    _note("docker login -u ann -p … registry.example", "whale-song-3"),
    _note("PGPASSWORD=… psql -h db", "elephant"),
    _note("redis-cli -a … ping", "cacheMoney1"),
    _note("ftp://ann:…@files.example.com", "upl0ads"),
    _note("jdbc:mysql://db/shop?user=root&password=…", "hidden9"),
    _note("Server=db;User Id=sa;Pwd=…;", "Sa-Strong1"),
    _note("net use Z: \\\\srv\\share … /user:ann", "Share!991"),
    # Keys by their shape
    _note("Bot token …", f"{_made(10, string.digits)}:AA{_made(33)}"),
    _note("The Telegram bot is …", f"{_made(9, string.digits)}:AA{_made(33)}"),
    _note("Google said ya29.…", f"a0{_made(60)}"),
    _note("Access: ya29.…", _made(110)),
    _note("Wallet private key 0x…", _made(64, _HEX)),
    _note("Her wallet key: …", "5" + _made(50, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijk")),
    _note("Her bitcoin key is …", "L" + _made(51, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijk")),
    _note("The seed words are …", _WORDS),
    _note("Her wallet's words: …", " ".join(reversed(_WORDS.split()))),
    _note("Metamask: …", " ".join(sorted(_WORDS.split()))),
    _note("The signing secret is …", _made(64, _HEX)),
    _note("…", _made(64, _HEX[::-1])),
    _note("AES key …", _made(32, _HEX[::-1])),
    _note("AWS: …", _made(40, _BASE64)),
    _note("The bare cloud secret is …", _made(40, _BASE64[::-1])),
    _note("Azure client secret …", f"{_made(3)}8Q~{_made(34)}"),
    _note("Azure storage …==", _made(86, _BASE64)),
    _note("DigitalOcean dop_v1_…", _made(64, _HEX)),
    _note("Use hvs.… for Vault.", _made(95)),
    _note("Notion: ntn_…", f"{_made(11, string.digits)}{_made(35)}"),
    _note("Postman gave us PMAK-…", f"{_made(24, _HEX)}-{_made(34, _HEX)}"),
    _note("Sendinblue xkeysib-…", f"{_made(64, _HEX)}-{_made(16)}"),
    _note("The Perplexity key pplx-… is hers.", _made(48)),
    _note("Databricks dapi…", _made(32, _HEX)),
    _note("Grafana glsa_…", f"{_made(32)}_{_made(8, _HEX)}"),
    _note("Linear lin_api_…", _made(40)),
    _note("Airtable pat…", f"{_made(14)}.{_made(64, _HEX)}"),
    _note("Doppler dp.pt.…", _made(43)),
    _note("RubyGems rubygems_…", _made(48, _HEX)),
    _note("AGE-SECRET-KEY-1…", _made(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    _note("Shopify shpss_…", _made(32, _HEX)),
    _note("PlanetScale pscale_pw_…", _made(43)),
    _note("Square sq0atp-…", _made(22)),
    _note("Our Datadog api key for prod, datadog_key=…", _made(40, _HEX)),
    _note("ATATT3xFfGF0…", _made(180)),
    _note("Teams: figd_…", _made(40)),
    _note("Twitch oauth:…", _made(30, _LETTERS.lower())),
    _note("Replicate r8_…", _made(37)),
    _note("Groq gsk_…", _made(52)),
    _note("-----BEGIN OPENSSH PRIVATE KEY-----\n…", _made(70, _BASE64)),
    _note("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n…", _made(64, _BASE64)),
    _note("otpauth://totp/Shop:ann?secret=…&issuer=Shop", _made(32, "ABCDEFGHIJKLMNOP234567")),
    _note("The authenticator's setup key is …", _made(32, "ABCDEFGHIJKLMNOP234567")),
]

_OTHER_LANGUAGES = [
    _note("Mein Passwort ist …", "Sonnenblume"),
    _note("Das Passwort für das Portal lautet …", "Regenbogen7"),
    _note("Die PIN ist …", "4482"),
    _note("Ihre Geheimzahl lautet …", "9310"),
    _note("Das WLAN-Passwort ist …", "gartenzwerg"),
    _note("Zugangsdaten: anna / …", "Herbst2031"),
    _note("Mi contraseña es …", "mariposa"),
    _note("La contraseña del wifi es …", "casablanca9"),
    _note("La clave de acceso es …", "Tigre2031"),
    _note("Su clave es …", "girasol55"),
    _note("El PIN de la tarjeta es …", "7741"),
    _note("Contraseña: …", "pajarito"),
    _note("Le mot de passe est …", "tournesol"),
    _note("Mon mot de passe : …", "Coquelicot8"),
    _note("Le code secret est …", "6620"),
    _note("Le code confidentiel de sa carte est …", "2951"),
    _note("Mot de passe du wifi : …", "baguette"),
    _note("Son mdp est …", "Lavande12"),
    _note("La mia password è …", "girasole"),
    _note("La parola d'ordine è …", "Margherita4"),
    _note("La password del portale: …", "Vesuvio79"),
    _note("Il codice PIN è …", "8817"),
    _note("La chiave di accesso è …", "Lupo2031"),
    _note("Il codice segreto è …", "5093"),
    _note("Minha senha é …", "borboleta"),
    _note("A senha do wifi é …", "feijoada7"),
    _note("Senha: …", "Abacaxi10"),
    _note("A palavra-passe é …", "Gaivota3"),
    _note("O código secreto é …", "4417"),
    _note("A senha do cartão é …", "3308"),
    _note("Mijn wachtwoord is …", "zonnebloem"),
    _note("Het wachtwoord van het portaal is …", "Tulp2031"),
    _note("De pincode is …", "6128"),
    _note("Wachtwoord: …", "fietsbel"),
    _note("Inloggegevens: anna / …", "Klomp44"),
    _note("De toegangscode is …", "7702"),
    _note("Moje hasło to …", "slonecznik"),
    _note("Hasło do portalu: …", "Bocian77"),
    _note("Hasło do wifi to …", "pierogi5"),
    _note("Kod PIN to …", "5814"),
    _note("Jej hasło brzmi …", "Zubr2031"),
    _note("Dane logowania: anna / …", "Kotek99"),
    _note("パスワードは…です。", "himawari7"),
    _note("パスワード:…", "sakura2031"),
    _note("暗証番号は…です。", "6391"),
    _note("WiFiのパスワードは「…」です。", "tanuki88"),
    _note("合言葉は…です。", "kaze"),
    _note("APIキーは…です。", _made(24)),
    _note("我的密码是…", "xiongmao8"),
    _note("密码：…", "Longjing7"),
    _note("WiFi密码是…。", "jiaozi666"),
    _note("银行卡密码是…", "481726"),
    _note("验证码是…", "902715"),
    _note("登录口令：…", "meihua12"),
]


def _token(prefix: str, length: int, letters: str = _LETTERS) -> tuple[str, str]:
    token = prefix + _made(length, letters)
    return f"The importer runs with {token}, says Ines.", token


_UNANNOUNCED = [
    # Vendors' shapes, some of which hold no capital, and prefixes that no rule knows
    *(_token(prefix, 40, _HEX) for prefix in ("sbp_", "squ_", "bkua_", "sgp_")),
    *(_token(prefix, 64, _HEX) for prefix in ("dop_v1_", "sntryu_", "key_")),
    _token("fc-", 32, _HEX),
    _token("sk_", 48, _HEX),
    _token("csk-", 48, string.ascii_lowercase + string.digits),
    _token("hcaik_", 58, string.ascii_lowercase + string.digits),
    *(_token(prefix, 32) for prefix in ("napi_", "rnd_", "figd_", "polar_oat_", "zz9_", "abc-")),
    *(_token(prefix, 24) for prefix in ("fw_", "qq_", "unkey_")),
    _token("", 48),
    _note("Put … in the CRM of the EU.", "pat-eu1-0a1b2c3d-11aa-22bb-33cc-0123456789ab"),
    _note("Posted … by mistake", "nsec1" + _made(58, "023456789acdefghjklmnpqrstuvwxyz")),
]
_TYPED = [
    _note("To log in she enters ….", "Maple!77x"),
    _note("When the tablet asks for it he types …", "robin4471"),
    _note("I unlock the laptop by typing …", "Kite!88x"),
    _note("She logs on as ifox with … on both machines", "Robin-4471-xk"),
    _note("Um reinzukommen gebe ich … ein", "Hafen_77x"),
    _note("Sie meldet sich immer mit … an", "Kran77!Zug"),
    _note("Para acceder al portal teclea …", "Luna77*x"),
    _note("Cuando el portátil me pregunta escribo …", "Perro!88x"),
    _note("Per accedere scrivo …", "Luna_4471"),
    _note("Pour entrer dans le portail elle tape … et c'est bon", "Tour31!x"),
    _note("Para entrar no sistema digito …", "Mar_8812"),
    _note("Om in te loggen typt ze …", "Molen77!x"),
    _note("She told us the password. …. Then she hung up.", "Otter-77-kk"),
    _note("He gave me his PIN. …. I wrote it down.", "4471"),
]
_NOUNS = [
    _note("Ihr Zugriffstoken lautet …", "kx82Tz"),
    _note("Der Freischaltschlüssel lautet …", "AB7-99k-zz"),
    _note("Der Zugangscode lautet …", "Bach7Tal"),
    _note("Le jeton d'accès est …", "r7kk-23Mp"),
    _note("La clé d'API est : …", "w8Lm_30q"),
    _note("El token de acceso es …", "p0Ll-7722x"),
    _note("Il codice di accesso è …", "Pino77x"),
    _note("O token de acesso é …", "v8Wq-30"),
    _note("De toegangssleutel is …", "h3kk-Z91"),
]
SECRETS = [*_ENGLISH, *_OTHER_LANGUAGES, *_UNANNOUNCED, *_TYPED, *_NOUNS]
"""A note, and the secret in it of which no part may be kept."""

HARMLESS = """\
Fixed in commit 9b1c4f07a21de9c3b7f2f10e55d8ac3b9e1f2a44.
The request id is req_7f3a9c21b4e84d0f9a6c5b2e1d0f8a37.
Order 550e8400-e29b-41d4-a716-446655440000 was shipped.
Tracking 1Z999AA10123456784 with UPS, JJD014600006281230231 with DHL.
Part LM2596S-ADJ-TO263-5L-2026Q1 is out of stock.
The doc is https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit
See https://example.com/view?id=1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms for more.
The file is IMG_20260301_123456_HDR_Pro3aB9x.jpg.
Stripe payment pi_3MtwBwLkdIwHu7ix28a3tqPa failed.
The branch is CRM-4711-add-oauth2-login-for-EU3-tenants.
The shop runs with pk_live_51HqLyjWDarjtT1zdp7dcXY2.
Server prod-eu-west-1-backup-7f3a2b-k8s-node-pool-03 is down.
Model Lenovo-ThinkPadX1CarbonGen12Touch arrived.
The wallet address is 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU.
She types fast and clicks the green button to get into the portal.
To open the ticket he enters TCK-48213.
She enters order ORD-2024-113 in the portal.
He logs on as mfenwick with his own laptop.
Logs in with FIDO2 keys only.
Um ins Portal zu kommen, tippt sie auf das blaue Feld.
Sie meldet sich am 12.5. mit Herrn Weber an.
Para entrar en la intranet escribe al administrador.
She lost her password. INV-2024-7 is unpaid.
Der Schlüssel ist bei Anna.
Forgot her password again and was sent a link.
The password reset e-mail never came.
Prefers passwordless login.
Wants a longer session before the password is asked for.
Her password expires every 90 days.
Asked how to change his password.
Passwords must have twelve characters at least.
The password is too short, the form says.
The password policy is stricter since May.
Uses a password manager, 1Password.
Does not want to share the password by e-mail.
Was told never to give the password to anyone.
Locked out after three wrong passwords.
The password field does not accept umlauts.
Thinks the password rules are annoying.
The passphrase is optional.
The passphrase is correct.
The passphrase is valid until next Monday.
The passphrase is different every month.
The passphrase is stored in the vault.
The password? She does not remember it.
The password? It's in the vault.
The password? No idea.
Asked for the password, got no answer.
Her password was changed on Tuesday.
The password is the same as before.
The password is not written down anywhere.
The Wi-Fi password is on the back of the router.
The Wi-Fi is slow on the second floor.
The Wi-Fi password is printed on the menu.
PIN is blocked after three attempts.
Forgot the PIN of his card.
Would like to choose the PIN himself.
The PIN is sent by post.
Wears a pin of the rowing club.
Pinned the message in the channel.
Her pin board has 12 photos.
Login is slow in the morning.
Login with a fingerprint works.
Prefers login by magic link.
Logs in with her work account.
Logs in with a hardware key.
The login page shows an error 403.
login: works again since Monday
Two-factor login is on for the whole team.
Backup codes are in the safe.
Backup code is required at sign-in.
Printed her backup codes.
The recovery phrase is kept on paper.
The seed round is closed.
The seeds were planted in April.
Wallet was lost on the train.
Bought a leather wallet for her brother.
The security question is about a pet.
The answer to the question is no.
The answer is 42.
Her maiden name is on the old contract.
Grandmother's name is Edna.
His first pet was a dog.
The key is under the mat.
The key contact is Rosa.
The key to the deal is price.
The key point is delivery by May.
API keys are rotated every quarter.
Asked where to find the API key.
The API key is in the settings page.
Lost the API key and asked for a new one.
Token count is 4096 per request.
The token expires after an hour.
Token of appreciation: a box of chocolates.
Token price fell by 12 percent.
Secret santa is on 12 December.
The secret ingredient is cardamom.
The secret of her success is patience.
It is no secret that she dislikes phone calls.
Cookie: prefers oatmeal over chocolate.
Cookies are baked on Friday.
Rejects all cookies on the site.
The cookie banner returns at every visit.
curl returns a 404 for the new endpoint.
Uses curl -u in his script.
curl -s https://api.example.com/v1/health works.
Follows curl 8.5 release notes.
Order 4471-2290 arrived damaged.
Order number 8841920 was refunded.
Ticket 20310417-77 is still open.
Invoice 2031-0042 is unpaid.
Tracking number 1Z999AA10123456784.
Parcel 00340434161094042557 is late.
SKU WH-1000XM5-B is out of stock.
Product code AX-4410-77B was replaced.
Serial number C02XK1ZZJG5H.
Part LM317T is obsolete.
Model XPS-13-9310 is too heavy.
Case CAS-0091284 was escalated.
Fixed in commit 3f2a9c1.
Fixed in commit 9b1c4f0e7a2d5c8b3e6f1a4d7c0b9e8f2a5d4c3b.
The bug came with commit 4e1f7c2b9a0d8e3f6c5b4a1d2e7f8c9b0a3d6e5f, says support.
Rolled back to 7d9e4b1.
The build is 20310417.3.
Version 4.12.0-rc1 crashes on start.
Image sha256:9b1c4f0e7a2d5c8b3e6f1a4d7c0b9e8f2a5d4c3b9b1c4f0e7a2d5c8b3e6f1a4d is deployed.
The checksum of the download did not match.
Request id 5f0c1d2e-7a3b-4c9d-8e1f-2a3b4c5d6e7f failed.
Trace 4bf92f3577b34da6a3ce929d0e0e4736 shows the delay.
The document is 1f4b2c3d-0000-4a5b-9c8d-7e6f5a4b3c2d.
Video dQw4w9WgXcQ made her laugh.
Flight LH1234 leaves at 18:05.
Booking reference QX7TLM.
Seat 14C, aisle.
Meeting room 4.12 is booked.
Zip code 62701.
Pin code 560001 is Bangalore.
Discount code SPRING20 did not work.
The dress code is business casual.
Error code 0x80070057 appears.
Area code 0221.
QR code on the poster leads nowhere.
Promo code WELCOME10 was used twice.
Code review takes two days.
Passport renewal is due in May.
Boarding pass is on her phone.
Has a season pass for the museum.
Pass the salt, she says.
Passed the exam in June.
Passes through Vienna on Thursdays.
Compass and map are in the car.
Credentials of the speaker were checked.
Her credentials as a doctor are excellent.
Authorization from the manager is needed.
The author of the report is Kim.
Access to the building ends at 20:00.
Access is by badge.
Access: step-free, from the car park.
Private lessons on Tuesdays.
The private key ceremony is on 3 May.
The public key is on her web page.
Piano keys stick in winter.
Keyboard layout is Swiss.
Uses Signal for everything.
Uses Excel2019 for everything.
Uses macOS for work.
He uses Linux for everything.
Use the side entrance to get in.
Use Chrome to log in to the portal.
Use the app to log in to the portal.
The safe word game was fun.
The alarm company called twice.
Telephone banking is what she prefers.
Her login is anna.
Username is bob_the_builder.
User: carol
The shared mailbox is support@example.org.
The zip file does not open.
The PDF opens with Acrobat only.
The laptop opens with a squeak.
The laptop opens only half way.
The phone's screen is cracked.
Her tablet's pattern is floral.
The archive is encrypted.
The licence key is on the invoice.
License keys are sent by e-mail.
Setup takes 20 minutes.
The setup key figures are in the report.
Bot traffic doubled in May.
The Telegram group has 240 members.
AWS is where they host.
Azure storage is full.
The AES standard is required.
Met her for the first time in 2031 2032 season.
Phone number has changed.
Reads ribbon copper otter violet as colours.
She likes apples oranges pears plums cherries grapes lemons and limes very much.
Router is in the hall.
Temporary address until June.
New password rules start on Monday.
Temporary passwords are valid for one day.
The one-time fee is 120 euros.
One-time offers annoy her.
Verbal agreement with the alarm company.
Hat ihr Passwort vergessen.
Das Passwort ist abgelaufen.
Das Passwort ist falsch.
Das Passwort wurde geändert.
Die PIN ist gesperrt.
Möchte sich ohne Passwort anmelden.
Ha olvidado su contraseña.
Ha olvidado la clave y pide ayuda.
La contraseña es incorrecta.
La contraseña ha caducado.
La clave es la paciencia.
La clave del éxito es el precio.
Le mot de passe est oublié.
Le mot de passe est trop court.
A oublié son mot de passe.
Le mot de passe a expiré.
La password è scaduta.
Ha dimenticato la password.
La chiave è sotto il tappeto.
Esqueceu a senha.
A senha é muito curta.
A senha expirou ontem.
A chave é a paciência.
Is haar wachtwoord vergeten.
Het wachtwoord is verlopen.
Het wachtwoord is te kort.
De sleutel ligt onder de mat.
Zapomniała hasła.
Hasło jest za krótkie.
Hasło wygasło wczoraj.
Hasło to za mało, chce dwóch kroków.
パスワードを忘れた。
パスワードは忘れました。
パスワードは定期的に変更しています。
密码忘记了。
密码是错误的。
密码是什么？
密码已经过期。
""".splitlines()
"""Notes that speak of secrets, or hold what looks like one, and of which every word stays."""
