// A terminal on a page: what tmux has drawn, and what a person types. A page that has this says, in functions of its
// own, how keys are sent (`send(kind, keys)`, whose error may have a `code`), which rows are above the screen (`past`),
// what is done with text (`typed`), whether there is somebody who types (`mayType`), and what size letters have (`fit`).
const RETRY_MS = 1000, FONT_LEAST = 8, FONT_MOST = 14, SCROLLBACK = 500, WHEEL_ROWS = 3;
const $ = id => document.getElementById(id);
const rest = ms => new Promise(done => setTimeout(done, ms));
const say = text => { $("state").textContent = text; };
// A row of a picture is its text and, if it has any, its runs.

// Drawing: a row is built anew only where it has changed.
let tab = "", shown = null, drawn = [], pinned = true, takesMouse = null;
const WIDE = new RegExp("[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\u33ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua000-\\ua4cf"
  + "\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6\\u{1f300}-\\u{1f64f}"
  + "\\u{1f680}-\\u{1f6ff}\\u{1f900}-\\u{1f9ff}\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}", "u");
const NO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\ufe0f]/u;
const LEVELS = [0, 95, 135, 175, 215, 255];
function colour(name) {
  if (name.startsWith("#")) return name;
  if (!name.startsWith("colour")) return `var(--${name})`;
  const n = Number(name.slice(6)), cube = n - 16;
  if (n > 231) return `rgb(${Array(3).fill(8 + 10 * (n - 232)).join()})`;
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(i => LEVELS[i]).join()})`;
}
function cellsOf(text) {
  const cells = [];
  for (const sign of text) {
    if (NO_WIDTH.test(sign) && cells.length) cells[cells.length - 1 - (cells.at(-1) === "")] += sign;
    else if (WIDE.test(sign)) cells.push(sign, "");
    else cells.push(sign);
  }
  return cells;
}
function paint(span, style) {
  const css = span.style;
  let fg = style.fg ? colour(style.fg) : "", bg = style.bg ? colour(style.bg) : "";
  if (style.reverse) [fg, bg] = [bg || "var(--bg)", fg || "var(--fg)"];
  if (fg) css.color = fg;
  if (bg) css.backgroundColor = bg;
  if (style.bold) css.fontWeight = "bold";
  if (style.dim) css.opacity = 0.6;
  if (style.italic) css.fontStyle = "italic";
  if (style.hidden) css.color = "transparent";
  const lines = [style.underline && "underline", style.strike && "line-through"].filter(Boolean);
  if (lines.length) css.textDecoration = lines.join(" ");
}
function rowOf(text, runs, cursor) {
  const cells = cellsOf(text), row = document.createElement("div"), styles = [];
  for (const run of runs) for (let x = run.x; x < run.x + run.length; x++) styles[x] = run;
  while (cells.length < Math.max(styles.length, cursor + 1)) cells.push(" ");
  let span = null, last = null;
  cells.forEach((sign, x) => {
    if (sign === "") return;
    const style = styles[x] || null, wide = cells[x + 1] === "";
    if (!span || style !== last || wide || x === cursor || span.alone) {
      span = row.appendChild(document.createElement("span"));
      if (style) paint(span, style);
      span.alone = wide || x === cursor;
      if (wide) span.className = "wide";
      if (x === cursor) span.classList.add("cursor");
      last = style;
    }
    span.textContent += sign;
  });
  return row;
}
function draw(picture) {
  if (shown && picture.alternate_screen && !shown.alternate_screen) takesMouse = null;
  shown = picture;
  const cursor = picture.cursor, rows = $("rows"), wraps = new Set(picture.soft_wrap);
  const count = Math.max(picture.lines.length, picture.alternate_screen ? picture.rows : cursor.y + 1);
  for (let y = 0; y < count; y++) {
    const at = cursor.visible && cursor.y === y ? cursor.x : -1;
    const [text, of = []] = picture.lines[y] || [""], from = wraps.has(y - 1), on = wraps.has(y);
    const key = JSON.stringify([text, of, at, from, on]);
    if (drawn[y] === key) continue;
    drawn[y] = key;
    const row = rowOf(text, of, at);
    row.classList.toggle("continued", from);
    row.classList.toggle("continues", on);
    if (rows.children[y]) rows.replaceChild(row, rows.children[y]);
    else rows.appendChild(row);
  }
  while (rows.children.length > count) rows.lastChild.remove();
  drawn.length = count;
  $("keys").setAttribute("aria-description", `Cursor in row ${cursor.y + 1}, column ${cursor.x + 1}`);
  if (picture.title) $("frame").title = picture.title;
  fit();
}

// A screen reader is not to read a flood: more than five pictures in the last second.
const times = [];
function busy() {
  times.push(performance.now());
  return times.length > 5 && times.at(-1) - times.splice(0, times.length - 5)[0] < 1000;
}

// Typing: what is typed while a call is on its way goes with the next one, in order.
const NAMES = {Enter: "Enter", Tab: "Tab", Backspace: "BSpace", Escape: "Escape", ArrowUp: "Up", ArrowDown: "Down",
  ArrowLeft: "Left", ArrowRight: "Right", Home: "Home", End: "End", PageUp: "PageUp", PageDown: "PageDown",
  Insert: "IC", Delete: "DC"};
const queue = [];
let sending = false;
async function type(kind, text) {
  queue.push({kind, text});
  pinned = true;
  if (sending) return;
  sending = true;
  while (queue.length) {
    const kind = queue[0].kind, next = queue.findIndex(one => one.kind !== kind);
    const batch = queue.splice(0, next < 0 ? queue.length : next).map(one => one.text);
    const keys = kind === "key" || kind === "mouse" ? batch : [batch.join("")];
    try {
      await send(kind, keys);
      if ($("state").textContent.startsWith("not typed")) say("");
      if (kind === "mouse") takesMouse = true;
    } catch (error) {
      if (kind === "mouse" && error.code === "mouse_off") {
        takesMouse = false;
        const turned = batch[0].match(/^Wheel(Up|Down)/);
        if (turned) queue.unshift(...Array(WHEEL_ROWS).fill({kind: "key", text: turned[1]}));
        continue;
      }
      queue.length = 0;
      say(`not typed: ${error.message.split("\n")[0]}`);
    }
  }
  sending = false;
}
function onKey(event) {
  if (event.isComposing || event.metaKey) return;
  const {key, ctrlKey: ctrl, altKey: alt, shiftKey: shift} = event;
  if (shift && key === "Escape") $("back").focus();
  else if (ctrl && key.toLowerCase() === "c" && String(getSelection())) return;
  else if (ctrl && key.toLowerCase() === "v") return;
  else if (key === "Tab" && shift && !ctrl) type("key", "BTab");
  else if (NAMES[key] || /^F[0-9]+$/.test(key)) type("key",
    `${ctrl ? "C-" : ""}${alt ? "M-" : ""}${shift && NAMES[key] !== "Enter" ? "S-" : ""}${NAMES[key] || key}`);
  else if (key.length === 1 && (ctrl || alt) && !event.getModifierState("AltGraph"))
    type("key", `${ctrl ? "C-" : ""}${alt ? "M-" : ""}${key === " " ? "Space" : ctrl ? key.toLowerCase() : key}`);
  else return;
  event.preventDefault();
}
const keys = $("keys"), frame = $("frame");
keys.addEventListener("keydown", onKey);
keys.addEventListener("input", event => {
  if (event.isComposing) return;
  if (keys.value) typed(keys.value);
  keys.value = "";
});
keys.addEventListener("compositionend", () => { if (keys.value) typed(keys.value); keys.value = ""; });
keys.addEventListener("paste", event => {
  event.preventDefault();
  const text = event.clipboardData.getData("text/plain");
  if (text) type("paste", text);
});
keys.addEventListener("focus", () => frame.classList.add("focused"));
keys.addEventListener("blur", () => frame.classList.remove("focused"));
// The server refuses what the program did not ask for, so a click is offered to each.
function pointed(event) {
  const row = event.target.closest("#rows > div");
  if (!row || !shown) return "";
  const x = (event.clientX - row.getBoundingClientRect().left) / ($("probe").getBoundingClientRect().width / 10);
  return `${Math.min(shown.cols - 1, Math.max(0, Math.floor(x)))},${[...$("rows").children].indexOf(row)}`;
}
frame.addEventListener("mouseup", event => {
  if (String(getSelection()) || !mayType()) return;
  keys.focus({preventScroll: true});
  const at = pointed(event);
  if (event.button === 0 && at) type("mouse", `Click@${at}`);
});
frame.addEventListener("scroll", () => {
  pinned = frame.scrollTop + frame.clientHeight > frame.scrollHeight - 4;
});
frame.addEventListener("wheel", event => {
  if (shown && shown.alternate_screen && mayType()) {
    event.preventDefault();
    const up = event.deltaY < 0, at = pointed(event);
    if (takesMouse !== false && at) type("mouse", `${up ? "WheelUp" : "WheelDown"}@${at}`);
    else for (let i = 0; i < WHEEL_ROWS; i++) type("key", up ? "Up" : "Down");
  } else if (event.deltaY < 0 && frame.scrollTop === 0) earlier();
}, {passive: false});
let fetching = false;
async function earlier() {
  if (fetching) return;
  fetching = true;
  try {
    const rows = await past(), before = frame.scrollHeight;
    pinned = false;
    $("above").replaceChildren(...rows.map(([text, runs = []]) => rowOf(text, runs, -1)));
    frame.scrollTop = frame.scrollHeight - before;
  } catch (error) {
    say(error.message.split("\n")[0]);
  }
  setTimeout(() => { fetching = false; }, RETRY_MS);
}
