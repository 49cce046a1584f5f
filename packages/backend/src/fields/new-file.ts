/** Files to be stored, as values of file fields. */
import { LOWER, randomText, type Chance } from '../gateway/chance.ts'
import { extensionOf, HEAD_BYTES, typeOf } from './file-types.ts'

/** An uploaded file. */
export interface Upload {
  readonly name: string
  readonly size: number
  /** The content as a stream. May be asked for more than once. */
  stream(): ReadableStream<Uint8Array>
}

/** An input has JSON beside files, and JSON has no functions. */
export function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function'
}

/** An upload that has its name in the record. */
export class NewFile {
  /** The name in lower case, with a random part. */
  readonly name: string
  readonly originalName: string
  readonly size: number
  readonly stream: () => ReadableStream<Uint8Array>

  /** Makes a file of a program, which has its name at once. Its type is known after `look`. */
  static ofProgram(upload: Upload, chance: Chance): NewFile {
    return new NewFile(upload, '', storedName(baseName(upload), '', chance))
  }

  static async from(upload: Upload, chance: Chance): Promise<NewFile> {
    const type = typeOf(await headOf(upload.stream()))
    return new NewFile(upload, type, storedName(baseName(upload), type, chance))
  }

  /** Makes a file that has had its name before. */
  static async named(upload: Upload): Promise<NewFile> {
    return new NewFile(upload, typeOf(await headOf(upload.stream())), upload.name)
  }

  #type: string

  private constructor(upload: Upload, type: string, name: string) {
    this.originalName = baseName(upload)
    this.name = name
    this.size = upload.size
    this.#type = type
    this.stream = () => upload.stream()
  }

  /** The type by the content: `image/png`. Empty before it was looked at. */
  get type(): string {
    return this.#type
  }

  /** Finds the type out. */
  async look(): Promise<void> {
    if (this.#type === '') this.#type = typeOf(await headOf(this.stream()))
  }
}

function baseName({ name }: Upload): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

async function headOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const head = new Uint8Array(HEAD_BYTES)
  let length = 0
  for await (const bytes of stream) {
    const taken = bytes.subarray(0, HEAD_BYTES - length)
    head.set(taken, length)
    length += taken.length
    if (length === HEAD_BYTES) break
  }
  return head.subarray(0, length)
}

const NAME_MAX = 300
const BASE_MAX = 100
const BASE_MIN = 3
const EXTENSION_MAX = 20
const RANDOM_CHARS = 10

/** `My File (1).TXT` becomes `my_file_1_xlguknnje3.TXT`. */
function storedName(given: string, type: string, chance: Chance): string {
  const randomPart = (): string => randomText(chance, RANDOM_CHARS, LOWER)
  const name = given.slice(-NAME_MAX)
  const [extension = ''] = /(?:\.[^.]*)?\.[^.]*$/s.exec(name) ?? []
  const base = snakeCase(name.slice(0, name.length - extension.length).replace(/^\.+|\.+$/g, ''))
  const long = base.length < BASE_MIN ? base + randomPart() : base.slice(0, BASE_MAX)
  return `${long}_${randomPart()}${cleanExtension(extension, type)}`
}

function cleanExtension(extension: string, type: string): string {
  const clean = extension.replace(/[^\w.*+=#-]+/g, '').replace(/^\.+|\.+$/g, '')
  const whole = clean === '' ? extensionOf(type) : `.${clean}`
  return whole.length > EXTENSION_MAX ? `.${whole.slice(-EXTENSION_MAX).replace(/^\.+|\.+$/g, '')}` : whole
}

/** As PocketBase names headers and files. */
export function snakeCase(text: string): string {
  return text
    .split(/[\W_]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=[^A-Z])[A-Z]/g, '_$&'))
    .join('_')
    .toLowerCase()
}
