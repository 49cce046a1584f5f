/** Goal: migrations of a PocketBase project make here what they make there, and are undone. Method: the state of the real one. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemEnvironment } from 'pannier/internal'
import { expect, test } from 'vitest'
import { PASSWORD } from '../../../tools/test/pocketbase.ts'
import { migrateDown } from '../../server/src/migrations/migrations.ts'
import { startServer } from '../../server/test/test-server.ts'
import { tokenFor } from '../../server/test/rest/rest-server.ts'
import { writeMigrations } from './folder.ts'
import { MIGRATIONS } from './migrations.ts'
import { stateOf } from './project.ts'

test('migrations of all kinds make what PocketBase makes, and can be reverted', async () => {
  const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden/migrated.json'), 'utf8')) as unknown
  const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
  writeMigrations(project, MIGRATIONS)
  const dir = join(project, 'data')
  const start = (): ReturnType<typeof startServer> => startServer({ dir, app: { pocketbase: { dir: project } } })
  try {
    const server = await start()
    try {
      const token = await tokenFor(server.url, '_superusers', 'made@example.org', PASSWORD)
      expect(await stateOf({ url: server.url, token })).toEqual(golden)
    } finally {
      await server.close()
    }
    const file = {
      path: join(dir, 'pannier.sqlite'),
      folder: join(dir, 'migrations'),
      pocketbase: project,
      environment: systemEnvironment(),
    }
    const count = Object.keys(MIGRATIONS).length
    expect(await migrateDown(file, count)).toHaveLength(count)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
})
