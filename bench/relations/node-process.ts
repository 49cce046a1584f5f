/** Measures in a fresh Node process, as page.ts does in a browser; prints the report. */
import { writeSync } from 'node:fs'
import type { Contender } from './contender.ts'
import { measureRelations, type RelationsRequest } from './measure.ts'

const request = JSON.parse(process.argv[2]!) as RelationsRequest
writeSync(1, JSON.stringify(await measureRelations(await makeContender(request.contender), request)))
process.exit()

/** Loads the one that is asked for and nothing of the other. */
async function makeContender(name: string): Promise<Contender> {
  if (name === 'pannier') return new (await import('./pannier.ts')).PannierContender()
  return new (await import('./node-sqlite.ts')).NodeSqliteContender()
}
