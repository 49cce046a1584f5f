/** The records of the floor in one file, each after its length. */
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { RecordStore } from './floor.ts'

const LENGTH_BYTES = 4

export function fileRecords(): RecordStore {
  let path = ''
  return {
    async open(place) {
      path = place
      if (!existsSync(path)) await writeFile(path, '')
    },
    close: () => undefined,
    async write(records) {
      const parts = records.flatMap((record) => {
        const length = Buffer.alloc(LENGTH_BYTES)
        length.writeUInt32LE(record.length)
        return [length, record]
      })
      await appendFile(path, Buffer.concat(parts), { flush: true })
    },
    async readAll() {
      const bytes = await readFile(path)
      const records: Uint8Array[] = []
      for (let at = 0; at < bytes.length;) {
        const end = at + LENGTH_BYTES + bytes.readUInt32LE(at)
        records.push(bytes.subarray(at + LENGTH_BYTES, end))
        at = end
      }
      return records
    },
    clear: () => truncate(path),
    destroy: (place) => rm(place, { force: true }),
  }
}
