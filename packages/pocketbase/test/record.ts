/** Asks the real PocketBase what it answers to the cases, and keeps that: `npm run node -- packages/pocketbase/test/record.ts`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPocketBase, PocketBaseServer } from '../../../tools/test/pocketbase.ts'
import { CASES } from './cases.ts'
import { EVENT_CASES, playToEnd } from './events.ts'
import { writeMigrations, writeProject } from './folder.ts'
import { MIGRATIONS } from './migrations.ts'
import { play, prepare, stateOf } from './project.ts'

function keep(name: string, value: unknown): void {
  writeFileSync(join(import.meta.dirname, 'golden', name), `${JSON.stringify(value, undefined, 2)}\n`)
}

const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
writeProject(project, CASES)
const events = mkdtempSync(join(tmpdir(), 'pb-project-'))
writeProject(events, EVENT_CASES)
const migrated = mkdtempSync(join(tmpdir(), 'pb-project-'))
writeMigrations(migrated, MIGRATIONS)
try {
  await using peer = await PocketBaseServer.start(findPocketBase()!, undefined, project)
  await prepare(peer, CASES)
  keep('answers.json', await play(peer, CASES))
  await using other = await PocketBaseServer.start(findPocketBase()!, undefined, migrated)
  keep('migrated.json', await stateOf(other))
  const third = await PocketBaseServer.start(findPocketBase()!, undefined, events)
  await prepare(third, EVENT_CASES)
  keep('events.json', await playToEnd(third, () => third[Symbol.asyncDispose](), events))
} finally {
  for (const folder of [project, migrated, events]) rmSync(folder, { recursive: true, force: true })
}
