/** The command line of `npm start`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'

export interface Options {
  /** Where the database file is kept. */
  readonly folder: string
  readonly port: number
  /** Only that many cities, the largest; undefined for all. */
  readonly limit: number | undefined
  /** How many servers share a PostgreSQL in a temporary folder. Undefined: one, with a database file. */
  readonly servers: number | undefined
  /** False for a demo that does not serve: it answers the questions and ends. */
  readonly serve: boolean
  readonly help: boolean
  /** From the environment, because other users of the machine can see arguments. */
  readonly superuser: string | undefined
}

const ROOT_FOLDER = join(import.meta.dirname, '..', '..')
const PORT_DEFAULT = 4800

export const USAGE: string = `Usage: npm start -- [options]

Loads 135,233 cities into the database file of a server, asks it a few
questions, and starts the server. One page keeps a copy of the cities in
your browser, in sync with the server. Another one shows the tasks of 20
teams: 100,000 records with users, rules and relations.

  --port N      Port of the server (${PORT_DEFAULT}, or the next one that is free)
  --data DIR    Folder of the database file, pannier.sqlite (data)
  --limit N     Only the N largest cities, and N tasks
  --servers N   N servers on a PostgreSQL in a temporary folder: kill one
  --no-serve    Answer the questions and end
  --help        This text

A start without a superuser shows a link to make one, who may do everything.
PANNIER_SUPERUSER=EMAIL:PASSWORD in the environment makes that one, at any start.`

/** Throws a TypeError that names the wrong argument. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      limit: { type: 'string' },
      servers: { type: 'string' },
      serve: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    folder: values.data ?? join(ROOT_FOLDER, 'data'),
    port: values.port === undefined ? PORT_DEFAULT : wholeNumber('--port', values.port, 0, 65_535),
    limit: values.limit === undefined ? undefined : wholeNumber('--limit', values.limit, 1, Number.MAX_SAFE_INTEGER),
    servers: values.servers === undefined ? undefined : wholeNumber('--servers', values.servers, 1, 16),
    serve: values.serve,
    help: values.help,
    superuser: process.env['PANNIER_SUPERUSER'],
  }
}

function wholeNumber(option: string, text: string, lowest: number, highest: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= lowest && value <= highest)) {
    throw new TypeError(`${option} takes a whole number from ${lowest} to ${highest}, not '${text}'.`)
  }
  return value
}
