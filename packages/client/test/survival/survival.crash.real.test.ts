/**
 * Goal: whatever happens to the server and to devices, each device comes to what its user may see, and nobody is handed what is hidden.
 * Nothing acknowledged and no refused text is lost.
 * Method: users write on several devices with several handles each, through a proxy that loses requests and answers. Others change roles,
 * rules and records, and end sessions. The server is killed at a random moment, starts with another clock, and is replaced by an older
 * copy without a word. Devices are killed between commits, lose their power, or all of their data. After each start all sync, and each
 * record, row and transaction is compared with what a naive evaluation says. EFFORT=34 kills the server a hundred times.
 * A seed gives the same choices. The moments at which kills meet processes are others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { SurvivalApp, type Fields } from './survival-app.ts'
import { SurvivalDevice, UNLOCKED } from './survival-device.ts'

const rounds = times(3)
const seed = FIRST_SEED
const LOSS = 0.1
const LOAD_MS_MAX = 500

test(`${rounds} kills and restores (SEED=${seed})`, { timeout: 120_000 + rounds * 30_000 }, async () => {
  const random = seededRandom(seed)
  const app = await SurvivalApp.make(seededRandom(seed + 1))
  const [ann, ben] = app.users
  const devices = [
    new SurvivalDevice(app, ann!, { seed: seed * 10 + 1, handles: 2 }),
    new SurvivalDevice(app, ann!, { seed: seed * 10 + 2, handles: 1, tasks: UNLOCKED }),
    new SurvivalDevice(app, ben!, { seed: seed * 10 + 3, handles: 2, tasks: { merge: 'fields' } }),
  ]
  try {
    for (let round = 0; round <= rounds; round++) {
      // The second copy comes back first: a run in which nothing is unknown to the server would prove nothing.
      if (round === 2 || (round > 2 && random.chance(0.3))) await app.restore()
      await app.start()
      app.proxy.lose = () => undefined
      await app.admitAll()
      for (let turn = 0; turn < 2; turn++) for (const device of devices) await device.settle()
      const notes = new Map<string, Fields>((await app.all('notes')).map((note) => [note.id, note]))
      expect([round, app.problems]).toEqual([round, []])
      for (const device of devices) await device.check(notes)
      expect([...app.kept].filter((id) => !notes.has(id))).toEqual([])
      const counted = [...notes.values()].filter(({ counted }) => counted === 1)
      const [counter] = (await app.all('tasks')).filter(({ id }) => id === app.counter)
      expect([round, counter!['count']]).toEqual([round, counted.length])
      if (round === rounds) break
      for (const device of devices) {
        if (random.chance(0.5)) await device.mend()
        if (random.chance(0.05)) device.wipe()
      }
      app.proxy.lose = () => (random.chance(LOSS) ? random.pick(['request', 'answer'] as const) : undefined)
      const killed = app.kills
      const loads = [app.load(), ...devices.map((device) => device.load(() => app.kills > killed))]
      await sleep(100 + random.below(LOAD_MS_MAX))
      await app.kill()
      await Promise.all(loads)
      if (random.chance(0.5) || round < 2) await app.copy()
    }
    expect([app.kills, app.restores > 0, app.judged > 0]).toEqual([rounds, true, true])
    const deaths = devices.reduce((sum, device) => sum + device.deaths, 0)
    if (rounds > 4) console.log({ kills: app.kills, restores: app.restores, deaths, judged: app.judged })
  } finally {
    for (const device of devices) await device.close()
    await app.close()
  }
})
