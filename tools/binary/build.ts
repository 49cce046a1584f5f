/** `npm run binary [-- FILE]`: the server as one executable file for this system, `dist/pannier` when no file is named. */
import { globSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import manifest from '../../packages/server/package.json' with { type: 'json' }
import { run } from '../processes.ts'
import { ADMIN_FILE, writeAdminPage } from '../web/admin-page.ts'

const root = resolve(import.meta.dirname, '../..')
/** Node's own mark, where the content goes. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const PROGRAMS: Readonly<Record<string, string>> = {
  thread: 'packages/server/src/sandbox/thread.ts',
  'hook-thread': 'packages/pocketbase/src/thread/hook-thread.ts',
  'model-program': 'packages/backend/src/model/model-program.ts',
}
/** Native code can't be run from within the file: it goes through a file that is gone at once. */
const BCRYPT: Plugin = {
  name: 'bcrypt',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@node-rs\/bcrypt$/ }, ({ path }) => ({ path, namespace: 'asset' }))
    onLoad({ filter: /.*/, namespace: 'asset' }, () => ({ contents: LOAD_BCRYPT, resolveDir: root }))
  },
}
const LOAD_BCRYPT = `
  const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
  const folder = mkdtempSync(require('node:path').join(require('node:os').tmpdir(), 'pannier-'))
  try {
    writeFileSync(folder + '/bcrypt.node', Buffer.from(require('node:sea').getRawAsset('bcrypt.node')))
    process.dlopen(module, folder + '/bcrypt.node')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }`
const BUILD: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  conditions: ['pannier-source'],
  minifySyntax: true,
  minifyWhitespace: true,
  // Its native code makes thumbs. Without it originals take their place.
  external: ['sharp'],
  define: { 'import.meta.url': '"file:///pannier"', 'import.meta.dirname': '"/"' },
  plugins: [BCRYPT],
  logLevel: 'error',
}

if (import.meta.main) await buildBinary(resolve(process.argv[2] ?? join(root, 'dist/pannier')))

export async function buildBinary(output: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pannier-binary-'))
  try {
    await writeAdminPage()
    const assets: Record<string, string> = {
      'admin.json': ADMIN_FILE,
      'quickjs.wasm': wasmFile(),
      'bcrypt.node': bcryptFile(),
      version: join(folder, 'version'),
    }
    await writeFile(assets['version']!, manifest.version)
    for (const [name, entry] of Object.entries(PROGRAMS)) {
      assets[name] = join(folder, `${name}.cjs`)
      await build({ ...BUILD, entryPoints: [join(root, entry)], outfile: assets[name] })
    }
    const main = join(folder, 'main.cjs')
    await build({ ...BUILD, entryPoints: [join(import.meta.dirname, 'entry.ts')], outfile: main })
    const blob = join(folder, 'blob')
    const configuration = join(folder, 'sea.json')
    const settings = { main, output: blob, assets, disableExperimentalSEAWarning: true }
    await writeFile(configuration, JSON.stringify(settings))
    await runOrThrow(process.execPath, ['--experimental-sea-config', configuration])
    const executable = join(folder, 'pannier')
    await copyFile(process.execPath, executable)
    await chmod(executable, 0o755)
    const inject = join(root, 'node_modules/postject/dist/cli.js')
    await runOrThrow(process.execPath, [inject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE])
    await mkdir(dirname(output), { recursive: true })
    await copyFile(executable, output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function wasmFile(): string {
  const from = createRequire(join(root, 'packages/server/package.json'))
  const variant = createRequire(from.resolve('quickjs-emscripten'))
  return variant.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
}

/** npm has installed the one that is for this system. */
function bcryptFile(): string {
  const [file] = globSync('node_modules/@node-rs/bcrypt-*/*.node', { cwd: root })
  if (file === undefined) throw new Error('@node-rs/bcrypt has no binary for this system: run npm ci.')
  return join(root, file)
}

async function runOrThrow(program: string, parameters: readonly string[]): Promise<void> {
  const { code, output } = await run(program, parameters)
  if (code !== 0) throw new Error(`${program} ${parameters.join(' ')} has failed:\n${output}`)
}
