/** Bundles TypeScript for a page, straight from the sources of the workspace packages. */
import { build } from 'esbuild'

/** One ES module for browsers, with an inline source map so that stacks name the sources. */
export async function bundle(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['pannier-source', 'browser'],
    // TypeScript's `using` is lowered, as not every engine knows it.
    supported: { using: false },
    sourcemap: 'inline',
    sourcesContent: false,
    loader: { '.wasm': 'binary' },
    logLevel: 'silent',
  })
  return result.outputFiles[0]?.text ?? ''
}
