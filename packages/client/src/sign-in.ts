/** Ways to sign in. The routes are PocketBase's (docs/internals/rest-api.md), and those of passkeys ours. */
import type { AccountRecord, SignedIn } from './account.ts'
import { ClientError } from './client-error.ts'
import { signInByPopup, type PopupOptions } from './oauth2.ts'
import type { Server } from './server.ts'
import type { Values } from './writes.ts'

/** Said with the second of two ways to sign in. */
export interface SecondWay {
  /** `error.data.mfaId` of the first one, which failed with `MFA`. */
  readonly mfaId?: string
}

/** A collection of accounts signs in. Each resolves with the account when its data are open. */
export class SignIn {
  readonly #server: Server
  readonly #enter: (signedIn: SignedIn) => Promise<AccountRecord>

  /** @internal */
  constructor(server: Server, enter: (signedIn: SignedIn) => Promise<AccountRecord>) {
    this.#server = server
    this.#enter = enter
  }

  /**
   * @throws ClientError MFA, REFUSED, UNREACHABLE
   * @example
   * await client.signIn.password('users', 'ann@example.com', password)
   */
  async password(
    collection: string,
    identity: string,
    password: string,
    options: SecondWay = {},
  ): Promise<AccountRecord> {
    return await this.#with(collection, 'password', { identity, password, ...options })
  }

  /**
   * Sends a password for once by mail. Returns the id that goes with it.
   *
   * @example
   * const otpId = await client.signIn.requestOneTimePassword('users', 'ann@example.com')
   */
  async requestOneTimePassword(collection: string, email: string): Promise<string> {
    const { otpId } = await this.#server.send<{ otpId: string }>(pathOf(collection, 'request-otp'), { email })
    return otpId
  }

  /**
   * @throws ClientError MFA, REFUSED, UNREACHABLE
   * @example
   * await client.signIn.oneTimePassword('users', otpId, '12345678')
   */
  async oneTimePassword(
    collection: string,
    otpId: string,
    password: string,
    options: SecondWay = {},
  ): Promise<AccountRecord> {
    return await this.#with(collection, 'otp', { otpId, password, ...options })
  }

  /**
   * Opens a window of the provider, such as 'google'. Call it in the handler of a click: browsers block other windows.
   *
   * @throws ClientError INVALID: no such provider, or the window was closed; MFA, REFUSED, UNREACHABLE
   * @example
   * button.onclick = () => client.signIn.oauth2('users', 'google')
   */
  async oauth2(collection: string, provider: string, options: PopupOptions & SecondWay = {}): Promise<AccountRecord> {
    const { mfaId, ...popup } = options
    const body = await signInByPopup(this.#server, collection, provider, popup)
    return await this.#with(collection, 'oauth2', { ...body, ...(mfaId !== undefined && { mfaId }) })
  }

  /**
   * Asks the device for a passkey. In browsers only.
   *
   * @throws ClientError INVALID: this device has none, or the user has said no; MFA, REFUSED, UNREACHABLE
   * @example
   * await client.signIn.passkey('users')
   */
  async passkey(collection: string, options: SecondWay = {}): Promise<AccountRecord> {
    if (globalThis.PublicKeyCredential === undefined)
      throw new ClientError('INVALID', 'passkey(): this is no browser with passkeys.')
    const asked = await this.#server.send<PublicKeyCredentialRequestOptionsJSON>(
      pathOf(collection, 'request-passkey'),
      {},
    )
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked)
    const credential = await navigator.credentials.get({ publicKey }).catch((cause: unknown) => {
      throw new ClientError('INVALID', 'The device gave no passkey.', { cause })
    })
    return await this.#with(collection, 'passkey', {
      response: (credential as PublicKeyCredential).toJSON(),
      ...options,
    })
  }

  async #with(collection: string, way: string, body: Values): Promise<AccountRecord> {
    return await this.#enter(await this.#server.send<SignedIn>(pathOf(collection, `auth-with-${way}`), body))
  }
}

function pathOf(collection: string, action: string): string {
  return `POST /api/collections/${encodeURIComponent(collection)}/${action}`
}
