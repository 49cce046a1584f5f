/** Builds the published packages and packs them into dist/packages, for an app that tries them before they are on npm. */
import { globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes.ts'
import { build } from './build.ts'
import { PACKAGES, root } from './packages.ts'

const target = join(root, 'dist/packages')
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
await build()
for (const { name, folder } of PACKAGES) {
  const { code, output } = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', target], {
    cwd: folder,
  })
  if (code !== 0) throw new Error(`npm pack, ${name}:\n${output}`)
}
console.log(`${globSync('*.tgz', { cwd: target }).length} packages. In your app: npm install ${join(target, '*.tgz')}`)
