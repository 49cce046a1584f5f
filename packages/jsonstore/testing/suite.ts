/** The JSONStore API, row by row and code by code; runs in Node and in browsers. */
import { assertEqual } from 'pannier/testing'
import type { SuiteContext } from 'pannier/testing'
import type { DatabaseStorage } from 'pannier'
import { CODES } from '../src/index.ts'
import { adapterCases } from './adapter-cases.ts'
import { dirtyCases } from './dirty-cases.ts'
import { documentCases } from './document-cases.ts'
import { encryptionCases } from './encryption-cases.ts'
import { failureCases } from './failure-cases.ts'
import { queryCases } from './query-cases.ts'
import { importCases } from './import-cases.ts'
import { Lab, NEVER_GIVEN, ROWS } from './rows.ts'
import type { Case } from './rows.ts'
import { storeCases } from './store-cases.ts'

/** `create` gives a storage that is empty, and a name for what is made in it. */
export type CreateStorage = () => Promise<{ readonly storage: DatabaseStorage; readonly name: string }>

const CASES: readonly Case[] = [
  ...storeCases,
  ...documentCases,
  ...queryCases,
  ...dirtyCases,
  ...adapterCases,
  ...encryptionCases,
  ...importCases,
  ...failureCases,
]

export function jsonStoreSuite({ test, create }: SuiteContext<CreateStorage>): void {
  test('every row of the API has a case, and every code', () => {
    const rows = new Set(CASES.flatMap((one) => one.rows))
    const codes = new Set(CASES.flatMap((one) => one.codes ?? []))
    assertEqual(
      ROWS.filter((row) => !rows.has(row)),
      [],
      'rows without a case',
    )
    assertEqual(
      [...rows].filter((row) => !ROWS.includes(row)),
      [],
      'rows that there are not',
    )
    assertEqual(Object.keys(CODES).length, 64, 'codes')
    assertEqual(
      Object.values(CODES).filter((code) => codes.has(code) === NEVER_GIVEN.has(code)),
      [],
      'codes without a case, or with one though they are never given',
    )
  })
  for (const { name, rows, codes = [], run } of CASES) {
    test(`${name} [${[...rows, ...codes].join(', ')}]`, async () => {
      const { storage, name: place } = await create()
      const lab = new Lab(storage, place)
      try {
        await run(lab)
        assertEqual(
          codes.filter((code) => !lab.codes.has(code)),
          [],
          'codes that did not turn up',
        )
      } finally {
        await lab.end()
      }
    })
  }
}
