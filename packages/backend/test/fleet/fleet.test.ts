/** Goal: servers of one database agree who leads, do once what is to be done once, and hear one another. Method: several in memory. */
import { open, type DatabaseStorage } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SharedFleet } from '../../src/fleet/shared-fleet.ts'
import { Windows } from '../../src/fleet/windows.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { Schedules } from '../../src/schedules/schedules.ts'

const NAME = 'app'
let environment: VirtualEnvironment
let storage: DatabaseStorage
let opened: SharedFleet[]

beforeEach(() => {
  environment = virtualEnvironment()
  storage = memory()
  opened = []
})
afterEach(async () => {
  for (const fleet of opened.reverse()) await fleet.close()
})

/** One more server, some time after the last one. */
async function start(): Promise<SharedFleet> {
  await environment.advance(10)
  const fleet = await SharedFleet.open({ storage, name: NAME, environment })
  opened.push(fleet)
  return fleet
}

test('the one that is there for longest leads, and the next one when it closes', async () => {
  const [first, second] = [await start(), await start()]
  expect([first.leads, first.joined, second.leads, second.joined]).toEqual([true, false, false, true])
  const heard: boolean[] = []
  second.subscribeLeads((leads) => heard.push(leads))
  await environment.advance(60_000)
  expect(heard).toEqual([])
  await first.close()
  await environment.idle()
  expect(heard).toEqual([true])
})

test('one that gives no sign of life for 12 seconds does not lead any more', async () => {
  // The clock of a frozen server stands still.
  const frozen = virtualEnvironment()
  opened.push(await SharedFleet.open({ storage, name: NAME, environment: frozen }))
  const second = await start()
  await environment.advance(11_900)
  expect([second.joined, second.leads]).toEqual([true, false])
  await environment.advance(3100)
  expect(second.leads).toBe(true)
  const third = await start()
  expect([third.joined, third.leads]).toEqual([true, false])
})

test('what one server has counted counts at the others within a second, and what it takes back does not', async () => {
  const fleets = [await start(), await start()]
  const [one, two] = fleets.map((fleet) => new Windows(environment, 'x', fleet)) as [Windows, Windows]
  const giveBack = one.count('back', 5, 60)
  // Far from the limit: the others need not know.
  for (let n = 0; n < 9; n++) one.take('far', 100, 60)
  for (let n = 0; n < 3; n++) expect(one.take('near', 5, 60)).toBe(true)
  await environment.advance(999)
  expect(two.waitMs('near', 3)).toBe(0)
  await environment.advance(1)
  expect(two.waitMs('near', 3)).toBeGreaterThan(0)
  expect(two.waitMs('back', 1)).toBeGreaterThan(0)
  expect([two.waitMs('near', 4), two.waitMs('far', 1)]).toEqual([0, 0])
  expect([1, 2, 3].map(() => two.take('near', 5, 60))).toEqual([true, true, false])
  giveBack()
  await environment.advance(1000)
  expect(one.waitMs('near', 5)).toBeGreaterThan(0)
  expect(two.waitMs('back', 1)).toBe(0)
  two.delete('near')
  await environment.advance(1000)
  expect(one.take('near', 1, 60)).toBe(true)
})

test('a question is answered by the server that it is to, or given up after five seconds; one to nobody is not', async () => {
  const [one, two] = [await start(), await start()]
  const told: unknown[] = []
  two.listen('t', ({ n }) => {
    told.push(n)
    return n === 9 ? new Promise(() => {}) : { got: n }
  })
  expect(await one.ask(two.id, { topic: 't', n: 1 })).toEqual({ got: 1 })
  one.tell({ topic: 't', n: 2 })
  await environment.idle()
  expect(told).toEqual([1, 2])
  let answer: unknown = 'none'
  void one.ask(two.id, { topic: 't', n: 9 }).then((given) => (answer = given))
  await environment.advance(4999)
  expect(answer).toBe('none')
  await environment.advance(1)
  expect(answer).toBeUndefined()
  // Costs no message, as anybody may name a server.
  expect(await one.ask('nobody00', { topic: 't', n: 3 })).toBeUndefined()
  await using stored = await open(`${NAME} fleet`, { storage, environment })
  const messages = await stored.collection<{ to: string; message: { n: number } }>('messages').find().toArray()
  // What is to all stays for a minute, and what its server has not heard to the end.
  expect(messages.map(({ to, message: { n } }) => [to, n])).toEqual([
    ['', 2],
    [two.id, 9],
  ])
})

test('a message that fails at its listener takes no other one with it', async () => {
  const one = await start()
  const heard: unknown[] = []
  one.listen('t', ({ n }) => {
    heard.push(n)
    if (n !== 3) throw new Error('no')
  })
  await using stored = await open(`${NAME} fleet`, { storage, environment })
  const atMs = environment.wallClock()
  const told = [1, 2, 3].map((n) => ({ _id: `m${n}`, from: 'x', to: '', message: { topic: 't', n }, atMs }))
  await stored.collection('messages').insert(told)
  await environment.idle()
  expect(heard).toEqual([1, 2, 3])
})

test('a job of the clock is started by one server', async () => {
  const fleets = [await start(), await start()]
  let runs = 0
  const logs = { write: () => {} }
  const all = fleets.map((fleet) => new Schedules({ environment, logs, fleet }))
  for (const schedules of all) schedules.add('job', '* * * * *', () => runs++)
  await environment.advance(60_000)
  expect(runs).toBe(1)
  await environment.advance(120_000)
  expect(runs).toBe(3)
  for (const schedules of all) schedules.run(SYSTEM, 'job')
  expect(runs).toBe(5)
  for (const schedules of all) await schedules.close()
})
