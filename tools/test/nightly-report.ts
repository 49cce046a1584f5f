/** The report of a nightly run: one page that needs nothing else. */
import type { Failure } from './outcome.ts'

/** The result of one part of the run. */
export interface Ran {
  readonly name: string
  /** As it stands before a command: `SEED=7 `. */
  readonly settings: string
  readonly seconds: number
  readonly passed: number
  readonly failures: readonly Failure[]
}

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse } td, th { padding: 0.25rem 1rem 0.25rem 0; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8886; border-radius: 6px } summary { cursor: pointer }
.failed { color: #c22 } code { user-select: all }`

export function reportPage(ran: readonly Ran[]): string {
  const failures = ran.flatMap((one) => one.failures)
  const verdict = failures.length === 0 ? 'All passed' : `${failures.length} failed`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${verdict}: nightly run</title>
<style>${STYLE}</style>
<h1>${verdict}</h1>
<table>
<tr><th>Part</th><th>Passed</th><th>Failed</th><th>Seconds</th><th>Settings</th></tr>
${ran.map(row).join('\n')}
</table>
${failures.map(details).join('\n')}
</html>
`
}

function row({ name, settings, seconds, passed, failures }: Ran): string {
  const failed = `<td class="number${failures.length > 0 ? ' failed' : ''}">${failures.length}</td>`
  return `<tr><td>${name}</td><td class="number">${passed}</td>${failed}<td class="number">${seconds.toFixed(0)}</td><td><code>${escaped(settings.trim())}</code></td></tr>`
}

function details({ title, text, replay }: Failure): string {
  const again = replay === '' ? '' : `<p>Again: <code>${escaped(replay)}</code></p>`
  return `<details open><summary class="failed">${escaped(title)}</summary>${again}<pre>${escaped(text)}</pre></details>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
