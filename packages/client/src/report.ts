/** Reports of the server: an entry of its own, as most apps have none. docs/internals/reports.md is the contract. */
import { checkOptions, systemEnvironment, untilCancelled, type OptionNames } from 'pannier/internal'
import { Server } from './server.ts'

/** The options of `runReport`, beside the name of the report. */
export interface ReportOptions {
  /** Values by the names of the report's parameters. What is left out has its default. */
  readonly parameters?: Readonly<Record<string, string | number | bigint | boolean | Date>>
  /** The token of the session: `client.token`. A guest asks when it is left out. */
  readonly token?: string | undefined
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until the request has failed; 60,000 by default. */
  readonly requestMsMax?: number
}

/** The answer of a report. */
export interface ReportAnswer<Row> {
  /** Names of columns, in their order. */
  readonly columns: readonly string[]
  /** By the names of the columns. */
  readonly rows: readonly Row[]
  /** The newest commit that the rows have, as the server counts them since its start. */
  readonly commit: number
}

const OPTIONS: OptionNames<ReportOptions> = { parameters: true, token: true, signal: true, requestMsMax: true }
const REQUEST_MS_MAX = 60_000

/**
 * Runs a report of the server.
 *
 * @throws ClientError PANNIER_PEER_REFUSED: `details` has what is wrong with parameters; PANNIER_SIGNED_OUT, PANNIER_PEER_UNREACHABLE; PannierError
 *   PANNIER_ABORTED
 * @example
 * const options = { parameters: { from: '2026-06-01' }, token: client.token }
 * const { rows } = await runReport<{ month: string; revenue: number }>('https://example.com', 'revenue', options)
 * show(rows.map(({ month, revenue }) => `${month}: ${revenue}`))
 */
export async function runReport<Row extends object = Record<string, string | number | null>>(
  url: string | URL,
  name: string,
  options: ReportOptions = {},
): Promise<ReportAnswer<Row>> {
  checkOptions('runReport()', options, OPTIONS)
  const { parameters = {}, token, signal, requestMsMax = REQUEST_MS_MAX } = options
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters))
    query.append(key, value instanceof Date ? value.toISOString() : String(value))
  const server = new Server(url, requestMsMax, systemEnvironment())
  const request = `GET /api/reports/${encodeURIComponent(name)}?${query}`
  const answering = server.send<ReportAnswer<readonly unknown[]>>(request, undefined, { token, signal })
  const { columns, rows, commit } = await untilCancelled(answering, signal, 'The report')
  const named = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])) as Row)
  return { columns, rows: named, commit }
}
