/** Ways to sign in. The routes are PocketBase's (docs/internals/rest-api.md), and those of passkeys ours. */
import { checkOptions, untilCancelled, type OptionNames } from 'pannier/internal'
import type { AccountRecord, Session, SignedIn } from './account.ts'
import { ClientError } from './client-error.ts'
import type { PopupOptions } from './oauth2.ts'
import type { Passkey } from './passkeys.ts'
import { routeOf, WAITING, type Server, type Waiting } from './server.ts'
import type { Values } from './writes.ts'

/** Said with the second of two ways to sign in. */
export interface SecondWay {
  /** `error.details.mfaId` of the first one, which failed with PANNIER_MFA_NEEDED. */
  readonly mfaId?: string
}

const SECOND_WAY: OptionNames<SecondWay> = { mfaId: true }
const PASSKEY_OPTIONS: OptionNames<SecondWay & Waiting> = { ...SECOND_WAY, ...WAITING }
const POPUP_OPTIONS: OptionNames<PopupOptions & SecondWay> = { open: true, createData: true, ...PASSKEY_OPTIONS }

/** A collection of accounts signs in. Each resolves with the account when its data are open. */
export class SignIn {
  readonly #server: Server
  readonly #enter: (signedIn: SignedIn) => Promise<AccountRecord>
  readonly #session: () => Session | undefined

  /** @internal */
  constructor(
    server: Server,
    enter: (signedIn: SignedIn) => Promise<AccountRecord>,
    session: () => Session | undefined,
  ) {
    this.#server = server
    this.#enter = enter
    this.#session = session
  }

  /**
   * @throws ClientError PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.password('users', 'ann@example.com', password)
   */
  async password(
    collection: string,
    identity: string,
    password: string,
    options: SecondWay = {},
  ): Promise<AccountRecord> {
    checkOptions('password()', options, SECOND_WAY)
    return await this.#with(collection, 'password', { identity, password, ...options })
  }

  /**
   * Makes an account, and signs it in. `values`: the other fields of the account.
   *
   * @throws ClientError PANNIER_PEER_REFUSED: `details` has the reasons by field; PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.up('users', { email: 'ann@example.com', password, name: 'Ann' })
   */
  async up(
    collection: string,
    { email, password, ...values }: Values & { readonly email: string; readonly password: string },
  ): Promise<AccountRecord> {
    const account = { ...values, email, password, passwordConfirm: password }
    await this.#post(collection, 'records', account)
    return await this.password(collection, email, password)
  }

  /**
   * Sends a mail with a link by which the address is verified. It says nothing about whether there is such an account.
   *
   * @example
   * await client.signIn.requestVerification('users', 'ann@example.com')
   */
  async requestVerification(collection: string, email: string): Promise<void> {
    await this.#post(collection, 'request-verification', { email })
  }

  /**
   * Verifies the address. `token`: what the link in the mail has.
   *
   * @throws ClientError PANNIER_PEER_REFUSED: the token is old, or no such token; PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.confirmVerification('users', token)
   */
  async confirmVerification(collection: string, token: string): Promise<void> {
    await this.#post(collection, 'confirm-verification', { token })
  }

  /**
   * Sends a mail with a link to a new password. It says nothing about whether there is such an account.
   *
   * @example
   * await client.signIn.requestPasswordReset('users', 'ann@example.com')
   */
  async requestPasswordReset(collection: string, email: string): Promise<void> {
    await this.#post(collection, 'request-password-reset', { email })
  }

  /**
   * Sets a new password, and ends all sessions of the account. `token`: what the link in the mail has.
   *
   * @throws ClientError PANNIER_PEER_REFUSED: the token is old, or no such token, or the password is too short; PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.confirmPasswordReset('users', token, password)
   */
  async confirmPasswordReset(collection: string, token: string, password: string): Promise<void> {
    const body = { token, password, passwordConfirm: password }
    await this.#post(collection, 'confirm-password-reset', body)
  }

  /**
   * Sends a password for once by mail. Returns the id that goes with it.
   *
   * @example
   * const otpId = await client.signIn.requestOneTimePassword('users', 'ann@example.com')
   */
  async requestOneTimePassword(collection: string, email: string): Promise<string> {
    const { otpId } = await this.#post<{ otpId: string }>(collection, 'request-otp', { email })
    return otpId
  }

  /**
   * @throws ClientError PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.oneTimePassword('users', otpId, '12345678')
   */
  async oneTimePassword(
    collection: string,
    otpId: string,
    password: string,
    options: SecondWay = {},
  ): Promise<AccountRecord> {
    checkOptions('oneTimePassword()', options, SECOND_WAY)
    return await this.#with(collection, 'otp', { otpId, password, ...options })
  }

  /**
   * Opens a window of the provider, such as 'google'. Call it in the handler of a click: browsers block other windows.
   *
   * @throws ClientError PANNIER_SIGN_IN_FAILED: no such provider, or the window was closed; PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
   * @example
   * button.onclick = () => client.signIn.oauth2('users', 'google')
   */
  async oauth2(collection: string, provider: string, options: PopupOptions & SecondWay = {}): Promise<AccountRecord> {
    checkOptions('oauth2()', options, POPUP_OPTIONS)
    const { mfaId, ...popup } = options
    // At once: browsers block what opens later than the click.
    const isOwn = popup.open === undefined && globalThis.window !== undefined
    const place = isOwn ? window.open('', '_blank', 'popup,width=1024,height=768') : null
    const { signInByPopup } = await import('./oauth2.ts').catch((error: unknown) => {
      place?.close()
      throw error
    })
    const shown = signInByPopup(this.#server, collection, provider, popup, place)
    const body = await untilCancelled(shown, popup.signal, 'The sign-in')
    return await this.#with(collection, 'oauth2', { ...body, ...(mfaId !== undefined && { mfaId }) })
  }

  /**
   * Asks the device for a passkey. In browsers only.
   *
   * @throws ClientError PANNIER_SIGN_IN_FAILED: this device has none, or the user has said no; PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE; PannierError PANNIER_ABORTED
   * @example
   * await client.signIn.passkey('users')
   */
  async passkey(collection: string, options: SecondWay & Waiting = {}): Promise<AccountRecord> {
    checkOptions('passkey()', options, PASSKEY_OPTIONS)
    const { signal, ...second } = options
    const { passkeyFor } = await import('./passkeys.ts')
    const found = await untilCancelled(passkeyFor(this.#server, collection, signal), signal, 'The sign-in')
    return await this.#with(collection, 'passkey', { ...found, ...second })
  }

  /**
   * Takes up a session that began outside of the client: on a page of the server, or in another part of the app. `signOut` does not end it
   * at the server, as others have it too.
   *
   * @throws ClientError PANNIER_SIGNED_OUT: the session has ended; PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
   * @example
   * await client.signIn.token('users', localStorage.getItem('token')!)
   */
  async token(collection: string, token: string): Promise<AccountRecord> {
    const signedIn = await this.#post<SignedIn>(collection, 'auth-refresh', undefined, token)
    return await this.#enter({ ...signedIn, isTakenUp: true })
  }

  /**
   * Makes a passkey of the account, in browsers. `name`: what the account calls it. The account must have signed in within the last ten
   * minutes.
   *
   * @throws ClientError PANNIER_SIGNED_OUT: nobody is signed in; PANNIER_SIGN_IN_FAILED: as `passkey`; PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
   * @example
   * button.onclick = () => client.signIn.addPasskey('My phone')
   */
  async addPasskey(name: string, options: Waiting = {}): Promise<Passkey> {
    checkOptions('addPasskey()', options, WAITING)
    const session = this.#session()
    if (session === undefined) throw new ClientError('PANNIER_SIGNED_OUT', 'addPasskey(): sign in before.')
    const { addPasskey } = await import('./passkeys.ts')
    return await untilCancelled(addPasskey(this.#server, session, name, options), options.signal, 'The passkey')
  }

  async #with(collection: string, way: string, body: Values): Promise<AccountRecord> {
    return await this.#enter(await this.#post<SignedIn>(collection, `auth-with-${way}`, body))
  }

  #post<T>(collection: string, rest: string, body?: Values, token?: string): Promise<T> {
    return this.#server.send<T>(routeOf('POST', collection, rest), body, { token })
  }
}
