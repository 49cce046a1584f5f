/**
 * The account and the certificate of one ACME service, as files that only the server's account may read. They are not in the database:
 * a backup would carry the private key along, and a restore would bring back a certificate that has expired since.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateFolder, writePrivate } from '../http/private-files.ts'
import { checkCertificate } from './certificate.ts'
import type { Certificate } from './certificate.ts'

const ACCOUNT = 'account-key.pem'
const CERTIFICATE = 'certificate.pem'
const KEY_END = '-----END PRIVATE KEY-----\n'

export class AcmeFolder {
  readonly #dir: string

  /** `dir`: the server's. Each service has a folder of its own, so a trial with another service changes nothing. */
  constructor(dir: string, directoryUrl: string) {
    this.#dir = join(dir, 'acme', new URL(directoryUrl).host.replaceAll(/[^a-z0-9.-]/g, '_'))
  }

  /** Made by `make` if it is missing. */
  async accountKey(make: () => Promise<string>): Promise<string> {
    const found = await this.#read(ACCOUNT)
    if (found !== undefined) return found
    const key = await make()
    await this.#write(ACCOUNT, key)
    return key
  }

  /** @throws Error if the file can't be used */
  async certificate(): Promise<Certificate | undefined> {
    const text = await this.#read(CERTIFICATE)
    if (text === undefined) return undefined
    const keyEnds = text.indexOf(KEY_END) + KEY_END.length
    const certificate = { key: text.slice(0, keyEnds), chain: text.slice(keyEnds) }
    checkCertificate(certificate)
    return certificate
  }

  /** Stores key and chain in one file, so that they belong together whenever the process ends. */
  async keep({ key, chain }: Certificate): Promise<void> {
    await this.#write(CERTIFICATE, key + chain)
  }

  async #write(name: string, text: string): Promise<void> {
    await makePrivateFolder(this.#dir)
    await writePrivate(join(this.#dir, name), text)
  }

  async #read(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.#dir, name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}
