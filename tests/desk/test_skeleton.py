"""The desk's skeleton under attack: hosts, forged requests, links, pictures, sessions."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from groundfault.errors import UsageError
from groundfault.web.app import body_of, guarded, json_response, make_app, page
from groundfault.web.doors import OneKeyDoor, Person
from groundfault.web.pictures import picture_response
from groundfault.web.security import HEADER, MAX_BODY_BYTES, POLICY, Site
from groundfault.web.serving import Address, Running, bind, serve_in_background, site_of

EVIL = '<script>alert("x")</script>'


class Desk:
    """A small section on the skeleton, and a client that sends what it is told to."""

    def __init__(self, folder: Path, role: str = "owner") -> None:
        self.door = OneKeyDoor(Person(EVIL, role))  # type: ignore[arg-type]
        self.folder = folder
        Image.new("RGB", (4, 4), "red").save(folder / "a.png")
        Image.new("RGB", (4, 4), "red").save(folder / "b.bmp")
        (folder / "c.png").write_text('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>')
        (folder.parent / "secret.txt").write_text("secret")
        self.running: Running = serve_in_background(
            self.make, link=lambda site: f"{site.url}/join#{self.door.invitation}"
        )
        self.base, _, self.token = self.running.url.partition("/join#")
        self.host = self.base.removeprefix("http://")
        self.cookie = ""

    def make(self, site: Site) -> Starlette:
        async def hello(request: Request, person: Person) -> Response:
            return page(request, "join.html", name=person.name)

        async def echo(request: Request, person: Person) -> Response:
            return json_response({"echo": await body_of(request, dict[str, int])})

        async def picture(request: Request, person: Person) -> Response:
            known = {name[0]: self.folder / name for name in ("a.png", "b.bmp", "c.png", "gone")}
            return await picture_response(request, known, request.path_params["id"])

        async def broken(request: Request, person: Person) -> Response:
            raise RuntimeError(f"a secret of {self.folder}")

        routes = [
            guarded("/hello", hello),
            guarded("/echo", echo, methods=["POST"]),
            guarded("/picture/{id}", picture),
            guarded("/owners", hello, role="owner"),
            guarded("/broken", broken),
        ]
        return make_app(routes, door=self.door, site=site, home="/hello")

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent.setdefault("cookie", self.cookie)
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        content = response.read()
        connection.close()
        return response.status, found, content

    def post(self, path: str, value: Any, **changes: str) -> tuple[int, dict[str, str], bytes]:
        headers = {HEADER: "1", "origin": self.base, "content-type": "application/json", **changes}
        sent = {name: text for name, text in headers.items() if text}
        return self.request("POST", path, json.dumps(value).encode(), **sent)

    def join(self) -> dict[str, str]:
        status, headers, _ = self.post("/join", {"token": self.token})
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]
        return headers


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    folder = tmp_path / "pictures"
    folder.mkdir()
    made = Desk(folder)
    yield made
    made.running.stop()


def test_nobody_enters_without_an_invitation(desk: Desk) -> None:
    assert desk.request("GET", "/hello")[0] == 401
    status, headers, _ = desk.request("GET", "/hello", accept="text/html")
    assert (status, headers["location"]) == (303, "/join")
    assert desk.post("/join", {"token": "guessed"})[0] == 404
    name = Site(desk.base).cookie
    for forged in ("", "x", "x" * 100_000, "../../etc/passwd", desk.token):
        desk.cookie = f"{name}={forged}"
        assert desk.request("GET", "/hello")[0] in (400, 401, 431)


def test_an_invitation_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(desk: Desk) -> None:
    cookie = desk.join()["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert "secure" not in cookie  # loopback has no TLS
    assert desk.token not in cookie
    assert desk.request("GET", "/hello")[0] == 200


def test_whoever_is_signed_in_is_asked_before_becoming_somebody_else(desk: Desk) -> None:
    desk.join()
    status, _, content = desk.post("/join", {"token": desk.token})
    assert (status, json.loads(content)["signed_in"]) == (409, EVIL)
    assert desk.post("/join", {"token": desk.token, "switch": True})[0] == 200


def test_links_are_tried_only_so_often(desk: Desk) -> None:
    codes = [desk.post("/join", {"token": f"guess {n}"})[0] for n in range(12)]
    assert codes == [404] * 10 + [429] * 2
    assert desk.post("/join", {"token": desk.token})[0] == 429


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({HEADER: ""}, 403),
        ({"origin": ""}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({}, 200),
    ],
)
def test_requests_of_other_sites_change_nothing(
    desk: Desk, changes: dict[str, str], status: int
) -> None:
    desk.join()
    assert desk.post("/echo", {"a": 1}, **changes)[0] == status


def test_other_methods_and_hosts_are_refused(desk: Desk) -> None:
    desk.join()
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert desk.request(method, "/hello")[0] == 405
    assert desk.request("GET", "/hello", host="evil.example")[0] == 421  # a name pointed at us
    assert desk.request("GET", "/hello", host=f"localhost:{desk.host.split(':')[1]}")[0] == 200


def test_requests_that_are_too_long_or_no_json_are_refused(desk: Desk) -> None:
    desk.join()
    sent = {HEADER: "1", "origin": desk.base, "content-type": "application/json"}
    length = str(MAX_BODY_BYTES + 1)
    assert desk.request("POST", "/echo", b"", **sent, content_length=length)[0] == 413
    assert desk.request("POST", "/echo", None, **sent, transfer_encoding="chunked")[0] == 411
    for body in (b"", b"{", b"[]", b'{"a": "b"}', b"\xff", b"[" * 100_000):
        assert desk.request("POST", "/echo", body, **sent)[0] == 400


def test_every_response_forbids_inline_scripts_frames_and_caches(desk: Desk) -> None:
    desk.join()
    for path in ("/hello", "/join", "/static/join.js", "/nowhere", "/picture/a"):
        headers = desk.request("GET", path)[1]
        assert {name: headers.get(name) for name in POLICY} == POLICY
        assert "server" not in headers
    assert "unsafe" not in POLICY["content-security-policy"]
    assert desk.request("GET", "/hello")[1]["cache-control"] == "no-store"


def test_pages_hold_no_inline_script_or_style() -> None:
    import re

    import groundfault.web

    folder = Path(groundfault.web.__file__).parent / "templates"
    for template in folder.rglob("*.html"):
        words = template.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", words)
        assert "|safe" not in words.replace(" ", "")


def test_pictures_are_found_by_their_ids_alone(desk: Desk) -> None:
    assert desk.request("GET", "/picture/a")[0] == 401
    desk.join()
    for path in ("../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "/etc/passwd", "a.png"):
        assert desk.request("GET", f"/picture/{path}")[0] == 404
        assert desk.request("GET", f"/static/{path}")[0] == 404
    status, headers, content = desk.request("GET", "/picture/a")
    assert (status, headers["content-type"]) == (200, "image/png")
    assert content == (desk.folder / "a.png").read_bytes()


def test_what_browsers_do_not_show_is_drawn_anew_and_scripts_are_never_sent(desk: Desk) -> None:
    desk.join()
    status, headers, content = desk.request("GET", "/picture/b")
    assert (status, headers["content-type"], content[:4]) == (200, "image/png", b"\x89PNG")
    assert desk.request("GET", "/picture/c")[0] == 415  # SVG under a picture's name
    assert desk.request("GET", "/picture/g")[0] == 404


def test_a_mistake_of_ours_tells_the_browser_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.join()
    status, _, content = desk.request("GET", "/broken")
    assert status == 500
    assert b"secret" not in content
    assert desk.token not in caplog.text
    assert desk.cookie.partition("=")[2] not in caplog.text


def test_roles_are_held(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    desk = Desk(folder, role="reviewer")
    try:
        desk.join()
        assert desk.request("GET", "/hello")[0] == 200
        assert desk.request("GET", "/owners")[0] == 403
    finally:
        desk.running.stop()


def test_another_address_has_to_be_asked_for() -> None:
    with pytest.raises(UsageError, match="--share"):
        bind(Address(host="0.0.0.0"))
    with bind(Address()) as place:
        assert place.getsockname()[0] == "127.0.0.1"
        with pytest.raises(UsageError, match="cannot listen"):
            bind(Address(port=place.getsockname()[1]))


def test_a_tunnel_keeps_the_desk_on_loopback_and_makes_its_cookies_secure() -> None:
    address = Address(share=True, public_url="https://desk.example/")
    with bind(address) as place:
        site = site_of(address, place)
        assert place.getsockname()[0] == "127.0.0.1"
    assert site.url == "https://desk.example"
    assert site.is_tls
    assert site.hosts is not None
    assert "desk.example" in site.hosts
    assert "evil.example" not in site.hosts
    for wrong in ("ftp://x", "https://x/path", "https://me:pw@x", "x"):
        with pytest.raises(UsageError, match="--public-url"):
            Address(share=True, public_url=wrong).check()


def test_certificate_and_key_belong_together(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belong together"):
        Address(certificate=tmp_path / "a.pem").check()
    with pytest.raises(UsageError, match="no such file"):
        Address(certificate=tmp_path / "a.pem", key=tmp_path / "b.pem").check()
