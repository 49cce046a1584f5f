/** Encrypted databases in any storage. */
import type { SharingScope, DatabaseStorage } from '../page-store.ts'
import { EncryptedPageStore } from './encrypted-page-store.ts'
import type { CryptoPlatform } from './platform.ts'
import type { Credential } from './slots.ts'
import { Vault } from './vault.ts'

export class EncryptedStorage implements DatabaseStorage {
  readonly kind: string
  readonly scope: SharingScope
  readonly coordinator: DatabaseStorage['coordinator']
  readonly #inner: DatabaseStorage
  readonly #platform: CryptoPlatform
  readonly #credential: Credential
  readonly #makesNew: boolean | undefined

  /** `makesNew`: see Vault. */
  constructor(inner: DatabaseStorage, platform: CryptoPlatform, credential: Credential, makesNew?: boolean) {
    this.#inner = inner
    this.#platform = platform
    this.#credential = credential
    this.#makesNew = makesNew
    this.kind = inner.kind
    this.scope = inner.scope
    this.coordinator = inner.coordinator?.bind(inner)
  }

  identify(name: string): string {
    return this.#inner.identify(name)
  }

  has(name: string): Promise<boolean | undefined> {
    return this.#inner.has(name)
  }

  /** Keys are derived from the credential with the first call that needs them: PANNIER_KEY_WRONG comes from there. */
  open(name: string): Promise<EncryptedPageStore> {
    return this.#open(name)
  }

  /** For a repair: see EncryptedPageStore. */
  openDamaged(name: string, problems: Set<string>): Promise<EncryptedPageStore> {
    return this.#open(name, problems)
  }

  destroy(name: string): Promise<void> {
    return this.#inner.destroy(name)
  }

  async #open(name: string, problems?: Set<string>): Promise<EncryptedPageStore> {
    const vault = new Vault(this.#platform, this.#credential, this.#makesNew)
    return new EncryptedPageStore(await this.#inner.open(name), vault, problems)
  }
}
