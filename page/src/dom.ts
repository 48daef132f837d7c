// Small words for making elements. Text is always text: nothing here reads markup.

type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`#${id} is missing`);
  return found as T;
}

export function select(label: string, options: [value: string, text: string][], chosen: string, change: (value: string) => void): HTMLLabelElement {
  const list = element("select", { "aria-label": label });
  for (const [value, text] of options) {
    const option = element("option", { value }, text);
    option.selected = value === chosen;
    list.append(option);
  }
  list.addEventListener("change", () => change(list.value));
  return element("label", {}, element("span", {}, label), list);
}

export function toggle(label: string, on: boolean, change: (on: boolean) => void, title = ""): HTMLButtonElement {
  const button = element("button", { type: "button", "aria-pressed": String(on), title: title || label }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now);
  });
  return button;
}

/** A number for people. */
export function spoken(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e5 || size < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
