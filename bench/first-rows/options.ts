/** Options of `npm run bench -- first-rows`. */
import { parseArgs } from 'node:util'
import type { Place } from '../contenders/catalog.ts'
import { choose, list, readCount } from '../options.ts'
import { PLACES } from '../places.ts'
import { DELIVERIES } from './server.ts'
import type { Delivery } from './server.ts'
import { MEASURABLE, STATES } from './variants.ts'
import type { State } from './variants.ts'

const DELIVERIES_DEFAULT: readonly Delivery[] = ['network', 'service-worker']

export const USAGE: string = `Usage: npm run bench -- first-rows [OPTIONS] [PLACE …]

From the navigation (in Node: the start of the process) to the first 20 rows of an indexed, sorted query, in a fresh browser on a filled profile.
Places: ${PLACES.join(', ')} (default: all that are installed). Prints tables and writes bench/results/first-rows/*.json. Ctrl-C keeps what was measured.

  --documents N[,N]      sizes (default 100,1000,10000,100000)
  --starts N             of each variant, in turn with the others (default 30)
  --contenders N[,N]     ${MEASURABLE.join(', ')} (default: all)
  --states NAME[,NAME]   ${STATES.join(', ')} (default: all; others than clean only of Pannier)
  --deliveries N[,N]     ${DELIVERIES.join(', ')} (default: ${DELIVERIES_DEFAULT.join(',')})
  --seed N               of the documents (default 1)
  --help                 print this`

export interface FirstRowsOptions {
  readonly places: readonly Place[]
  readonly documents: readonly number[]
  readonly starts: number
  readonly contenders: readonly string[]
  readonly states: readonly State[]
  readonly deliveries: readonly Delivery[]
  readonly seed: number
}

/** Undefined: help was asked for. Throws a TypeError that says what is wrong. */
export function readOptions(parameters: readonly string[]): FirstRowsOptions | undefined {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      documents: { type: 'string', default: '100,1000,10000,100000' },
      starts: { type: 'string', default: '30' },
      contenders: { type: 'string', default: '' },
      states: { type: 'string', default: '' },
      deliveries: { type: 'string', default: '' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return {
    places: choose(positionals, PLACES, 'place', PLACES),
    documents: list(values.documents).map(readCount),
    starts: readCount(values.starts),
    contenders: choose(list(values.contenders), MEASURABLE, 'contender', MEASURABLE),
    states: choose(list(values.states), STATES, 'state', STATES),
    deliveries: choose(list(values.deliveries), DELIVERIES, 'delivery', DELIVERIES_DEFAULT),
    seed: readCount(values.seed),
  }
}
