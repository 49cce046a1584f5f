/**
 * Checks what would be published: publint and attw find nothing wrong with the package, every entry loads from the build
 * in Node, and every entry bundles for a browser without anything of Node in it.
 */
import { join } from 'node:path'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { run } from '../processes.ts'
import { PACKAGES, root, type PublishedPackage } from './packages.ts'

/** Entries that only Node has a use for. */
const NODE_ONLY = ['pannier/sqlite', '@pannier/server', '@pannier/server/cli']

const problems: string[] = []
for (const published of PACKAGES) {
  await checkManifest(published)
  await checkTypes(published)
  await checkNode(published)
  await checkBrowser(published)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

async function checkManifest({ name, folder }: PublishedPackage): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: 'npm' })
  for (const message of messages) problems.push(`publint, ${name}: ${formatMessage(message, pkg, { color: false })}`)
}

async function checkTypes({ name, folder }: PublishedPackage): Promise<void> {
  const program = join(root, 'node_modules/.bin/attw')
  const { code, output } = await run(program, ['--pack', folder, '--profile', 'esm-only', '--no-color', '--no-emoji'])
  if (code !== 0) problems.push(`attw, ${name}:\n${output}`)
}

/** Without the condition that leads to the sources. */
async function checkNode({ entries, folder }: PublishedPackage): Promise<void> {
  for (const { specifier } of entries) {
    const script = `const names = Object.keys(await import(${JSON.stringify(specifier)})); if (names.length === 0) throw new Error('nothing exported')`
    const { code, output } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder })
    if (code !== 0) problems.push(`${specifier} does not load in Node:\n${output}`)
  }
}

async function checkBrowser({ entries, folder }: PublishedPackage): Promise<void> {
  for (const { specifier } of entries) {
    if (NODE_ONLY.includes(specifier)) continue
    const stdin = { contents: `export * from ${JSON.stringify(specifier)}`, resolveDir: folder }
    try {
      await build({ stdin, bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' })
    } catch (error) {
      problems.push(`${specifier} does not bundle for browsers:\n${(error as Error).message}`)
    }
  }
}
