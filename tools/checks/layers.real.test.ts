/**
 * Goal: the lint rules that keep the layers apart really fire. Method: lint small wrong files, laid out as in the
 * repository, with the real configuration.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const repository = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'pannier-lint-'))

/** Where a file is (in packages/db/src, if it does not say where), its text, and the rule that has to object (undefined: none). */
const CASES: readonly (readonly [path: string, text: string, rule: string | undefined])[] = [
  ['btree/up.ts', "import { x } from '../kv/x.ts'\nconsole.log(x)", 'no-restricted-imports'],
  ['btree/up-type.ts', "import type { X } from '../kv/x.ts'\nexport type Y = X", 'no-restricted-imports'],
  ['btree/up-export.ts', "export { x } from '../query/x.ts'", 'no-restricted-imports'],
  ['btree/up-export-type.ts', "export type { X } from '../query/x.ts'", 'no-restricted-imports'],
  ['storage/deep/up.ts', "export { x } from '../../pager/x.ts'", 'no-restricted-imports'],
  ['index/up.ts', "export { x } from '../query/x.ts'", 'no-restricted-imports'],
  ['view/up.ts', "export { x } from '../query/x.ts'", 'no-restricted-imports'],
  ['kv/backend.ts', "export { x } from '../storage/sqlite/sqlite.ts'", 'no-restricted-imports'],
  ['kv/node.ts', "export { readFileSync } from 'node:fs'", 'no-restricted-imports'],
  ['kv/package.ts', "export { x } from 'nanoid'", 'no-restricted-imports'],
  ['kv/default.ts', "export { x } from '#default-storage'", 'no-restricted-imports'],
  ['database/peer.ts', "export { x } from 'pouchdb-core'", 'no-restricted-imports'],
  ['database/package.ts', "export { x } from 'nanoid'", 'no-restricted-imports'],
  ['database/tests.ts', "export { x } from '../../testing/x.ts'", 'no-restricted-imports'],
  ['database/entry.ts', "export { x } from '../index.ts'", 'no-restricted-imports'],
  [
    'packages/server/src/auth/up.ts',
    "export type { Routes } from '../couch/server-context.ts'",
    'no-restricted-imports',
  ],
  ['packages/server/src/couch/up.ts', "export { createServer } from '../server.ts'", 'no-restricted-imports'],
  ['packages/backend/src/gateway/http.ts', "export type { FastifyInstance } from 'fastify'", 'no-restricted-imports'],
  ['packages/backend/src/sql/engine.ts', "export { DatabaseSync } from 'node:sqlite'", 'no-restricted-imports'],
  ['packages/backend/src/model/engine.ts', "export { DatabaseSync } from 'node:sqlite'", undefined],
  ['packages/backend/src/fields/up.ts', "export { x } from '../records/x.ts'", 'no-restricted-imports'],
  ['packages/backend/src/sync/rules/up.ts', "export type { Feed } from '../feed/feed.ts'", 'no-restricted-imports'],
  ['packages/backend/src/sync/push/down.ts', "export type { Feed } from '../feed/feed.ts'", undefined],
  ['packages/server/src/auth/status.ts', "export { HttpError } from '../http/http-error.ts'", 'no-restricted-imports'],
  ['packages/server/src/couch/status.ts', "export { HttpError } from '../http/http-error.ts'", undefined],
  ['pager/clock.ts', 'export const x: number = Date.now()', 'no-restricted-properties'],
  ['pager/chance.ts', 'export const x: number = Math.random()', 'no-restricted-properties'],
  ['pager/timer.ts', 'setTimeout(() => {}, 1)', 'no-restricted-globals'],
  ['pager/global-timer.ts', 'globalThis.setTimeout(() => {}, 1)', 'no-restricted-globals'],
  ['pager/performance.ts', 'export const x: number = performance.now()', 'no-restricted-globals'],
  ['packages/db/test/kv/chance.ts', 'export const x: number = Math.random()', 'no-restricted-properties'],
  ['packages/db/testing/chance.ts', 'export const x: string = crypto.randomUUID()', 'no-restricted-properties'],
  ['packages/db/test/kv/bytes.test.ts', "export { randomBytes } from 'node:crypto'", 'no-restricted-imports'],
  ['packages/server/test/rest/id.ts', "export { randomUUID } from 'node:crypto'", 'no-restricted-imports'],
  ['packages/db/test/kv/clock.ts', 'export const x: number = Date.now()', undefined],
  ['pager/long.ts', `export function f(): void {\n${"void 'x'\n".repeat(70)}}`, 'max-lines-per-function'],
  ['pager/any.ts', 'export const x: any = 1', 'no-explicit-any'],
  [
    'pager/floating.ts',
    'async function f(): Promise<void> {}\nexport function g(): void {\n  f()\n}',
    'no-floating-promises',
  ],
  ['pager/unused.ts', 'const x = 1', 'no-unused-vars'],
  ['pager/cycle-a.ts', "import { b } from './cycle-b.ts'\nexport const a: () => unknown = () => b", 'no-cycle'],
  ['pager/cycle-b.ts', "import { a } from './cycle-a.ts'\nexport const b: () => unknown = () => a", 'no-cycle'],
  ['pager/type-cycle-a.ts', "import type { B } from './type-cycle-b.ts'\nexport type A = B | 1", 'no-cycle'],
  ['pager/type-cycle-b.ts', "import type { A } from './type-cycle-a.ts'\nexport type B = A[]", 'no-cycle'],
  ['query/down.ts', "export { x } from '../index/x.ts'\nexport { y } from '../storage/page-store.ts'", undefined],
  ['index/down.ts', "export { x } from '../document/x.ts'\nexport { y } from './index-key.ts'", undefined],
  [
    'storage/sqlite/node.ts',
    "export { DatabaseSync } from 'node:sqlite'\nexport { x } from '../page-store.ts'",
    undefined,
  ],
  ['database/default.ts', "export { x } from '#default-storage'\nexport { y } from './coordination/y.ts'", undefined],
]

/** Rules broken, by file. */
const broken = new Map<string, string[]>()

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[]
}

beforeAll(() => {
  const place = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const [path, text] of CASES) place(path.startsWith('packages/') ? path : `packages/db/src/${path}`, `${text}\n`)
  place('oxlint.config.ts', `export { default } from ${JSON.stringify(join(repository, 'oxlint.config.ts'))}\n`)
  place(
    'tsconfig.json',
    '{ "compilerOptions": { "strict": true, "noEmit": true, "allowImportingTsExtensions": true } }\n',
  )
  const oxlint = join(repository, 'node_modules/oxlint/bin/oxlint')
  const run = spawnSync(process.execPath, [oxlint, '--format=json'], { cwd: folder, encoding: 'utf8' })
  if (!run.stdout.startsWith('{')) throw new Error(`oxlint gave no report: ${run.stdout}${run.stderr}`)
  for (const { filename, code } of (JSON.parse(run.stdout) as Report).diagnostics) {
    const path = filename.replace('packages/db/src/', '')
    broken.set(path, [...(broken.get(path) ?? []), /\((.+)\)/.exec(code)?.[1] ?? code])
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

for (const [path, , rule] of CASES) {
  test(rule === undefined ? `${path} is allowed` : `${path} breaks ${rule}`, () => {
    const rules = broken.get(path) ?? []
    if (rule === undefined) expect(rules).toEqual([])
    else expect(rules).toContain(rule)
  })
}
