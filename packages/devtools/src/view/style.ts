/** The style of devtools, within their shadow root: nothing of the page reaches in, and nothing leaks out. Colours as on the admin page. */
export const STYLE = `
:host {
  color-scheme: light dark;
  --paper: light-dark(#f7f4ef, #141210);
  --surface: light-dark(#ffffff, #1c1916);
  --hover: light-dark(#f5f0e9, #27221e);
  --ink: light-dark(#221d19, #f0eae3);
  --muted: light-dark(#665d55, #aba095);
  --line: light-dark(#e6dfd6, #332d27);
  --line-strong: light-dark(#8f857b, #7d7368);
  --accent: light-dark(#94461d, #eba06b);
  --accent-ink: light-dark(#ffffff, #23160d);
  --accent-soft: light-dark(#f9eee5, #35261b);
  --danger: light-dark(#a3241c, #ff9a8d);
  --danger-ink: light-dark(#ffffff, #2a0b08);
  --danger-soft: light-dark(#fcebe9, #3a1c19);
  --good: light-dark(#1f6b3a, #84d3a0);
  --good-soft: light-dark(#e4f3e9, #17301f);
  --badge: light-dark(#f0eae2, #322c26);
  --flash: light-dark(#fff1c9, #44381a);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'Roboto Mono', 'Liberation Mono', monospace;
  all: initial;
  position: fixed;
  inset: auto 0 0 0;
  z-index: 2147483000;
  color: var(--ink);
  font: 13px/1.4 'Inter', 'Segoe UI', -apple-system, Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif;
  contain: layout style;
}
:host([theme='light']) { color-scheme: light; }
:host([theme='dark']) { color-scheme: dark; }
:host([inline]) { position: static; display: block; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.dock {
  display: grid;
  grid-template: auto auto minmax(0, 1fr) / minmax(0, 1fr);
  max-height: 96vh;
  min-height: 160px;
  background: var(--paper);
  border-top: 1px solid var(--line-strong);
  box-shadow: 0 -6px 24px rgb(34 29 25 / 14%);
  container-type: inline-size;
}
.grip { height: 7px; margin-top: -4px; cursor: ns-resize; touch-action: none; }
.grip:hover, .grip:focus-visible { background: var(--accent); outline: none; }
:host([inline]) .grip { display: none; }
.bar-top { display: flex; align-items: center; gap: 8px; padding: 0 8px 0 12px; border-bottom: 1px solid var(--line); min-width: 0; }
.brand { font-weight: 650; white-space: nowrap; }
.bar-top > button, .bar-top > select { height: 26px; flex: none; }
.bar-top > button { padding: 0 8px; border-color: transparent; background: none; }
[role='tablist'] { display: flex; gap: 2px; flex: 1; overflow-x: auto; scrollbar-width: none; }
[role='tab'] { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; height: 34px; padding: 2px 10px 0; color: var(--muted); flex: none; }
[role='tab'][aria-selected='true'] { color: var(--ink); border-color: var(--accent); font-weight: 600; }
[role='tab'] .badge { margin-left: 6px; }
main { min-height: 0; display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
main > * { min-height: 0; min-width: 0; }
.columns { display: grid; grid-template-columns: 190px minmax(0, 1fr) minmax(0, 1fr); min-height: 0; }
.columns.two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.pane { display: flex; flex-direction: column; min-height: 0; min-width: 0; background: var(--surface); border-left: 1px solid var(--line); }
.pane:first-child { border-left: 0; }
nav.pane { background: var(--paper); overflow-y: auto; padding: 6px; }
.scroll { flex: 1; min-height: 0; overflow: auto; overscroll-behavior: contain; }
.toolbar { display: flex; align-items: center; gap: 6px; padding: 6px 8px; min-height: 40px; border-bottom: 1px solid var(--line); min-width: 0; }
footer.toolbar { border-bottom: 0; border-top: 1px solid var(--line); }
.grow { flex: 1; min-width: 0; }
.short { width: 92px; }
.tiny { width: 64px; }
.fixed { width: 76px; }
.mono, code { font-family: var(--mono); font-size: 12px; }
.clip { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
.number { font-variant-numeric: tabular-nums; text-align: right; color: var(--muted); white-space: nowrap; }
.number.start { text-align: left; }
.muted { color: var(--muted); }
.bad { color: var(--danger); }
button, select, input {
  font: inherit; color: inherit; height: 28px; padding: 0 10px; border: 1px solid var(--line); border-radius: 6px;
  background: var(--surface); min-width: 0;
}
input, select { padding: 0 8px; }
input.mono { font-family: var(--mono); font-size: 12px; }
input::placeholder { color: var(--muted); opacity: 1; }
button { cursor: pointer; white-space: nowrap; }
button:hover:not(:disabled) { background: var(--hover); }
button:disabled { opacity: 0.5; cursor: default; }
button.primary:not(:disabled) { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.danger { color: var(--danger); }
button.sure { background: var(--danger); border-color: var(--danger); color: var(--danger-ink); }
button.sure:hover:not(:disabled) { background: var(--danger); }
button[aria-pressed='true'] { background: var(--accent-soft); border-color: var(--accent); }
button.link { border: 0; height: auto; padding: 0 2px; background: none; color: var(--accent); text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; }
textarea {
  width: 100%; resize: none; border: 0; padding: 10px; background: var(--surface); color: inherit; tab-size: 2;
  line-height: 1.5; white-space: pre; overflow: auto;
}
textarea:focus-visible { outline-offset: -2px; }
.row { display: grid; align-items: center; gap: 8px; width: 100%; height: 28px; padding: 0 10px; border: 0; border-radius: 0; background: none; text-align: left; content-visibility: auto; contain-intrinsic-height: 28px; }
nav .row { grid-template-columns: minmax(0, 1fr) auto; border-radius: 6px; }
.row[aria-current='true'] { background: var(--accent-soft); }
.row[aria-current='true']:hover:not(:disabled) { background: var(--accent-soft); }
.document { grid-template-columns: minmax(80px, 150px) minmax(0, 1fr); border-bottom: 1px solid var(--line); }
.document code { color: var(--muted); }
.live { grid-template-columns: minmax(0, 1fr) 58px 62px 50px 66px; border-bottom: 1px solid var(--line); }
.head { color: var(--muted); font-size: 12px; height: 24px; }
.request { grid-template-columns: 88px 52px minmax(0, 1fr) 46px 44px 58px 66px; border-bottom: 1px solid var(--line); }
.event { grid-template-columns: 88px 64px minmax(60px, 150px) 66px minmax(0, 1fr); border-bottom: 1px solid var(--line); }
.badge { display: inline-block; padding: 1px 7px; border-radius: 99px; background: var(--badge); font-size: 11px; text-align: center; white-space: nowrap; }
.badge.synced, .badge.live, .badge.complete, .badge.commit { background: var(--good-soft); color: var(--good); }
.badge.failed, .badge.offline, .badge.backing-off { background: var(--danger-soft); color: var(--danger); }
.empty { display: flex; flex-direction: column; gap: 4px; align-items: center; justify-content: center; min-height: 120px; height: 100%; padding: 16px; text-align: center; color: var(--muted); }
.empty b { color: var(--ink); font-weight: 600; }
.problem, .note { margin: 0; padding: 6px 10px; font-size: 12px; white-space: pre-line; overflow-wrap: anywhere; max-height: 30%; overflow: auto; flex: none; }
.problem { background: var(--danger-soft); color: var(--danger); }
.note { background: var(--flash); white-space: normal; }
.report { white-space: pre-line; }
.note button { height: 24px; }
.card { margin: 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); overflow: hidden; }
.card > :not(.toolbar) { margin: 6px 10px; }
.card > .problem { margin: 0; }
.card > b { display: block; }
.card h3 { font: inherit; font-weight: 600; }
.card ul { padding-left: 18px; }
.write { display: flex; flex-direction: column; gap: 4px; padding: 6px 0; border-top: 1px solid var(--line); }
.write code { color: var(--muted); }
.actions { display: flex; gap: 6px; }
.part { display: grid; grid-template-columns: minmax(0, 1fr) auto 90px 100px; gap: 8px; align-items: center; }
.choice { width: 100%; border-collapse: collapse; table-layout: fixed; }
.choice th, .choice td { padding: 4px 6px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 500; }
.choice thead th { position: sticky; top: 0; background: var(--paper); }
.choice thead .clip { display: block; }
.choice th:first-child { width: 22%; }
.choice .differs > th { color: var(--danger); }
.choice .shown { color: var(--muted); }
.choice code { display: block; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 120px; overflow: auto; }
.cell { width: 100%; height: auto; min-height: 28px; padding: 4px 8px; text-align: left; white-space: normal; }
.figures { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 8px; margin: 0; padding: 8px 10px; border-bottom: 1px solid var(--line); }
.figures dt { color: var(--muted); font-size: 11px; }
.figures dd { margin: 0; font-size: 15px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tree, .tree ul { list-style: none; margin: 0; padding: 0; }
.tree { padding: 10px; }
.tree ul { margin-left: 9px; padding-left: 14px; border-left: 1px solid var(--line-strong); }
.step { display: grid; grid-template-columns: minmax(0, auto) 1fr; gap: 2px 10px; padding: 5px 0; }
.step .counts { text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
.step code, .step .bar, .step em { grid-column: 1 / -1; }
.step code { color: var(--muted); overflow-wrap: anywhere; }
.step em { font-style: normal; color: var(--danger); font-size: 12px; }
.step .bar { height: 4px; border-radius: 2px; background: var(--badge); }
.step .bar span { display: block; height: 100%; border-radius: 2px; background: var(--accent); }
.costly .bar span { background: var(--danger); }
.facts { width: calc(100% - 16px); margin: 8px; border-collapse: collapse; }
.facts th, .facts td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: left; font-weight: 500; }
.facts th.number, .facts td.number { text-align: right; }
.ended { display: flex; gap: 8px; padding: 6px 12px; background: var(--danger-soft); color: var(--danger); }
@container (max-width: 760px) {
  .brand { display: none; }
  .columns { grid-template-columns: 130px minmax(0, 1fr); }
  .columns:not(.two) > .side { display: none; }
  .columns.with-side { grid-template-columns: 130px minmax(0, 1fr); }
  .columns.with-side > section:not(.side) { display: none; }
  .columns.with-side > .side { display: flex; }
  .columns.two { grid-template-columns: minmax(0, 1fr); grid-template-rows: minmax(0, 1fr) minmax(0, 1fr); overflow: hidden; }
  .columns.two > .side { border-left: 0; border-top: 1px solid var(--line-strong); }
  .event { grid-template-columns: 88px 58px minmax(0, 1fr); }
  .event > .muted { display: none; }
  .request { grid-template-columns: 46px minmax(0, 1fr) 40px 56px; }
  .request > :nth-child(1), .request > :nth-child(4), .request > :nth-child(7) { display: none; }
}
@media (prefers-reduced-motion: no-preference) { .bar span { transition: width 0.2s; } }
`
