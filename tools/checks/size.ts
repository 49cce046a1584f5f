/** Checks what the library costs a page: everything that `open` with IndexedDB brings along, minified and compressed. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './packages.ts'

const BUNDLE_BYTES_MAX = 20 * 1024
const LARGEST_COUNT = 5

const result = await build({
  entryPoints: [join(root, 'packages/db/src/index.ts')],
  absWorkingDir: root,
  bundle: true,
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
const bytes = gzipSync(result.outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length
const inputs = Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs))
const largest = inputs.toSorted(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput).slice(0, LARGEST_COUNT)

console.log(
  `= browser bundle: ${kibibytes(bytes)} of ${kibibytes(BUNDLE_BYTES_MAX)} KiB, minified and compressed; largest:`,
)
for (const [path, { bytesInOutput }] of largest) {
  console.log(`=   ${kibibytes(bytesInOutput).padStart(5)} KiB minified  ${path}`)
}
if (bytes > BUNDLE_BYTES_MAX) console.error(`The browser bundle is ${bytes - BUNDLE_BYTES_MAX} bytes too large.`)
process.exitCode = bytes > BUNDLE_BYTES_MAX ? 1 : 0

function kibibytes(count: number): string {
  return (count / 1024).toFixed(1)
}
