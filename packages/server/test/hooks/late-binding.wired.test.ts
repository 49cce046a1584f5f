/** Goal: what a hook file binds too late, or wrongly, is refused with its name. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRest } from '../rest/rest-server.ts'

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'late-'))
  await mkdir(join(dir, 'hooks'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const LATE: Readonly<Record<string, string>> = {
  cronAdd: `cronAdd('late', '* * * * *', () => {})`,
  routerAdd: `routerAdd('GET', '/late', () => {})`,
  routerUse: `routerUse(() => {})`,
  onRecordCreate: `onRecordCreate(() => {})`,
  onBatchRequest: `onBatchRequest(() => {})`,
}

test('a function that binds throws in a handler, with its name', async () => {
  const routes = Object.entries(LATE).map(
    ([name, call]) =>
      `hooks.routerAdd('GET', '/${name}', (e) => { const { ${name} } = hooks; try { ${call} } catch (error) { e.string(200, error.message) } })`,
  )
  await writeFile(join(dir, 'hooks', 'main.js'), `export default (hooks) => { ${routes.join('\n')} }`)
  const server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: join(dir, 'hooks'), watch: false } } })
  for (const name of Object.keys(LATE))
    expect(await (await fetch(`${server.url}/${name}`)).text()).toBe(
      `${name}(): must be called while the file loads, in the function that it exports by default.`,
    )
  await server.close()
})

test('a wrong cron expression is refused with its file and line', async () => {
  await writeFile(
    join(dir, 'hooks', 'main.js'),
    `export default ({ cronAdd }) =>\n  cronAdd('a', '99 * * * *', () => {})`,
  )
  await expect(
    startRest({ dir: join(dir, 'data'), app: { hooks: { dir: join(dir, 'hooks'), watch: false } } }),
  ).rejects.toThrow(
    /hooks\/main\.js:2: cronAdd\(\): expression of 'a' must be a cron expression .*, got '99 \* \* \* \*'/,
  )
})
