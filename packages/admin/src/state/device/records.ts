/**
 * Records from the server, or from this device while the server is away. What a form has read on the device is written there, also when the
 * server is back. docs/internals/admin.md is the contract.
 */
import * as server from '../../api/records.ts'
import type { ListQuery, Row, RowPage, Values } from '../../api/records.ts'
import { ApiError } from '../../api/request.ts'
import { isServerThere } from '../session.ts'
import { device, replicaInUse, replicaOf } from './device.ts'
import type { Replica } from './replica.ts'
import { DEVICE_REV } from './local-row.ts'

export function listRecords(collection: string, query: ListQuery, signal?: AbortSignal): Promise<RowPage> {
  return either(
    collection,
    () => server.listRecords(collection, query, signal),
    (replica) => replica.list(collection, query, signal),
  )
}

export function viewRecord(collection: string, id: string): Promise<Row> {
  return either(
    collection,
    () => server.viewRecord(collection, id),
    (replica) => replica.view(collection, id),
  )
}

/** An answer that was lost may be of a record that was made. So it has its id before, and is not made twice. */
export function createRecord(collection: string, values: Values): Promise<Row> {
  const id = values['id'] === undefined ? replicaOf(collection)?.newId(collection) : undefined
  const whole = id === undefined ? values : { ...values, id }
  return either(
    collection,
    () => server.createRecord(collection, whole),
    (replica) => replica.create(collection, whole),
  )
}

/** `rev`: of the record that was read. */
export function updateRecord(collection: string, id: string, values: Values, rev?: string): Promise<Row> {
  const here = rev?.startsWith(DEVICE_REV) === true ? replicaOf(collection) : undefined
  if (here !== undefined) return here.update(collection, id, values, rev)
  return either(
    collection,
    () => server.updateRecord(collection, id, values, rev),
    (replica) => replica.update(collection, id, values, rev),
  )
}

export function deleteRecord(collection: string, id: string): Promise<void> {
  return either(
    collection,
    () => server.deleteRecord(collection, id),
    (replica) => replica.delete(collection, id),
  )
}

/** Calls back when a list of the collection is to be read again: it comes from elsewhere, or the device has something else. */
export function followSource(collection: string, listener: () => void): () => void {
  let used = replicaInUse(collection)
  let stop = used?.follow(listener)
  const unfollow = device.follow(() => {
    const now = replicaInUse(collection)
    if (now === used) return
    stop?.()
    used = now
    stop = now?.follow(listener)
    listener()
  })
  return () => {
    unfollow()
    stop?.()
  }
}

async function either<T>(
  collection: string,
  there: () => Promise<T>,
  here: (replica: Replica) => Promise<T>,
): Promise<T> {
  const replica = replicaInUse(collection)
  if (replica !== undefined) return here(replica)
  try {
    return await there()
  } catch (error) {
    const instead = error instanceof ApiError && !isServerThere.get() ? replicaInUse(collection) : undefined
    if (instead === undefined) throw error
    return here(instead)
  }
}
