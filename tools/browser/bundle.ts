/** Bundles TypeScript for a page, straight from the sources of the workspace packages. */
import { build } from 'esbuild'
import { PAGE_BUILD } from '../web/bundle.ts'

/** One ES module for browsers, with an inline source map so that stacks name the sources. */
export async function bundle(entry: string): Promise<string> {
  const result = await build({ ...PAGE_BUILD, entryPoints: [entry], sourcemap: 'inline', sourcesContent: false })
  return result.outputFiles[0]?.text ?? ''
}
