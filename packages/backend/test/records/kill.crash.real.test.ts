/**
 * Goal: a process that is killed in a batch or a cascade leaves all of it or nothing, and what it has acknowledged. Method:
 * kill -9 at a random moment, many times on one file. EFFORT=10 kills more often.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'pannier'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import { TASKS_OF_TEAM, teamId } from './killed-collections.ts'
import { worldOf } from './world.ts'

const rounds = times(5)
const seed = FIRST_SEED
const LOAD_MS_MAX = 250
/** No round makes as many teams. */
const TEAMS_OF_ROUND = 10_000

interface Message {
  readonly made?: string
  readonly deleted?: string
}

/** Works on the file until it is killed; gives what was acknowledged. */
async function killed(file: string, first: number, loadMs: number): Promise<readonly Message[]> {
  const child = fork(join(import.meta.dirname, 'killed-process.ts'), [file, String(first)], {
    execArgv: ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const messages: Message[] = []
  child.on('message', (message: Message) => messages.push(message))
  const gone = once(child, 'exit')
  while (!messages.some(({ made }) => made !== undefined)) await once(child, 'message')
  await sleep(loadMs)
  child.kill('SIGKILL')
  await gone
  return messages
}

test(`${rounds} kills (SEED=${seed})`, { timeout: 120_000 + rounds * 10_000 }, async () => {
  const random = seededRandom(seed)
  const folder = await mkdtemp(join(tmpdir(), 'pannier-records-'))
  const file = join(folder, 'records.sqlite')
  const teams = new Set<string>()
  try {
    for (let round = 0; round < rounds; round++) {
      const first = round * TEAMS_OF_ROUND
      const messages = await killed(file, first, random.below(LOAD_MS_MAX))
      for (const { made, deleted } of messages) {
        if (made !== undefined) teams.add(made)
        if (deleted !== undefined) teams.delete(deleted)
      }
      const made = messages.flatMap((message) => message.made ?? [])
      // Either may have come in the middle of what was acknowledged last: the next batch, or the cascade.
      const open = new Set([teamId(first + made.length), ...made.slice(-1)])
      await check(file, teams, open)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** `open`: teams that may be there or not; those that are count from now on. */
async function check(file: string, teams: Set<string>, undecided: ReadonlySet<string>): Promise<void> {
  const database = await open(file)
  const world = worldOf(database, await Definitions.open(database))
  expect((await database.check()).problems).toEqual([])
  const stored = new Set(Object.keys(await world.stored('teams')))
  for (const id of undecided) {
    if (stored.has(id)) teams.add(id)
    else teams.delete(id)
  }
  expect(stored).toEqual(teams)
  const tasks = new Map<string, number>()
  for (const { team } of Object.values(await world.stored('tasks')))
    tasks.set(team as string, (tasks.get(team as string) ?? 0) + 1)
  expect(tasks).toEqual(new Map([...teams].map((id) => [id, TASKS_OF_TEAM])))
  await world.close()
}
