/** Files of records, as `$filesystem` makes them and requests bring them. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { TAG, type TaggedFile } from '../protocol/values.ts'
import { call } from './link.ts'

/** A file for a field. */
export class UploadedFile {
  name: string
  originalName: string
  readonly size: number
  readonly #bytes: Uint8Array | undefined
  readonly #ref: number | undefined

  constructor(name: string, size: number, { bytes, ref }: { readonly bytes?: Uint8Array; readonly ref?: number }) {
    this.name = name
    this.originalName = name
    this.size = size
    this.#bytes = bytes
    this.#ref = ref
  }

  static of({ name, size, bytes, ref }: TaggedFile): UploadedFile {
    return new UploadedFile(name, size, { ...(bytes && { bytes }), ...(ref !== undefined && { ref }) })
  }

  tagged(): TaggedFile {
    const content = this.#ref === undefined ? { bytes: this.#bytes! } : { ref: this.#ref }
    return { [TAG]: 'file', name: this.name, size: this.size, ...content }
  }
}

function fromBytes(bytes: Uint8Array | readonly number[] | string, name: string): UploadedFile {
  const content = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : Uint8Array.from(bytes)
  return new UploadedFile(name, content.length, { bytes: content })
}

/** `$filesystem`. */
export const FILESYSTEM: Readonly<Record<string, unknown>> = {
  fileFromPath: (path: string) => fromBytes(readFileSync(path), basename(path)),
  fileFromBytes: fromBytes,
  fileFromMultipart: (file: UploadedFile) => file,
  fileFromURL: (url: string, timeout = 120) => {
    const { status, body } = call('http', 'send', { url, method: 'GET', timeout }) as {
      status: number
      body: Uint8Array
    }
    if (status < 200 || status > 399) throw new Error(`$filesystem.fileFromURL(): ${url} has answered ${status}.`)
    return fromBytes(body, basename(new URL(url).pathname))
  },
}
