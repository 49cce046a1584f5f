/** Goal: jobs run when their expressions say, in UTC and one at a time; what fails is logged, and close() waits. */
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aloneIn } from '../../src/fleet/fleet.ts'
import { GUEST, SYSTEM } from '../../src/index.ts'
import type { LogEntry } from '../../src/index.ts'
import { cronProblem } from '../../src/schedules/cron-expression.ts'
import { Schedules } from '../../src/schedules/schedules.ts'

const MINUTE_MS = 60_000

let entries: LogEntry[]
let environment: VirtualEnvironment
let schedules: Schedules

beforeEach(() => start('2026-11-01T00:00Z'))
afterEach(() => schedules.close())

function start(from: string): void {
  environment = virtualEnvironment({ startMs: Date.parse(from) })
  entries = []
  const logs = { write: (entry: LogEntry) => void entries.push(entry) }
  schedules = new Schedules({ environment, logs, fleet: aloneIn(environment) })
}

/** When a job is started within an hour. */
async function times(expression: string, from: string): Promise<string[]> {
  const seen: string[] = []
  start(`2026-11-${from}Z`)
  schedules.add('job', expression, () => seen.push(new Date(environment.wallClock()).toISOString().slice(8, 16)))
  await environment.advance(60 * MINUTE_MS)
  return seen
}

test.each([
  ['0 */12 * * *', '01T11:30', ['01T12:00']],
  ['0 */12 * * *', '01T12:30', []],
  ['@weekly', '07T23:30', ['08T00:00']],
  ['15-40/20,50 * * * *', '01T05:00', ['01T05:15', '01T05:35', '01T05:50']],
  // Both days have to fit, as in PocketBase: the 15th is a Sunday.
  ['30 4 10-20 * 0', '15T04:00', ['15T04:30']],
  ['30 4 10-20 * 0', '16T04:00', []],
  ['+5 0/1 1,2 * *', '02T00:00', ['02T00:05']],
  ['+5 0/1 1,2 * *', '02T01:00', []],
  ['0 0 31 2 *', '01T00:00', []],
] as const)('%s from %s on', async (expression, from, expected) => {
  expect(await times(expression, from)).toEqual(expected)
})

test.each([
  ['1 2 3', 'invalid cron expression - must be a valid macro or to have exactly 5 space separated segments'],
  ['61 * * * *', 'invalid segment value - must be between the min and max of the segment'],
  ['* * * * 7', 'invalid segment value - must be between the min and max of the segment'],
  ['* * * * MON', 'strconv.Atoi: parsing "MON": invalid syntax'],
  ['1/2 * * * *', 'invalid segment step - step > 1 could be used only with the wildcard or range format'],
  ['*/99 * * * *', 'invalid segment step boundary - the step must be between 1 and the 59'],
  ['5-1 * * * *', 'invalid segment range maximum - must be between 5 and 59'],
  ['1-2-3 * * * *', 'invalid segment range format - the range must have 1 or 2 parts'],
  ['1//2 * * * *', 'invalid segment step format - must be in the format */n or 1-30/n'],
  ['-1 * * * *', 'strconv.Atoi: parsing "": invalid syntax'],
])('%s is refused in the words of PocketBase', (expression, problem) => {
  expect(cronProblem(expression)).toBe(problem)
  expect(() => schedules.add('job', expression, () => {})).toThrow(problem)
})

test('a job that still runs is not started again', async () => {
  const ends: (() => void)[] = []
  schedules.add('slow', '* * * * *', () => new Promise<void>((resolve) => ends.push(resolve)))
  await environment.advance(3 * MINUTE_MS)
  expect([ends.length, entries.map(({ message }) => message)]).toEqual([
    1,
    Array.from({ length: 2 }, () => "The scheduled job 'slow' was not started, as it still runs."),
  ])
  ends[0]!()
  await environment.advance(MINUTE_MS)
  expect(ends.length).toBe(2)
  ends[1]!()
})

test('a job that throws is logged by its name, and runs again', async () => {
  let runs = 0
  schedules.add('bad', '* * * * *', () => {
    runs++
    throw new Error('No luck.')
  })
  await environment.advance(2 * MINUTE_MS)
  expect(runs).toBe(2)
  expect(entries[0]).toEqual({
    level: 8,
    message: "The scheduled job 'bad' has failed.",
    data: { job: 'bad', error: 'Error: No luck.' },
  })
})

test('a job takes the place of another of its id, and a removed one is not started', async () => {
  const seen: string[] = []
  schedules.add('job', '* * * * *', () => seen.push('old'))
  schedules.add('job', '* * * * *', () => seen.push('new'))
  await environment.advance(MINUTE_MS)
  schedules.remove('job')
  await environment.advance(MINUTE_MS)
  expect(seen).toEqual(['new'])
})

test('a clock set forward runs a job that is due once, within ten minutes; one set back runs it at its next times', async () => {
  let runs = 0
  schedules.add('hourly', '0 * * * *', () => runs++)
  environment.jump(300 * MINUTE_MS)
  await environment.advance(10 * MINUTE_MS)
  expect(runs).toBe(1)
  environment.jump(-60 * MINUTE_MS)
  await environment.advance(60 * MINUTE_MS)
  expect(runs).toBe(2)
  await environment.advance(60 * MINUTE_MS)
  expect(runs).toBe(3)
})

test('only superusers list and start jobs', () => {
  expect(() => schedules.list(GUEST)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
  expect(() => schedules.run(GUEST, 'job')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
  expect(() => schedules.run(SYSTEM, 'job')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
})

test('close() waits for the job that runs', async () => {
  let end = (): void => {}
  let isDone = false
  schedules.add('slow', '* * * * *', async () => {
    await new Promise<void>((resolve) => (end = resolve))
    isDone = true
  })
  schedules.run(SYSTEM, 'slow')
  const closed = schedules.close()
  end()
  await closed
  expect(isDone).toBe(true)
})
