/** Goal: a file that can't run says where, and files that are not of PocketBase stay alone. Method: servers whose project has such files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '@pannier/server'

const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
const file = join(project, 'pb_hooks/main.pb.js')

beforeAll(() => mkdirSync(join(project, 'pb_hooks')))
afterAll(() => rmSync(project, { recursive: true, force: true }))

test.for([
  ['\nonServe((e) => e.next())', 'pb_hooks/main.pb.js:2: onServe() is not there on Pannier.'],
  ['\n\nthrow new Error("while it loads")', 'pb_hooks/main.pb.js:3: while it loads'],
  ["onRecordCreate('no function')", 'onRecordCreate(): handler must be a function'],
  ["cronAdd('job', 'never', () => {})", "expression of 'job' must be a cron expression"],
] as const)('a server with %j does not start', async ([text, message]) => {
  writeFileSync(file, text)
  await using database = await open('failing', { storage: memory() })
  const started = createServer({ database, logger: false, app: { pocketbase: { dir: project } } })
  await expect(started).rejects.toThrow(message)
})

test('an error in a handler is logged with its file and line', async () => {
  writeFileSync(file, "\nrouterAdd('GET', '/api/failing', (e) => {\n  const nothing = null\n  nothing.more()\n})\n")
  await using database = await open('logging', { storage: memory() })
  const server = await createServer({ database, logger: false, app: { pocketbase: { dir: project } } })
  try {
    const logged: unknown[] = []
    const { hooks } = server.backend
    Object.assign(hooks, { log: (_message: string, { error }: { readonly error: Error }) => logged.push(error.stack) })
    const url = await server.listen()
    expect((await fetch(`${url}/api/failing`)).status).toBe(400)
    expect(logged).toEqual([expect.stringContaining(`${file}:4:11`)])
  } finally {
    await server.close()
  }
})

test('folders `hooks` and `migrations` of a project are not those of the server', async () => {
  writeFileSync(file, '')
  for (const name of ['hooks', 'migrations']) {
    mkdirSync(join(project, name))
    writeFileSync(join(project, name, '1700000000_other.js'), 'throw new Error("of another program")')
  }
  const server = await createServer({
    dir: join(project, 'data'),
    logger: false,
    app: { pocketbase: { dir: project } },
  })
  await server.close()
})
