/** Goal: where the store takes an unknown outcome for the wrong one, the checker of histories sees it, in a history that was really made. */
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { History, violationsOf, type ViolationKind } from '../../../tools/test/history.ts'
import { importMutant, type Mutation } from '../../../tools/test/mutants.ts'
import { postgres } from '../src/index.ts'
import { CuttingProxy, type Cut } from './cutting-proxy.ts'
import { endOf, ListServer } from './lists.ts'
import { newName, onPostgres } from './on-postgres.ts'

const FILE = 'packages/postgres/src/postgres-database.ts'
const RIGHT: Mutation = {
  file: FILE,
  text: 'class PostgresDatabase implements',
  replacement: 'class PostgresDatabase implements',
}
/** In the bytes of each record, as tokens begin with it. */
const MARK = 'MARKMARKMARK'

const MUTANTS: Readonly<Record<string, readonly [Mutation, Cut, readonly ViolationKind[]]>> = {
  'nothing is changed, and the answer is cut': [RIGHT, 'answer', []],
  'nothing is changed, and the request is cut': [RIGHT, 'request', []],
  'what was written is taken for not written': [
    { file: FILE, text: "if (isSame(stored, bytes)) return 'happened'", replacement: '' },
    'answer',
    ['phantom'],
  ],
  'what was not written is taken for written': [
    {
      file: FILE,
      text: "throw new UnknownOutcome('truncated')\n    return 'not'",
      replacement: "throw new UnknownOutcome('truncated')\n    return 'happened'",
    },
    'request',
    ['lost'],
  ],
}

onPostgres((get) => {
  for (const [name, [mutation, cut, kinds]] of Object.entries(MUTANTS))
    test(name, async () => {
      const { server, url } = get()
      const mutant = await importMutant<{ postgres: typeof postgres }>('packages/postgres/src/index.ts', mutation, [
        'packages/postgres/src',
      ])
      await using proxy = await CuttingProxy.start(server.port)
      const options = { connectionsMax: 1, listenUrl: url }
      const database = newName()
      const history = new History()
      const db = await open(database, {
        storage: mutant.postgres(server.url('pannier_test', proxy.port), options),
        durability: 'strict',
      })
      const writer = new ListServer(db, MARK, history)
      await writer.write(`${MARK}0`)
      proxy.cutAt(MARK, cut)
      await writer.write(`${MARK}1`)
      expect(proxy.cuts).toBe(1)
      await using again = await open(database, { storage: postgres(url) })
      const found = violationsOf(history.operations, await endOf(again))
      expect(found.map(({ kind }) => kind)).toEqual(kinds.length === 0 ? [] : expect.arrayContaining([...kinds]))
      await db.close().catch(() => {})
    })
})
