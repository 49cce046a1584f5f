/** Builds every published package: ES modules, declarations and source maps in dist/. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes.ts'
import { PACKAGES, root } from './packages.ts'

if (import.meta.main) await build()

export async function build(): Promise<void> {
  const compiler = join(root, 'node_modules/.bin/tsc')
  for (const { name, folder } of PACKAGES) {
    rmSync(join(folder, 'dist'), { recursive: true, force: true })
    const { code, output } = await run(compiler, ['-p', join(folder, 'tsconfig.build.json')])
    if (code !== 0) throw new Error(`${name} does not build:\n${output}`)
  }
}
