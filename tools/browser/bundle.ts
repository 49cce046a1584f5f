/** Bundles TypeScript for a page, straight from the sources of the workspace packages. */
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { components, PAGE_BUILD } from '../web/bundle.ts'

/** Pages of the lane real use products that only bench installs. */
const PEERS = resolve(import.meta.dirname, '../../bench/node_modules')
/** By entry: engines that run beside one another are given the same. Sources do not change while a process lives. */
const bundles = new Map<string, Promise<string>>()

/** One ES module for browsers. Names are kept for stacks; the rest is short, as each tab and worker reads all of it. */
export function bundle(entry: string): Promise<string> {
  const known = bundles.get(entry) ?? make(entry)
  bundles.set(entry, known)
  return known
}

async function make(entry: string): Promise<string> {
  const options = {
    entryPoints: [entry],
    plugins: [components],
    nodePaths: [PEERS],
    minifyWhitespace: true,
    minifySyntax: true,
  }
  const result = await build({ ...PAGE_BUILD, ...options })
  return result.outputFiles[0]?.text ?? ''
}
