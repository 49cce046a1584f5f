/** Keeps the types of the collections in a file beside the files of hooks. */
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Backend } from '@pannier/backend'

interface TypeFileParts {
  readonly folder: string
  readonly definitions: Pick<Backend['definitions'], 'hookDeclarations' | 'subscribe'>
  readonly log: FastifyBaseLogger
}

const NAME = 'types.d.ts'

export class TypeFile {
  readonly #parts: TypeFileParts
  readonly #stopListening: () => void
  #writing: Promise<void> = Promise.resolve()

  /** Writes the file, and again after each change of a collection. */
  static async open(parts: TypeFileParts): Promise<TypeFile> {
    const file = new TypeFile(parts)
    await file.#writing
    return file
  }

  private constructor(parts: TypeFileParts) {
    this.#parts = parts
    this.#renew()
    this.#stopListening = parts.definitions.subscribe(() => this.#renew())
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#writing
  }

  #renew(): void {
    this.#writing = this.#writing.then(() => this.#write())
  }

  /** The server runs without the file, too. */
  async #write(): Promise<void> {
    const { folder, definitions, log } = this.#parts
    const path = join(folder, NAME)
    try {
      const text = definitions.hookDeclarations()
      // The first line says whose the file is.
      const [mark = ''] = text.split('\n', 1)
      const old = await readFile(path, 'utf8').catch(() => mark)
      if (!old.startsWith(mark))
        log.warn(
          `${basename(folder)}/${NAME} is not the server's: rename it, and the server writes the types of hooks there.`,
        )
      else if (old !== text) await writeFile(path, text)
    } catch (error) {
      log.warn({ err: error }, `${basename(folder)}/${NAME} can't be written: hooks run, their types are old`)
    }
  }
}
