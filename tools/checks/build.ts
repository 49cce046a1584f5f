/** Builds every published package: ES modules, declarations and source maps in dist/. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes.ts'
import { PACKAGES, root } from './packages.ts'

for (const { name, folder } of PACKAGES) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const compiler = join(root, 'node_modules/.bin/tsc')
  const { code, output } = await run(compiler, ['-p', join(folder, 'tsconfig.build.json')])
  if (code !== 0) {
    console.error(`${name} does not build:\n${output}`)
    process.exit(1)
  }
}
