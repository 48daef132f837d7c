// The page opens: its data stands in the page itself, or comes from the server that gave it.
import "./style.css";
import { App } from "./app";
import { FileSource, ServerSource, type Source } from "./source";

async function open(): Promise<void> {
  const app = new App();
  Object.assign(window, { taut: app });
  const scripts = [...document.querySelectorAll('script[type="application/x-taut"]')].map((script) => script.textContent ?? "");
  let source: Source;
  if (scripts.length) source = await FileSource.open(scripts, (message) => app.receive(message));
  else {
    const address = new URL("ws", location.href);
    address.protocol = "ws:";
    let first: () => void;
    const came = new Promise<void>((resolve) => (first = resolve));
    source = await ServerSource.open(address.href, async (message) => {
      await app.receive(message);
      first();
    }, (why) => app.note(why));
    await came;
  }
  await app.begin(source);
}

open().catch((error) => {
  const note = document.getElementById("note")!;
  note.hidden = false;
  note.textContent = `The page could not be shown: ${error instanceof Error ? error.message : error}. ` +
    "It needs a browser with WebGL 2 and DecompressionStream (any of 2023 or later).";
  throw error;
});
