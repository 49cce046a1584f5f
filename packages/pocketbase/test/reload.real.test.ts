/** Goal: a server runs the hooks that are in the folder now. Method: files that change while it runs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test, vi } from 'vitest'
import { createServer } from '@pannier/server'

test('changed files of hooks, and files that they require, are loaded again; a broken one leaves the old ones', async () => {
  const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
  mkdirSync(join(project, 'pb_hooks'))
  const write = (name: string, text: string): void => writeFileSync(join(project, 'pb_hooks', name), text)
  const route = (name: string): string =>
    `routerAdd('GET', '/api/${name}', (e) => e.json(200, require(\`\${__hooks}/shared.js\`)))`
  write('shared.js', 'module.exports = { version: 1 }')
  write('main.pb.js', route('one'))
  await using database = await open('reload', { storage: memory() })
  const server = await createServer({ database, logger: false, app: { pocketbase: { dir: project } } })
  try {
    const url = await server.listen()
    const ask = async (name: string): Promise<unknown> => {
      const reply = await fetch(`${url}/api/${name}`)
      return reply.ok ? await reply.json() : reply.status
    }
    const answers = (name: string, expected: unknown): Promise<void> =>
      vi.waitFor(async () => expect(await ask(name)).toEqual(expected), { timeout: 20_000, interval: 50 })
    await answers('one', { version: 1 })
    write('shared.js', 'module.exports = { version: 2 }')
    await answers('one', { version: 2 })
    write('main.pb.js', 'throw new Error("broken")')
    write('other.pb.js', route('two'))
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect([await ask('one'), await ask('two')]).toEqual([{ version: 2 }, 404])
    write('main.pb.js', '')
    await answers('two', { version: 2 })
    expect(await ask('one')).toBe(404)
  } finally {
    await server.close()
    rmSync(project, { recursive: true, force: true })
  }
})
