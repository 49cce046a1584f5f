/** Packs the published packages. As a script: builds them and packs them into dist/packages, for an app that tries them before they are on npm. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes.ts'
import { build } from './build.ts'
import { PACKAGES, root } from './packages.ts'

export interface Packed {
  readonly name: string
  /** Path of the archive. */
  readonly tarball: string
  /** Paths from the package's folder. */
  readonly files: readonly string[]
}

interface NpmPacked {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

if (import.meta.main) {
  await build()
  const target = join(root, 'dist/packages')
  const packed = await pack(target)
  console.log(`${packed.length} packages. In your app: npm install ${join(target, '*.tgz')}`)
}

/** Packs what is built into an empty folder. */
export async function pack(target: string): Promise<readonly Packed[]> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const workspaces = PACKAGES.map(({ name }) => `--workspace=${name}`)
  const parameters = ['pack', ...workspaces, '--json', '--ignore-scripts', '--silent', '--pack-destination', target]
  const { code, output } = await run('npm', parameters, { cwd: root })
  if (code !== 0) throw new Error(`npm pack:\n${output}`)
  const packed = JSON.parse(output.slice(output.indexOf('['))) as readonly NpmPacked[]
  return packed.map(({ name, filename, files }) => ({
    name,
    tarball: join(target, filename),
    files: files.map(({ path }) => path),
  }))
}
