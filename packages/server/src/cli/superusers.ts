/** Actions of the command line on superusers, at a running server or in the file of a stopped one. */
import type { Database } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import { openBackend, ServiceError, SYSTEM } from '@pannier/backend'
import type { Backend } from '@pannier/backend'
import { randomText } from '@pannier/backend/internal'
import { ITSELF, SUPERUSERS, OwnSuperusers, twice } from '../auth/bootstrap.ts'
import { givenSettingsKey } from './database-path.ts'
import { FailedError } from './outcome.ts'
import { explained, type SuperuserApi } from './superuser-api.ts'

/** Actions on superusers, which fail with FailedErrors. */
export interface Superusers {
  /** The id of the one with this e-mail address. */
  find(email: string): Promise<string | undefined>
  create(email: string, password: string): Promise<void>
  setPassword(id: string, password: string): Promise<void>
  /** Makes one, or gives one the password. */
  upsert(email: string, password: string): Promise<void>
  remove(id: string): Promise<void>
  /** Makes a one-time password (otp) for a login, which takes a password too. */
  makeOtp(email: string): ReturnType<Backend['accounts']['superuserOtp']>
  /** Sets the addresses from where superusers may act; from everywhere if the list is empty. */
  setAddresses(networks: readonly string[]): Promise<void>
}

/** Runs `work` on a database that no server has open. */
export async function withSuperusersOf<T>(
  database: Database,
  work: (superusers: Superusers) => Promise<T>,
): Promise<T> {
  const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
  try {
    return await work(new FileSuperusers(backend))
  } catch (error) {
    throw error instanceof ServiceError
      ? new FailedError(explained(error.message, error.data), { cause: error })
      : error
  } finally {
    await backend.close()
  }
}

class FileSuperusers extends OwnSuperusers implements Superusers {
  readonly #backend: Backend

  constructor(backend: Backend) {
    super(backend)
    this.#backend = backend
  }

  remove(id: string): Promise<void> {
    return this.#backend.records.delete(ITSELF, SUPERUSERS, id)
  }

  makeOtp(email: string): ReturnType<Backend['accounts']['superuserOtp']> {
    return this.#backend.accounts.superuserOtp(email)
  }

  async setAddresses(superuserIPs: readonly string[]): Promise<void> {
    await this.#backend.settings.update(SYSTEM, { superuserIPs })
  }
}

/** The options of superusers that the command line reads. */
interface SuperusersDefinition {
  readonly id: string
  readonly otp: { readonly enabled: boolean; readonly length: number; readonly duration: number }
}

/** Through PocketBase's API. */
export class HttpSuperusers implements Superusers {
  readonly #api: SuperuserApi

  constructor(api: SuperuserApi) {
    this.#api = api
  }

  async find(email: string): Promise<string | undefined> {
    const filter = new URLSearchParams({ filter: `email = ${JSON.stringify(email)}`, fields: 'id' })
    const { items } = (await this.#send('GET', `${SUPERUSERS}/records?${filter}`)) as {
      readonly items: readonly { id: string }[]
    }
    return items[0]?.id
  }

  async create(email: string, password: string): Promise<void> {
    await this.#send('POST', `${SUPERUSERS}/records`, { email, ...twice(password) })
  }

  async setPassword(id: string, password: string): Promise<void> {
    await this.#send('PATCH', `${SUPERUSERS}/records/${encodeURIComponent(id)}`, twice(password))
  }

  async upsert(email: string, password: string): Promise<void> {
    const id = await this.find(email)
    await (id === undefined ? this.create(email, password) : this.setPassword(id, password))
  }

  async remove(id: string): Promise<void> {
    await this.#send('DELETE', `${SUPERUSERS}/records/${encodeURIComponent(id)}`)
  }

  async makeOtp(email: string): ReturnType<Backend['accounts']['superuserOtp']> {
    const recordRef = await this.find(email)
    if (recordRef === undefined) throw new FailedError(`There is no superuser ${email}.`)
    const { id: collectionRef, otp } = (await this.#send('GET', SUPERUSERS)) as SuperusersDefinition
    if (!otp.enabled) throw new FailedError('The collection is not configured to allow OTP authentication.')
    const password = randomText(systemEnvironment(), otp.length, '0123456789')
    const { id: otpId } = (await this.#send('POST', '_otps/records', { collectionRef, recordRef, password })) as {
      readonly id: string
    }
    return { otpId, password, seconds: otp.duration }
  }

  async setAddresses(superuserIPs: readonly string[]): Promise<void> {
    await this.#api.json('PATCH', '/api/settings', { superuserIPs })
  }

  /** `path`: from `/api/collections/` on. @throws FailedError */
  #send(method: string, path: string, body?: object): Promise<unknown> {
    return this.#api.json(method, `/api/collections/${path}`, body)
  }
}
