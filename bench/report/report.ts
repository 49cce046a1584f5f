/**
 * Makes the report: one HTML file that needs nothing else. It shows tables without scripts; the bundle of page.ts draws
 * charts over them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { ResultFile } from '../harness/results.ts'
import { bodyOf } from './body.ts'
import { chartsOf } from './charts.ts'

/** Everything that takes time is done now: the function it gives does not wait. */
export async function prepareReport(): Promise<(files: readonly ResultFile[]) => string> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, 'page.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    logLevel: 'silent',
  })
  const script = built.outputFiles[0]?.text ?? ''
  const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')
  return (files) => renderReport(files, { script, style })
}

export function renderReport(
  files: readonly ResultFile[],
  { script, style }: { readonly script: string; readonly style: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pannier, measured</title>
<style>${style}</style>
</head>
<body>
${bodyOf(files)}
<script type="application/json" id="charts">${inScript(JSON.stringify(chartsOf(files)))}</script>
<script>${inScript(script)}</script>
</body>
</html>
`
}

/** Nothing in a script may end it, or begin a comment. */
function inScript(text: string): string {
  return text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
}
