/**
 * Goal: no code in the docs is wrong. Method: the TypeScript of READMEs, guide and reference is type-checked against
 * the packages. Code that runs in Node is run, and must print what the page says. `https://example.org` is a local
 * server there.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createServer } from '@pannier/server'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { makeFolder, removeFolder, run } from '../processes.ts'
import { runCaptured } from '../../packages/server/test/cli/run-captured.ts'
import { modulesOf, readPages, root, type DocsPage } from './code-blocks.ts'

/**
 * `js`: of @pannier/jsonstore's README, which its own test runs. `html`: files of the tutorial, which its transcript uses. `vue` and
 * `svelte`: components, which tests of their packages render.
 */
const LANGUAGES = ['ts', 'tsx', 'vue', 'svelte', 'sh', 'html', 'json', 'js', 'text', 'prelude']
/** The server's admin, whom the pages name. */
const ADMIN = { username: 'ann', password: 'correct horse' }

/** Options of an app's compiler, as strict as our own. */
const COMPILER_OPTIONS = {
  declaration: false,
  isolatedDeclarations: false,
  moduleDetection: 'force',
  jsx: 'react-jsx',
  // Angular's.
  experimentalDecorators: true,
  typeRoots: [join(root, 'node_modules/@types')],
}

/** A declaration that pages take from the app around them: it shows something to the user. */
const RENDER = 'declare function render(...shown: readonly unknown[]): void'

/** The module of the app that opens its database. */
const DATABASE = `import type { Collection, Database } from 'pannier'
export interface Person { name: string; city: string }
export declare const db: Database
export declare const people: Collection<Person>
`

const pages = readPages()
const modules = pages.flatMap(modulesOf)
const folder = makeFolder('docs')
const types = join(folder, 'types')
const runs = join(folder, 'runs')
const cwd = process.cwd()
beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // The guide has lines of products that only bench installs.
  for (const inner of [types, runs]) {
    mkdirSync(inner)
    symlinkSync(join(root, 'bench/node_modules'), join(inner, 'node_modules'))
  }
})

afterAll(() => {
  process.chdir(cwd)
  removeFolder(folder)
})

test('each block has a language that somebody looks after', () => {
  const unknown = pages.flatMap(({ path, blocks }) =>
    blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(({ line }) => `${path}:${line}`),
  )
  expect(unknown).toEqual([])
})

test('the commands that are shown exist, with their options', async () => {
  for (const { path, command, options } of pages.flatMap(commandsOf)) {
    const { code, out } = await runCaptured([...command, '--help'])
    expect(code, `${path}: pannier ${command.join(' ')}`).toBe(0)
    for (const option of options) expect(out, `${path}: pannier ${command.join(' ')} ${option}`).toContain(option)
  }
})

test('the blocks agree with the types of the packages', async () => {
  for (const { name, code } of modules) writeFileSync(join(types, name), code)
  writeFileSync(join(types, 'render.d.ts'), RENDER)
  writeFileSync(join(types, 'database.ts'), DATABASE)
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: COMPILER_OPTIONS,
    include: ['*', join(root, 'packages/*/src/*.d.ts'), join(root, 'packages/sqlite-storage/test/runtimes.d.ts')],
  }
  writeFileSync(join(types, 'tsconfig.json'), JSON.stringify(config))
  const { output } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', types])
  const pageOf = new Map(modules.map(({ name, page }) => [name, page]))
  const errors = output.replaceAll(/^(?:.*\/)?([\w.-]+\.tsx?)\((\d+),(\d+)\)/gm, (all, name: string, line, column) =>
    pageOf.has(name) ? `${pageOf.get(name)}:${line}:${column}` : all,
  )
  expect(errors).toBe('')
})

describe('what runs prints what the page says', () => {
  test.each(modules.filter(({ runnable }) => runnable !== undefined))('$name', async ({ name, runnable, prints }) => {
    const home = join(runs, name.replace('.ts', ''))
    mkdirSync(home)
    process.chdir(home)
    await using server = await startServer()
    writeFileSync(join(home, 'pannier.ts'), SHIM)
    for (const [index, text] of Object.values(RUNTIMES).entries())
      writeFileSync(join(home, `runtime-${index}.ts`), text)
    writeFileSync(join(home, 'module.ts'), withRuntimes(withServer(runnable!, server.url)))
    const printed: string[] = []
    const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
      printed.push(values.map((value) => (typeof value === 'string' ? value : inspected(value))).join(' '))
    })
    vi.stubGlobal('render', () => {})
    try {
      const exported = (await import(/* @vite-ignore */ join(home, 'module.ts'))) as Partial<Durable>
      if (exported.Room !== undefined) await useRoom(new exported.Room())
      const { opened } = (await import(/* @vite-ignore */ join(home, 'pannier.ts'))) as { opened: AsyncDisposable[] }
      for (const db of opened) await db[Symbol.asyncDispose]()
    } finally {
      log.mockRestore()
      vi.unstubAllGlobals()
    }
    expect(printed).toEqual(prints.map((line) => expect.stringMatching(patternOf(line)) as string))
  })
})

/** Each `pannier …` in a block of commands: the words before the first that is no name, and the options. */
function commandsOf({ path, blocks }: DocsPage): { path: string; command: string[]; options: string[] }[] {
  const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split('\n'))
  return lines.flatMap((line) => {
    const [, rest] = /^(?:npx )?pannier (.*)$/.exec(line) ?? []
    if (rest === undefined) return []
    const words = rest.replace(/ #.*/, '').split(' ')
    const nested = ['user', 'db', 'superuser', 'rules', 'backup', 'settings'].includes(words[0]!) ? 2 : 1
    return [{ path, command: words.slice(0, nested), options: words.filter((word) => word.startsWith('--')) }]
  })
}

/** A server that nobody has used yet. */
async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const database = await open('server', { storage: memory() })
  const server = await createServer({ database, couchAdmin: `${ADMIN.username}:${ADMIN.password}`, logger: false })
  return {
    url: await server.listen({ port: 0 }),
    async [Symbol.asyncDispose]() {
      await server.close()
      await database.close()
    },
  }
}

/** A replication logs in by its URL; `fetch` takes none that does. */
function withServer(code: string, url: string): string {
  const withAdmin = Object.assign(new URL(url), ADMIN).href.slice(0, -1)
  const lines = code.replaceAll("from 'pannier'", "from './pannier.ts'").split('\n')
  return lines
    .map((line) => line.replaceAll('https://example.org', line.includes('fetch(') ? url : withAdmin))
    .join('\n')
}

/** In place of `pannier`: what a page has opened is closed at its end. */
const SHIM = `
export * from 'pannier'
import { open as openDatabase } from 'pannier'
export const opened = []
export const open = async (...parameters) => {
  const db = await openDatabase(...parameters)
  opened.push(db)
  return db
}
`

const SHAPES = JSON.stringify(join(root, 'packages/sqlite-storage/test/shapes.ts'))

/** Modules of other runtimes, in their shapes over Node's SQLite. */
const RUNTIMES: Readonly<Record<string, string>> = {
  'cloudflare:workers': `
    import { durableShape } from ${SHAPES}
    export class DurableObject { ctx = { storage: durableShape() } }`,
  'expo-sqlite': `
    import { expoShape } from ${SHAPES}
    export const { openDatabaseSync, deleteDatabaseSync } = expoShape(import.meta.dirname)`,
  '@op-engineering/op-sqlite': `
    import { opShape } from ${SHAPES}
    export const { open } = opShape(import.meta.dirname)`,
  'react-native-get-random-values': 'export {}',
  electron: `
    export const app = { getPath: () => import.meta.dirname }
    export const ipcMain = { handle(name, listener) { void listener() } }`,
}

/** The class of the pages for Durable Objects. */
interface Durable {
  readonly Room: new () => { readonly db: Promise<unknown>; say?(text: string): Promise<unknown> }
}

async function useRoom(room: InstanceType<Durable['Room']>): Promise<void> {
  await room.db
  await room.say?.('Hello')
}

function withRuntimes(code: string): string {
  return Object.keys(RUNTIMES).reduce(
    (made, name, index) => made.replace(new RegExp(`(from|import) '${name}'`), `$1 './runtime-${index}.ts'`),
    code.replace("from 'pannier/all'", "from './pannier.ts'"),
  )
}

function inspected(value: unknown): string {
  return inspect(value, { breakLength: Infinity, compact: 100, depth: 10 })
}

function patternOf(line: string): RegExp {
  return new RegExp(
    `^${line
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )
}
