import { Option, type Command } from 'commander'
import { openBackend, ServiceError, SYSTEM, type ReportResult } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { csvOf } from '../../http/csv.ts'
import { DATABASE_ARGUMENT, givenSettingsKey, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { explained, SuperuserApi } from '../superuser-api.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

interface SqlArguments {
  readonly format: keyof typeof FORMATS
  readonly param: ReadonlyMap<string, string>
}

const FORMATS = {
  table: ({ columns, rows }: ReportResult) =>
    formatTable(
      columns,
      rows.map((row) => row.map((value) => String(value ?? 'NULL'))),
    ),
  csv: ({ columns, rows }: ReportResult) => csvOf([columns, ...rows]),
  json: ({ columns, rows }: ReportResult) =>
    JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]))),
      undefined,
      2,
    ),
}

export function addSql(program: Command, terminal: Terminal): void {
  program
    .command('sql')
    .summary('run a SELECT on collections')
    .description(
      'Runs a SELECT on the collections and databases of a server, as its reports do, and writes nothing. ' +
        "The URL of a server that runs has a superuser's e-mail address and password, " +
        'http://root%40example.com:password@localhost:5984, or the environment has a token: PANNIER_TOKEN.',
    )
    .argument('<server>', `${DATABASE_ARGUMENT}, or the URL of a server that runs`)
    .argument('<select>', 'one SELECT; :name stands for a parameter')
    .addOption(new Option('--format <format>', 'how rows are written').choices(Object.keys(FORMATS)).default('table'))
    .option(
      '-p, --param <name=value>',
      'a parameter; numbers are bound as numbers; again for others',
      parameterIn,
      new Map(),
    )
    .action(async (server: string, query: string, { format, param }: SqlArguments) => {
      const parameters = Array.from(param, ([name, text]) => ({ name, type: typeOf(text), default: text }))
      const result = await answer(server, { query, parameters }, terminal)
      const text = FORMATS[format](result)
      terminal.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
    })
}

function answer(server: string, input: JsonObject, terminal: Terminal): Promise<ReportResult> {
  if (/^https?:\/\//.test(server)) return answerByHttp(server, input, terminal.signal)
  return withDatabase(server, terminal, async (database) => {
    const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
    try {
      const request = { context: 'default', method: 'POST', query: {}, headers: {} }
      return await backend.reports.preview({ principal: SYSTEM, request }, input)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      throw new FailedError(explained(error.message, error.data), { cause: error })
    } finally {
      await backend.close()
    }
  })
}

async function answerByHttp(server: string, input: JsonObject, signal: AbortSignal): Promise<ReportResult> {
  const url = URL.parse(server)
  if (url === null) throw new UsageError(`${server} is no URL.`)
  const token = process.env['PANNIER_TOKEN']
  if (url.username === '' && token === undefined)
    throw new UsageError(
      `${url.origin} asks who you are: put a superuser's e-mail address and password into the URL, or a token into PANNIER_TOKEN.`,
    )
  const api = new SuperuserApi(url, signal, url.username === '' ? token : undefined)
  return (await api.json('POST', '/api/reports/preview', input)) as ReportResult
}

function parameterIn(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--param: a parameter is name=value, got ${text}.`)
  return new Map([...before, [name, value]])
}

/** `007` and `+1` are texts. */
function typeOf(text: string): 'integer' | 'number' | 'text' {
  if (/^-?(?:0|[1-9]\d{0,17})$/.test(text)) return 'integer'
  return /^-?(?:0|[1-9]\d*)\.\d+$/.test(text) ? 'number' : 'text'
}
