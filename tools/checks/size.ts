/**
 * Checks what the library costs a page: everything that `open` with IndexedDB brings along, minified and compressed. What
 * is only loaded when it is called for (`import()`) is told apart.
 */
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './packages.ts'

const ENTRY = 'packages/db/src/index.ts'
/** What is aimed at. It is not met: docs/adr/0003-bundle-size.md. */
const BUNDLE_BYTES_GOAL = 20 * 1024
/** The ratchet: a little above what it is now. It may only be lowered. */
const BUNDLE_BYTES_MAX = 49.5 * 1024
const LARGEST_COUNT = 5

const result = await build({
  entryPoints: [join(root, ENTRY)],
  absWorkingDir: root,
  outdir: root,
  bundle: true,
  splitting: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  conditions: ['pannier-source', 'browser'],
  legalComments: 'none',
  logLevel: 'error',
})
const { outputs } = result.metafile
const entry = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === ENTRY)!
const loaded = closureOf(entry)
const bytes = compressedBytes(loaded)
const inputs = [...loaded].flatMap((name) => Object.entries(outputs[name]!.inputs))
const largest = inputs.toSorted(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput).slice(0, LARGEST_COUNT)

console.log(
  `= browser bundle: ${kibibytes(bytes)} KiB, minified and compressed (allowed ${kibibytes(BUNDLE_BYTES_MAX)}, goal ${kibibytes(BUNDLE_BYTES_GOAL)}); largest:`,
)
for (const [path, { bytesInOutput }] of largest) {
  console.log(`=   ${kibibytes(bytesInOutput).padStart(5)} KiB minified  ${path}`)
}
for (const { path, kind } of [...loaded].flatMap((name) => outputs[name]!.imports)) {
  if (kind !== 'dynamic-import') continue
  const further = new Set([...closureOf(path)].filter((name) => !loaded.has(name)))
  console.log(
    `=   ${kibibytes(compressedBytes(further)).padStart(5)} KiB loaded only when called for: ${outputs[path]?.entryPoint}`,
  )
}
if (bytes > BUNDLE_BYTES_MAX) console.error(`The browser bundle is ${bytes - BUNDLE_BYTES_MAX} bytes too large.`)
process.exitCode = bytes > BUNDLE_BYTES_MAX ? 1 : 0

/** What is loaded with an output: itself and what it imports statically. */
function closureOf(name: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const { path, kind } of outputs[name]!.imports) if (kind === 'import-statement') closureOf(path, found)
  return found
}

/** Together, as bundlers that know what is loaded already put it into one file. */
function compressedBytes(names: ReadonlySet<string>): number {
  const files = result.outputFiles.filter(({ path }) => names.has(relative(root, path)))
  return gzipSync(Buffer.concat(files.map(({ contents }) => contents)), { level: 9 }).length
}

function kibibytes(count: number): string {
  return (count / 1024).toFixed(1)
}
