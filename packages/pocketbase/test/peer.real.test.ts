/** Goal: the answers that are kept are PocketBase's. Method: the same projects on the real one. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, type TestContext } from 'vitest'
import { needPocketBase, PocketBaseServer } from '../../../tools/test/pocketbase.ts'
import { CASES } from './cases.ts'
import { EVENT_CASES, playToEnd } from './events.ts'
import { writeMigrations, writeProject } from './folder.ts'
import { MIGRATIONS } from './migrations.ts'
import { play, prepare, stateOf } from './project.ts'

function kept(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'golden', name), 'utf8')) as unknown
}

async function onPeer<T>(
  context: TestContext,
  write: (folder: string) => void,
  use: (peer: PocketBaseServer, project: string) => Promise<T>,
): Promise<T> {
  const program = needPocketBase(context)
  const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
  write(project)
  try {
    await using peer = await PocketBaseServer.start(program, undefined, project)
    return await use(peer, project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

test('PocketBase answers to all kinds of hooks as is kept', async (context) => {
  const answers = await onPeer(
    context,
    (folder) => writeProject(folder, CASES),
    async (peer) => {
      await prepare(peer, CASES)
      return play(peer, CASES)
    },
  )
  expect(answers).toEqual(kept('answers.json'))
})

test('PocketBase makes of all kinds of migrations what is kept', async (context) => {
  const state = await onPeer(context, (folder) => writeMigrations(folder, MIGRATIONS), stateOf)
  expect(state).toEqual(kept('migrated.json'))
})

test('members of events have the kinds there that are kept', async (context) => {
  const seen = await onPeer(
    context,
    (folder) => writeProject(folder, EVENT_CASES),
    async (peer, project) => {
      await prepare(peer, EVENT_CASES)
      return playToEnd(peer, () => peer[Symbol.asyncDispose](), project)
    },
  )
  expect(seen).toEqual(kept('events.json'))
})
