/** Goal: what a closed handle still has to tell PostgreSQL keeps no process alive. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onPostgres } from './on-postgres.ts'

/** How long a call waits for PostgreSQL. */
const WAIT_MS_MAX = 12_000

onPostgres((get) => {
  test('a process that has closed its database ends at once, although PostgreSQL is away', async () => {
    const { server, url } = get()
    const child = fork(join(import.meta.dirname, 'closing-process.ts'), [url, String(WAIT_MS_MAX)], {
      execArgv: ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning'],
    })
    const exited = once(child, 'exit')
    await once(child, 'message')
    await server.stop('SIGQUIT')
    child.send('close')
    await once(child, 'message')
    const closedMs = performance.now()
    expect(await exited).toEqual([0, null])
    expect(performance.now() - closedMs).toBeLessThan(WAIT_MS_MAX / 2)
  })
})
