"""A server on 127.0.0.1 that gives the page to a browser, and to the page what it asks for.

    GET /TOKEN/      the page
    /TOKEN/ws        a websocket: JSON from the page, messages (frames.py) to it

A page pulls: blocks and lines come when it asks for them, and a live frame only after it has drawn the one before, so
a slow browser gets fewer frames, and nothing piles up. Each page has its own connection; computing happens in threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from http import HTTPStatus
from typing import Any

from ..errors import TautError
from .frames import addressed, message
from .live import Live
from .overlay import Overlay
from .page import filled

HOST = "127.0.0.1"
LAST_PORT = 65535
POLL = 0.5  # seconds between looks at runs that are still going
LARGEST_REQUEST = 10_000  # bytes


class Server:
    """`start` gives the address; `stop` ends it. Both may be called from any thread."""

    def __init__(self, source: Overlay | Live, port: int = 0) -> None:
        self.source, self.port = source, port
        self.token = secrets.token_urlsafe(16)
        self.html = filled(source.title if isinstance(source, Overlay) else "taut: live").encode()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._problem: OSError | None = None
        self._waiting: set[asyncio.Event] = set()  # one for each page that waits for news

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def start(self) -> str:
        if not 0 <= self.port <= LAST_PORT:
            raise TautError(f"port is {self.port}; give a number up to {LAST_PORT}, or leave it out for a free one.")
        self._thread = threading.Thread(target=self._run, daemon=True, name="taut view")
        self._thread.start()
        self._ready.wait()
        if self._problem is not None:
            raise TautError(f"port {self.port} of {HOST} can not be used: {os.strerror(self._problem.errno or 0)}. "
                            "Give another with --port, or leave it out for a free one.")
        if isinstance(self.source, Live):
            self.source.listeners.append(self._news)
            self.source.start()
        return self.address

    def stop(self) -> None:
        if isinstance(self.source, Live):
            self.source.stop()  # first: it tells the loop its news
        if self._thread.is_alive() and self._problem is None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(timeout=5.0)

    def wait(self) -> None:
        """Until the server ends or Ctrl-C is pressed."""
        while self._thread.is_alive():
            self._thread.join(timeout=0.5)

    # In the server's own thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        from websockets.asyncio.server import serve

        self._end = asyncio.Event()
        try:
            server = await serve(
                self._talk, HOST, self.port, process_request=self._request, compression=None,
                max_size=LARGEST_REQUEST, open_timeout=30,
            )  # fmt: skip
        except OSError as problem:
            self._problem = problem
            self._ready.set()
            return
        self.port = next(iter(server.sockets)).getsockname()[1]
        self._ready.set()
        watch = asyncio.create_task(self._watch())
        await self._end.wait()
        watch.cancel()
        server.close()
        await server.wait_closed()

    def _request(self, connection: Any, request: Any) -> Any:
        """The page, for whoever knows the token; a websocket goes on by itself."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        path = request.path.split("?")[0]
        origin = request.headers.get("Origin")
        if path == f"/{self.token}/ws" and origin in (None, f"http://{HOST}:{self.port}"):
            return None
        if path == f"/{self.token}/":
            headers = Headers({
                "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(self.html)),
                "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Connection": "close",
            })  # fmt: skip
            return Response(200, "OK", headers, self.html)
        return connection.respond(HTTPStatus.NOT_FOUND, "taut: this address needs the token that was printed.\n")

    async def _watch(self) -> None:
        """Look whether runs that are still going have grown."""
        while isinstance(self.source, Overlay) and self.source.is_running:
            await asyncio.sleep(POLL)
            try:
                grown = await asyncio.to_thread(self.source.grow)
            except (TautError, OSError, LookupError, ValueError):
                continue  # caught in the middle of a commit: what is there now is seen at the next look
            if grown:
                self._wake()

    def _news(self) -> None:
        """Called by the thread of a live scene."""
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    async def _talk(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        news, ready = asyncio.Event(), asyncio.Event()
        self._waiting.add(news)
        ready.set()
        pump = asyncio.create_task(self._pump(connection, news, ready))
        try:
            async for text in connection:
                asked = json.loads(text)
                if asked.get("ask") == "next":
                    ready.set()
                elif isinstance(self.source, Live):
                    self.source.command(asked)
                else:
                    await connection.send(await asyncio.to_thread(self._answer, asked))
        except ConnectionClosed:
            pass
        finally:
            self._waiting.discard(news)
            pump.cancel()

    async def _pump(self, connection: Any, news: asyncio.Event, ready: asyncio.Event) -> None:
        """Tell one page what is new, as fast as it can take it."""
        version = -1
        while True:
            await ready.wait()
            ready.clear()
            source = self.source
            if isinstance(source, Overlay):
                kind = {"mode": "saved"} if version < 0 else {"mode": "saved", "again": True}
                version = 0
                await connection.send(await asyncio.to_thread(source.message, 1, **kind))
            elif version != source.version:
                version = source.version
                await connection.send(await asyncio.to_thread(source.scene_message))
                continue  # the frame that belongs to it follows
            else:
                await connection.send(source.frame)
            await news.wait()
            news.clear()

    def _answer(self, asked: dict[str, Any]) -> bytes:
        """A block or a line; what can not be given is said, and the page goes on."""
        number = asked.get("id")
        if not isinstance(self.source, Overlay):
            return message("problem", text=f"{asked.get('ask')}: a live scene has no blocks and no lines", id=number)
        try:
            run = self.source.playbacks[int(asked["run"])]
            if asked["ask"] == "block":
                body = run.block(int(asked["start"]), int(asked["stop"]), int(asked["stride"]), bool(asked["forces"]))
            else:
                body = run.series(str(asked["name"]), float(asked["from"]), float(asked["to"]), int(asked["points"]))
        except (LookupError, ValueError, TypeError, OSError, TautError) as problem:
            return message("problem", text=f"{asked.get('ask')}: {problem}", id=number)
        return addressed(body, id=number)
