/** Reads what devices send of their writes. docs/internals/ruled-sync.md is the contract. */
import { isObject } from 'pannier/internal'
import type { OwnWrite, PushBase, PushFiles, PushTransaction, PushWrite } from '@pannier/backend'
import { invalid } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'

export const MALFORMED_PUSH =
  'Send an object: { "device": ID, "boot": START, "transactions": [{ "n": NUMBER, "writes": [WRITE, …] }, …] }.'
const MALFORMED_ACKNOWLEDGED = '"acknowledged" must be an array of at most 10,000 numbers, and come with "device".'
const ACKNOWLEDGED_MAX = 10_000
const DEVICE = /^[A-Za-z0-9_-]{16,64}$/

/** @throws ServiceError INVALID */
export function readPush({ device, boot, transactions }: JsonObject): {
  readonly device: string
  readonly boot: string | undefined
  readonly transactions: readonly PushTransaction[]
} {
  if (!Array.isArray(transactions)) throw invalid(MALFORMED_PUSH)
  if (boot !== undefined && typeof boot !== 'string')
    throw invalid(`"boot" must be the one of the last answer, got ${JSON.stringify(boot)}.`)
  return { device: readDevice(device), boot, transactions: transactions.map(readTransaction) }
}

/** The device, and the numbers that it has an answer for. @throws ServiceError INVALID */
export function readAcknowledged(
  device: unknown,
  numbers: unknown,
): readonly [device: string | undefined, numbers: readonly number[]] {
  if (device === undefined && numbers === undefined) return [undefined, []]
  const isRight =
    numbers === undefined || (Array.isArray(numbers) && numbers.length <= ACKNOWLEDGED_MAX && numbers.every(isNumber))
  if (!isRight) throw invalid(MALFORMED_ACKNOWLEDGED)
  return [readDevice(device), numbers ?? []]
}

/** @throws ServiceError INVALID */
export function readDevice(device: unknown): string {
  if (typeof device === 'string' && DEVICE.test(device)) return device
  throw invalid(`"device" must have 16 to 64 of A-Z, a-z, 0-9, _ and -, got ${JSON.stringify(device)}.`)
}

function readTransaction(transaction: unknown): PushTransaction {
  if (!isObject(transaction)) throw invalid(MALFORMED_PUSH)
  const { n, writes } = transaction
  if (!isNumber(n)) throw invalid(`"n" must be an integer from 1 on, got ${JSON.stringify(n)}.`)
  if (!Array.isArray(writes) || writes.length === 0) throw invalid(`Transaction ${n} must have writes.`)
  return { n, writes: writes.map((write, at) => readWrite(write, `write ${at} of transaction ${n}`)) }
}

function readWrite(write: unknown, place: string): PushWrite {
  if (!isObject(write)) throw invalid(`${place} must be an object.`)
  const { collection, action, id, values, files, base, was, own } = write
  if (typeof collection !== 'string' || typeof id !== 'string')
    throw invalid(`${place} must name a collection and an id.`)
  if (action !== 'create' && action !== 'update' && action !== 'delete')
    throw invalid(`The action of ${place} must be "create", "update" or "delete", got ${JSON.stringify(action)}.`)
  if (action !== 'delete' && !isObject(values)) throw invalid(`${place} must have values.`)
  if (files !== undefined && !isFiles(files))
    throw invalid(`"files" of ${place} must be an object: { FIELD: [{ "part", "name" }, …] }.`)
  const added = files === undefined ? {} : { files }
  if (action === 'create') return { collection, action, id, values: values as JsonObject, ...added }
  if (!isBase(base)) throw invalid(`The base of ${place} must be a revision, { "n", "at", "rev"? } or null.`)
  if (action === 'delete') return { collection, action, id, base }
  if (was !== undefined && !isObject(was)) throw invalid(`"was" of ${place} must be an object.`)
  if (own !== undefined && !(isObject(own) && Object.values(own).every(isOwnWrite)))
    throw invalid(`"own" of ${place} must be an object: { FIELD: { "n", "at" } }.`)
  const seen = { ...(was !== undefined && { was }), ...(own !== undefined && { own: own as Record<string, OwnWrite> }) }
  return { collection, action, id, base, values: values as JsonObject, ...added, ...seen }
}

function isFiles(files: unknown): files is PushFiles {
  const isFile = (file: unknown): boolean =>
    isObject(file) && typeof file['part'] === 'string' && typeof file['name'] === 'string'
  return isObject(files) && Object.values(files).every((all) => Array.isArray(all) && all.every(isFile))
}

function isBase(base: unknown): base is PushBase {
  if (base === null || typeof base === 'string') return true
  return isOwnWrite(base) && (!('rev' in base) || typeof base.rev === 'string')
}

function isOwnWrite(value: unknown): value is OwnWrite {
  if (!isObject(value)) return false
  const { n, at } = value
  return isNumber(n) && Number.isSafeInteger(at) && (at as number) >= 0
}

function isNumber(n: unknown): n is number {
  return Number.isSafeInteger(n) && (n as number) >= 1
}
