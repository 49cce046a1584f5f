/** Prints what was measured, with the bars of the design. */
import { alignColumns, formatNumber } from '../bars/table.ts'
import type { FirstSync } from './first-sync.ts'
import type { LiveFigures, OpenFigures } from './live.ts'
import type { Listed } from './pages.ts'
import type { PouchSync } from './pouchdb.ts'
import type { Restart } from './restart.ts'
import type { Revoked } from './revoked.ts'

/** A figure of a contender. */
export interface Line {
  readonly what: string
  readonly of: string
  readonly value: string
  readonly bar?: string
}

const MEBIBYTE = 1024 * 1024

export function formatLines(lines: readonly Line[]): string {
  const rows = lines.map(({ what, of, value, bar = '' }) => [what, of, value, bar])
  return alignColumns([['figure', 'of', 'value', 'bar'], ...rows], [0, 1, 3])
}

export function linesOfFirstSync(visible: number, { indexMs, server, client, twice }: FirstSync): Line[] {
  const what = `first sync, ${formatNumber(visible)} records`
  const of = 'pannier'
  return [
    { what: 'index of the first pull of all', of, value: time(indexMs) },
    { what: `${what}: handed out`, of, value: time(server.allMs) },
    { what: '… first page', of, value: time(server.firstMs) },
    { what: "… server's processor", of, value: each(server.processorMs, server.rows, 'record') },
    { what: `${what}: in the client's file`, of, value: time(client.allMs), bar: '2 s of 100,000' },
    { what: '… first page shown', of, value: time(client.firstMs) },
    { what: "… client's processor", of, value: each(client.processorMs, client.records, 'record') },
    { what: '… killed at half: came again', of, value: `${formatNumber(twice)} rows` },
  ]
}

export function linesOfPages(of: string, { rows, firstMs, allMs, processorMs }: Listed): Line[] {
  return [
    { what: `all pages of a list, ${formatNumber(rows)} records`, of, value: time(allMs) },
    { what: '… first page', of, value: time(firstMs) },
    { what: "… server's processor", of, value: each(processorMs, rows, 'record') },
  ]
}

export function linesOfPouch(syncs: readonly PouchSync[]): Line[] {
  return syncs.flatMap(({ way, rows, allMs, processorMs }) => [
    {
      what: `first sync, ${formatNumber(rows)} records: in the client's file`,
      of: `pouchdb, ${way}`,
      value: time(allMs),
    },
    { what: "… server's processor", of: `pouchdb, ${way}`, value: each(processorMs, rows, 'record') },
  ])
}

export function linesOfOpen(of: string, { sessions, openMs, before, after }: OpenFigures): Line[] {
  return [
    { what: `${formatNumber(sessions)} sessions: opened in`, of, value: time(openMs) },
    { what: '… memory of the server', of, value: mebibytes(after), bar: '300 MB with 10,000' },
    { what: '… of them', of, value: mebibytes(after - before) },
  ]
}

export function linesOfLive(of: string, figures: readonly LiveFigures[]): Line[] {
  const fewest = figures[0]!
  return figures.flatMap(({ sessions, processorMs, rates }): Line[] => [
    {
      what: `a commit with ${formatNumber(sessions)} sessions: processor`,
      of,
      value: `${formatNumber(processorMs)} ms, ${formatNumber(processorMs / fewest.processorMs)}x`,
      bar: `1.1x that with ${formatNumber(fewest.sessions)}`,
    },
    ...rates.map(({ wanted, perSecond, p50Ms, p95Ms, missing }): Line => {
      const lost = missing > 0 ? `, ${(missing * 100).toFixed(1)} % not heard` : ''
      return {
        what: `… ${formatNumber(wanted)} commits a second: heard`,
        of,
        value: `p50 ${time(p50Ms)}, p95 ${time(p95Ms)} at ${formatNumber(perSecond)}${lost}`,
        bar: 'p50 5 ms at 1,000',
      }
    }),
  ])
}

export function linesOfRevoked(tasks: number, { ordinaryMs, revokingMs, pull, again }: Revoked): Line[] {
  const of = 'pannier'
  return [
    { what: 'an update of a project', of, value: time(ordinaryMs) },
    { what: `${formatNumber(tasks)} records revoked: the commit`, of, value: time(revokingMs), bar: 'as an update' },
    { what: '… first rows', of, value: time(pull.firstMs), bar: '50 ms' },
    { what: '… all rows', of, value: time(pull.allMs), bar: '1 s of 50,000' },
    { what: '… given back, all rows', of, value: time(again.allMs) },
  ]
}

export function linesOfRestart(of: string, { clients, allMs, processorMs, memory }: Restart): Line[] {
  return [
    { what: `${formatNumber(clients)} clients after a restart`, of, value: time(allMs), bar: '10 s of 10,000' },
    { what: "… server's processor", of, value: each(processorMs, clients, 'client') },
    { what: '… memory of the server', of, value: mebibytes(memory) },
  ]
}

function time(ms: number): string {
  return ms < 1000 ? `${formatNumber(ms)} ms` : `${formatNumber(ms / 1000)} s`
}

function each(ms: number, count: number, what: string): string {
  const one = ms / count
  return one < 0.1 ? `${formatNumber(one * 1000)} µs a ${what}` : `${formatNumber(one)} ms a ${what}`
}

function mebibytes(bytes: number): string {
  return `${formatNumber(bytes / MEBIBYTE)} MiB`
}
