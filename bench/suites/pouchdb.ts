/**
 * PouchDB's own performance suite, with its names of tests and numbers of iterations, on the lab's documents. Each test
 * starts with an empty store.
 */
import type { Context, Suite, Workload } from './suite.ts'
import { cellOf, idsOf, milliseconds } from './suite.ts'
import type { Capability } from '../contenders/contender.ts'
import { checksum, makeId, makePeople, someCity, someCountry } from '../documents.ts'
import { time, timeEach } from '../measure.ts'

const DOCUMENTS = 1_000
const DOCUMENTS_FOUND = 10_000
const PAGES = 10
const DOCUMENTS_VIEWED = 1_200
/** Queries that are asked at once. */
const VIEW_QUERIES = 5

const phases = [
  {
    name: 'load',
    indexed: false,
    workloads: [
      test('basic-inserts', 0, 1_000, ['insert', 'count'], async ({ contender, cell }, turn) => {
        await contender.insert(makePeople(cell, turn, turn + 1)[0]!)
      }),
      test('bulk-inserts', 0, 100, ['count'], async ({ contender, cell }, turn) => {
        await contender.insertMany(makePeople(cell, turn * 100, turn * 100 + 100))
      }),
      test('basic-gets', DOCUMENTS, 1_000, ['get'], async ({ contender, cell }, turn) => {
        return (await contender.get(makeId(cell, turn)))?.email
      }),
      test('all-docs-skip-limit', DOCUMENTS, 10, ['pageById'], async ({ contender }) => {
        const pages: string[] = []
        for (let page = 0; page < PAGES; page++) pages.push(idsOf(await contender.pageById(page * 100, 10)))
        return checksum(pages)
      }),
      test('simple-find-query-no-index', DOCUMENTS_FOUND, 5, ['findByCountry'], async ({ contender }) =>
        idsOf(await contender.findByCountry(someCountry)),
      ),
      test('create-index', DOCUMENTS_FOUND, 1, ['buildIndexes'], async ({ contender }) => {
        await contender.buildIndexes()
      }),
      test('simple-find-query', 'create-index', 5, ['findByCity', 'buildIndexes'], async ({ contender }) =>
        idsOf(await contender.findByCity(someCity)),
      ),
      test('temp-views', DOCUMENTS_VIEWED, 1, ['views'], async ({ contender }) =>
        checksum(await atOnce(() => contender.views!.adHoc(5))),
      ),
      test('build-secondary-index', DOCUMENTS, 1, ['views'], ({ contender }) => contender.views!.buildByScore()),
      test('persisted-views', 'build-secondary-index', 10, ['views'], async ({ contender }) =>
        checksum(await atOnce(() => contender.views!.byScore(5))),
      ),
      // Not one of its own: what `reduce` costs there.
      test('build-large-view', DOCUMENTS_FOUND, 1, ['views'], ({ contender }) => contender.views!.buildByCity()),
      test('group-reduce-100000-rows', 'build-large-view', 1, ['views'], async ({ contender }) =>
        checksum(await contender.views!.groups()),
      ),
    ],
  },
]

export const pouchDbSuite: Suite = {
  name: 'pouchdb',
  title: "PouchDB's performance suite",
  source: 'https://github.com/pouchdb/pouchdb/tree/master/tests/performance',
  phases,
  left: [
    {
      title:
        'basic-updates, all-docs-startkey-endkey, all-docs-keys, all-docs-include-docs, complex-find-query, multi-field-query',
      reason: 'need operations that the lab does not ask of contenders yet',
    },
    {
      title: 'basic-attachments, many-attachments-base64, many-attachments-binary',
      reason: 'most contenders have no attachments',
    },
    { title: 'pull-replication-one-generation, pull-replication-two-generation', reason: 'replication is issue 6' },
  ],
  cells: ({ seed }) => [{ ...cellOf(DOCUMENTS_FOUND, seed), label: 'as in its suite' }],
}

/** The ids that several queries give. */
async function atOnce(query: () => Promise<readonly string[]>): Promise<string[]> {
  return (await Promise.all(Array.from({ length: VIEW_QUERIES }, query))).flat()
}

/** @param from The number of documents to store first, or the test whose store this one continues with. */
function test(
  name: string,
  from: number | string,
  iterations: number,
  needs: readonly Capability[],
  run: (context: Context, turn: number) => Promise<string | undefined | void>,
): Workload {
  return {
    name,
    needs: ['dropStore', 'insertMany', ...needs],
    ...(typeof from === 'string' && { after: from }),
    metrics: [milliseconds(name, `${name}, ${iterations}x`)],
    async prepare({ contender, cell }) {
      if (typeof from === 'string') return
      await contender.dropStore()
      if (from > 0) await contender.insertMany(makePeople(cell, 0, from))
    },
    async run(context) {
      const answers: string[] = []
      const once = async (turn: number): Promise<void> => {
        const answer = await run(context, turn)
        if (typeof answer === 'string') answers.push(answer)
      }
      const { milliseconds: value } = await time(() => timeEach(iterations, once))
      const stored = needs.includes('count') ? String(await context.contender.count()) : ''
      return { values: { [name]: value }, answer: `${checksum(answers)} ${stored}` }
    },
  }
}
