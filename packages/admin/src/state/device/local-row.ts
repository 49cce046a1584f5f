/** A record of the device, as the rest of the page reads records. */
import type { Row } from '../../api/records.ts'

/** A revision that begins so is of the device. It changes with each write here. */
export const DEVICE_REV = 'device:'

export function shownRow({ _id, _rev, $rev: _serverRev, ...record }: Readonly<Record<string, unknown>>): Row {
  return { ...record, id: String(_id ?? record['id']), _rev: `${DEVICE_REV}${String(_rev)}` }
}
