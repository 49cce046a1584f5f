/** Builds every published package: ES modules, declarations and source maps in dist/, the files for `<script>`, and the
 * admin page. */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build as bundle } from 'esbuild'
import { run } from '../processes.ts'
import { writeAdminPage } from '../web/admin-page.ts'
import { joinModules } from './join-modules.ts'
import { PACKAGES, root } from './packages.ts'

if (import.meta.main) await build()

export async function build(): Promise<void> {
  const compiler = join(root, 'node_modules/.bin/tsc')
  for (const { name, folder } of PACKAGES) {
    rmSync(join(folder, 'dist'), { recursive: true, force: true })
    const { code, output } = await run(compiler, ['-p', join(folder, 'tsconfig.build.json')])
    if (code !== 0) throw new Error(`${name} does not build:\n${output}`)
  }
  await joinLibrary(join(root, 'packages/db/dist'))
  await writeAdminPage()
  await buildScript('packages/jsonstore/src/script.ts', 'packages/jsonstore/dist/jsonstore.min.js')
}

/** Replaces the library's modules with the joined ones. */
async function joinLibrary(dist: string): Promise<void> {
  for (const file of globSync('**/*.{js,js.map}', { cwd: dist })) rmSync(join(dist, file))
  for (const { fileName, code, map } of await joinModules({ sourcemap: true })) {
    const path = join(dist, fileName)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code)
    if (map !== undefined) writeFileSync(`${path}.map`, map)
  }
}

/** One file for pages without a bundler, with everything that it needs. */
export async function buildScript(entry: string, output: string): Promise<void> {
  await bundle({
    entryPoints: [join(root, entry)],
    outfile: join(root, output),
    bundle: true,
    minify: true,
    sourcemap: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    conditions: ['pannier-source', 'browser'],
    supported: { using: false },
    logLevel: 'warning',
  })
}
