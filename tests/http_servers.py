"""HTTP servers for tests: an application that runs in a thread, with the tokens for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.types import ASGIApp

from reconciler.serve.access.connections import Bounds, bounded_server
from reconciler.serve.access.grants import Grant
from reconciler.serve.access.http_door import Address, listen, tls_of
from reconciler.serve.access.tokens import TokenFile

__all__ = ["LOCAL", "RunningServer", "certified", "running"]

LOCAL = Address(host="127.0.0.1", port=0)


@dataclass(frozen=True)
class RunningServer:
    """A running server, and the file of its tokens."""

    url: str
    tokens: TokenFile

    def token(self, grant: Grant, **others: Any) -> str:
        """A new token for a grant."""
        return self.tokens.create(grant, **others)[1]


@contextmanager
def running(app: ASGIApp, address: Address, bounds: Bounds | None) -> Iterator[str]:
    """An application that is served in a thread, on a free port of loopback; gives its address."""
    server = bounded_server(app, bounds or Bounds(), tls_of(address))
    with listen(address) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            port = bound.getsockname()[1]
            is_plain = address.certificate is None
            yield f"http://127.0.0.1:{port}" if is_plain else f"https://localhost:{port}"
        finally:
            server.should_exit = True
            thread.join(30)


def certified(folder: Path) -> Address:
    """Where to listen with a certificate of its own for localhost."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, no_password)
    )
    return Address(
        host="127.0.0.1", port=0, certificate=folder / "certificate.pem", key=folder / "key.pem"
    )
