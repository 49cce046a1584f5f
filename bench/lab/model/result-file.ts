/** Reads result files from other people. Checks everything that the page relies on, so that no file can break it. */
import type { Environment } from '../../harness/environment.ts'
import { SCHEMA, SCHEMA_VERSION } from '../../harness/results.ts'
import type { ResultFile } from '../../harness/results.ts'

export const FILE_CHARS_MAX: number = 64 * 1024 * 1024
const PLACES: readonly unknown[] = ['node', 'chromium', 'firefox', 'webkit']

/** Throws a TypeError whose message is for people. */
export function readResultFile(text: string): ResultFile {
  if (text.length > FILE_CHARS_MAX) throw new TypeError('the file is larger than any that the lab writes')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TypeError('the file is not JSON')
  }
  return checkResultFile(value)
}

export function checkResultFile(value: unknown): ResultFile {
  if (!isObject(value) || value['schema'] !== SCHEMA) throw new TypeError(`it is not a result file (${SCHEMA})`)
  if (value['version'] !== SCHEMA_VERSION) {
    throw new TypeError(`it has version ${String(value['version'])}; this page reads version ${SCHEMA_VERSION}`)
  }
  if (!PLACES.includes(value['place'])) throw new TypeError('it does not say where it was measured')
  for (const field of ['startedAt', 'finishedAt']) {
    if (Number.isNaN(Date.parse(String(value[field])))) throw new TypeError(`${field} is not a date`)
  }
  if (!['string', 'undefined'].includes(typeof value['name'])) throw new TypeError('its name is none')
  if (typeof value['complete'] !== 'boolean') throw new TypeError('it does not say whether the run is complete')
  if (!isEnvironment(value['environment'])) throw new TypeError('the record of the device is not complete')
  const { runs, rows } = value
  if (!Array.isArray(runs) || !runs.every(isRun)) throw new TypeError('one of its runs can’t be read')
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new TypeError('one of its rows can’t be read')
  return value as unknown as ResultFile
}

/** The name under which it is offered for download. */
export function fileNameOf({ place, startedAt }: ResultFile): string {
  return `pannier-bench-${place}-${startedAt.slice(0, 19).replaceAll(':', '-')}.json`
}

function isEnvironment(value: unknown): boolean {
  const texts: readonly (keyof Environment)[] = ['agent', 'engineVersion', 'processor', 'system']
  const numbers: readonly (keyof Environment)[] = ['cores', 'memoryBytes', 'seed']
  return (
    isObject(value) &&
    texts.every((field) => typeof value[field] === 'string') &&
    numbers.every((field) => Number.isFinite(value[field])) &&
    Array.isArray(value['features']) &&
    isRecordOf(value['versions'], 'string')
  )
}

function isRun(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['suite'] === 'string' &&
    isObject(value['cell']) &&
    typeof value['cell']['label'] === 'string' &&
    Number.isFinite(value['cell']['documents']) &&
    typeof value['contender'] === 'string' &&
    Number.isFinite(value['repeat']) &&
    isRecordOf(value['values'], 'number')
  )
}

function isRow(value: unknown): boolean {
  if (!isObject(value)) return false
  const { samples, ratio, median, p95, spread, missing } = value
  return (
    ['suite', 'cell', 'metric', 'title', 'contender'].every((field) => typeof value[field] === 'string') &&
    (value['unit'] === 'ms' || value['unit'] === 'bytes') &&
    Array.isArray(samples) &&
    samples.every((sample) => Number.isFinite(sample)) &&
    (samples.length === 0) === (median === undefined) &&
    [median, p95, spread].every((number) => number === undefined || Number.isFinite(number)) &&
    (missing === undefined || typeof missing === 'string') &&
    (ratio === undefined || (isRecordOf(ratio, 'number') && 'median' in ratio))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRecordOf(value: unknown, type: 'string' | 'number'): value is Record<string, unknown> {
  return isObject(value) && Object.values(value).every((one) => typeof one === type)
}
