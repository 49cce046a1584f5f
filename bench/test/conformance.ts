/**
 * Requirements for every adapter before it may be measured: all phases of all suites on small cells, with the model's answers, and no
 * call that is declared a gap. Phases open the same database again, as far as it is kept.
 */
import { assertEqual, assertTrue } from '../../packages/db/testing/check.ts'
import type { ContenderFacts, Place } from '../contenders/catalog.ts'
import { CONTENDERS } from '../contenders/catalog.ts'
import { OPERATIONS } from '../contenders/contender.ts'
import type { Contender } from '../contenders/contender.ts'
import { makePeople } from '../documents.ts'
import { expectedAnswers, wrongAnswers } from '../harness/expected.ts'
import { runPhase } from '../harness/run-phase.ts'
import { cellOf } from '../suites/suite.ts'
import type { Cell } from '../suites/suite.ts'
import { SUITES } from '../suites/suites.ts'

export interface ConformanceContext {
  readonly test: (name: string, body: () => Promise<void>) => void
  readonly runsIn: Place
  create(name: string): Promise<Contender>
  /** A place that no other database has. */
  place(): string
}

const CELLS: Readonly<Record<string, readonly Cell[]>> = {
  standard: [cellOf(200, 1)],
  'json-store': [cellOf(150, 1)],
  'indexed-db-perf': [
    ...(['object', 'numbers', 'json', 'bytes'] as const).map((encoding) => ({
      ...cellOf(25, 1),
      keyChars: 40,
      valueBytes: 300,
      encoding,
    })),
    { ...cellOf(25, 1), keyChars: 2_000, valueBytes: 300, encoding: 'object' },
  ],
  pouchdb: [],
}

/** The cells for a contender. A peer's adapter gets the first and the last of the many ways to write a value. */
function cellsFor({ name }: ContenderFacts, suite: string): readonly Cell[] {
  const cells = CELLS[suite] ?? []
  return name.startsWith('pannier') ? cells : cells.filter((_, at) => at === 0 || at === cells.length - 1)
}

/**
 * An adapter is the same code in every browser, and the harness checks answers again whenever it measures: peers are tested in Node
 * and in one browser, without presets. Pannier, and what it is held against, have all wherever this runs.
 */
function isTested({ name }: ContenderFacts, suite: string, runsIn: Place): boolean {
  // The adapter of the plain one with a password, which makes each opening slow on purpose.
  if (name.endsWith('-encrypted')) return suite === 'json-store' && (runsIn === 'node' || runsIn === 'chromium')
  if (name === 'pannier-opfs') return suite === 'standard'
  if (name.startsWith('pannier') || name === 'indexed-db' || name === 'node-sqlite') return true
  return (suite === 'standard' || name === 'jsonstore') && (runsIn === 'node' || runsIn === 'chromium')
}

export function contenderConformance({ test, runsIn, create, place }: ConformanceContext): void {
  for (const facts of CONTENDERS.filter(({ places }) => places.includes(runsIn))) {
    for (const suite of SUITES) {
      const cells = cellsFor(facts, suite.name)
      if (cells.length === 0 || !isTested(facts, suite.name, runsIn)) continue
      test(`${facts.name} answers ${suite.name} like the model`, async () => {
        for (const cell of cells) await checkSuite(facts, suite.name, cell, create, place())
      })
    }
    if (!isTested(facts, 'standard', runsIn)) continue
    test(`${facts.name} says what it finds missing, and refuses what it can't do`, () =>
      checkEdges(facts, create, place()))
  }
}

async function checkSuite(
  facts: ContenderFacts,
  suite: string,
  cell: Cell,
  create: ConformanceContext['create'],
  place: string,
): Promise<void> {
  const expected = await expectedAnswers(suite, cell, [], facts.gaps)
  const phases = SUITES.find(({ name }) => name === suite)!.phases
  for (const phase of phases) {
    // The same object goes on in the next phase: a page can't be restarted from within.
    const contender = await create(facts.name)
    const request = { contender: facts.name, suite, phase: phase.name, cell, place, only: [], answersOnly: true }
    const report = await runPhase(contender, facts, request)
    assertEqual(report.failures, {}, `failures of ${phase.name}, ${cell.label}`)
    assertEqual(wrongAnswers(report.outcomes, expected), [], `wrong answers in ${phase.name}, ${cell.label}`)
    const done = [...Object.keys(report.outcomes), ...Object.keys(report.gaps)].sort()
    assertEqual(done, phase.workloads.map(({ name }) => name).sort(), 'workloads that ran or were said not to')
  }
}

async function checkEdges(facts: ContenderFacts, create: ConformanceContext['create'], place: string): Promise<void> {
  const contender = await create(facts.name)
  const people = makePeople(cellOf(20, 3), 0, 20)
  await contender.open(place, false)
  await contender.insertMany(people)
  const found = await contender.findByCountry(people[0]!.country)
  const { _id, tags, bio, score } = found.find((person) => person._id === people[0]!._id)!
  assertEqual({ _id, tags, bio, score }, { _id, tags: people[0]!.tags, bio: people[0]!.bio, score: people[0]!.score })
  assertEqual(await contender.findByCountry('none'), [])
  if (facts.gaps.get === undefined) assertEqual((await contender.get('none')) ?? undefined, undefined)
  for (const operation of OPERATIONS.filter((name) => facts.gaps[name] !== undefined)) {
    let refused = false
    try {
      await (contender[operation] as () => unknown)()
    } catch {
      refused = true
    }
    assertTrue(refused, `${operation} is refused`)
  }
  await contender.dropStore()
  assertEqual(await contender.findByCountry(people[0]!.country), [])
  await contender.close()
  await contender.destroy(place)
}
