/**
 * Goal: a view that remembers has the rows of every earlier update. Method: random writes, updates, purges and restarts;
 * what the view has of each earlier update is compared with what it had then.
 */
import fc from 'fast-check'
import type { Collection } from 'pannier'
import { forgetDepartedRows, readSnapshot, rememberedRows, rememberingView } from 'pannier/internal'
import type { GuardReader, RememberedRows } from 'pannier/internal'
import { expect, test } from 'vitest'
import { modelDatabase } from '../../testing/model-database.ts'
import { times } from '../../../../tools/test/seeds.ts'

interface Task {
  readonly _id: string
  readonly projects: readonly string[]
  readonly level: number
  readonly own: string
}

const VIEW = {
  name: 'grounds',
  version: '1',
  map: ({ projects, level, own }: Task, emit: (key: readonly unknown[], value?: unknown) => void): void => {
    for (const project of projects) emit(['a', project, level], own)
    emit(['b', level], null)
  },
}

const PROJECTS = ['p', 'q', 'r']
const IDS = ['1', '1\u0001', '2', '3', '4']
const GROUPS = [...PROJECTS.map((project) => ['a', project]), ['b']]

type Action =
  | {
      readonly do: 'put'
      readonly id: string
      readonly projects: readonly string[]
      readonly level: number
      readonly own: string
    }
  | { readonly do: 'delete' | 'purge'; readonly id: string }
  | { readonly do: 'update' | 'remake' }
  | { readonly do: 'forget'; readonly share: number }

const id = fc.constantFrom(...IDS)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id,
      projects: fc.subarray(PROJECTS),
      level: fc.constantFrom(1, 2),
      own: fc.constantFrom('x', 'y'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'purge' as const), id }) },
  { weight: 4, arbitrary: fc.constant({ do: 'update' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'remake' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('forget' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
)

/** All rows, each as a text. */
function rowsAt(view: RememberedRows, sequence: number): string[] {
  const text = (row: { readonly id: string; readonly key: readonly unknown[]; readonly value: unknown }): string =>
    JSON.stringify([row.key, row.id, row.value])
  const there = GROUPS.flatMap((group) => [...view.rows(group, {})])
  const left = GROUPS.flatMap((group) => [...view.departed(group, sequence)])
  expect(left.map(text).toSorted()).toEqual([...view.departedSince(sequence)].map(text).toSorted())
  expect(view.countDepartedSince(sequence)).toBe(left.length)
  return [...there, ...left]
    .filter(({ cameAt }) => cameAt <= sequence)
    .map(text)
    .toSorted()
}

/** The rows of one key by ids, from the start and behind one in the middle, and the documents that their numbers lead to. */
function checkById(view: RememberedRows, guard: GuardReader): void {
  const rows = GROUPS.flatMap((group) => [...view.rows(group, {})])
  for (const key of new Map(rows.map((row) => [JSON.stringify(row.key), row.key])).values()) {
    const walk = (after?: string): unknown[][] => {
      const found: unknown[][] = []
      for (const byId = view.byId(key, after); byId.next();) found.push([byId.position, byId.number, byId.value])
      return found
    }
    const expected = rows.filter((row) => JSON.stringify(row.key) === JSON.stringify(key))
    const all = walk()
    expect(all.map(([, ...row]) => row)).toEqual(expected.map(({ number, value }) => [number, value]))
    expect(walk(all[all.length >> 1]![0] as string)).toEqual(all.slice((all.length >> 1) + 1))
    const documents = guard.numbered(
      'tasks',
      expected.map(({ number }) => number),
    )
    expect(documents.map((written) => written?.document._id)).toEqual(expected.map((row) => row.id))
  }
}

async function run(seed: number, actions: readonly Action[]): Promise<void> {
  const db = modelDatabase({ seed, missChance: (seed % 2) * 0.4 })
  const tasks: Collection<Task> = db.collection<Task>('tasks')
  const states = new Map<number, readonly string[]>()
  let forgottenTo = 0
  const look = <T>(read: (view: RememberedRows, guard: GuardReader) => T): Promise<T | undefined> =>
    readSnapshot(db, (reader) =>
      reader.read((guard) => {
        const view = rememberedRows(guard, 'tasks', VIEW.name)
        return view && read(view, guard)
      }),
    )
  for (const step of actions) {
    if (step.do === 'put')
      await tasks.upsert({ _id: step.id, projects: step.projects, level: step.level, own: step.own })
    else if (step.do === 'delete') await tasks.delete(step.id).catch(() => {})
    else if (step.do === 'purge') await tasks.purge(step.id).catch(() => {})
    else if (step.do === 'forget') {
      const last = Math.max(0, ...states.keys())
      forgottenTo = Math.max(forgottenTo, Math.floor(last * step.share))
      await forgetDepartedRows(db, 'tasks', VIEW.name, forgottenTo)
    } else {
      // Another version drops the view. It remembers nothing of the one before.
      if (step.do === 'remake') await rememberingView(tasks, { ...VIEW, version: '2' }).update()
      await rememberingView(tasks, VIEW).update()
      await look((view, guard) => {
        checkById(view, guard)
        if (step.do === 'remake') forgottenTo = view.builtTo
        states.set(view.builtTo, rowsAt(view, view.builtTo))
      })
    }
    await look((view) => {
      expect(view.forgottenTo).toBeLessThanOrEqual(Math.max(forgottenTo, view.builtTo))
      for (const [sequence, rows] of states)
        if (sequence >= view.forgottenTo) expect(rowsAt(view, sequence)).toEqual(rows)
        else expect(sequence).toBeLessThan(forgottenTo)
    })
  }
  expect(await db.check()).toMatchObject({ problems: [] })
  await db.close()
}

test('a view that remembers has the rows of every earlier update', async () => {
  await fc.assert(fc.asyncProperty(fc.nat(), fc.array(action, { maxLength: 40 }), run), { numRuns: times(100) })
})
