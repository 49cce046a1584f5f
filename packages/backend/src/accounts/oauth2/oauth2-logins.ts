/**
 * Logins by OAuth2: a client brings the code that a provider gave it. The provider tells who that is, and the account of this
 * user logs in.
 */
import { isObject } from 'pannier/internal'
import type { Actor } from '../../access/actor.ts'
import type { AuthDefinition } from '../../definitions/definition.ts'
import { dateText } from '../../fields/date-text.ts'
import { BLANK, fieldError, tooLong } from '../../fields/field-errors.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { withTimeLimit } from '../../gateway/time-limit.ts'
import { LOG_LEVELS } from '../../gateway/log-entry.ts'
import { forbidden, invalid, ServiceError } from '../../gateway/service-error.ts'
import { HookRecord } from '../../hooks/hook-record.ts'
import { requestEvent } from '../../hooks/request-event.ts'
import { checkForm, readTexts } from '../forms.ts'
import { Logins } from '../logins.ts'
import type { HalfLoggedIn, LoggedIn } from '../logins.ts'
import { AppleNames } from './apple-names.ts'
import { externalUser } from './external-user.ts'
import type { ExternalUser } from './external-user.ts'
import type { ExternalLogin, OAuth2Host } from './oauth2-host.ts'
import { providerOf } from './provider.ts'
import type { Provider } from './provider.ts'
import { fetchTokens } from './provider-requests.ts'
import type { ProviderCode, ProviderTokens } from './provider-requests.ts'
import { signUpInput } from './sign-up-input.ts'

/** The time limit for all requests of a login to providers. */
const PROVIDER_MS_MAX = 30_000
const NAME_BYTES_MAX = 100
const UNREADABLE = 'An error occurred while loading the submitted data.'
const NO_PROVIDER = 'Provider with name {name} is missing or is not enabled.'
/** Older clients send `redirectUrl`. */
const FORM = ['provider', 'code', 'codeVerifier', 'redirectURL', 'redirectUrl'] as const

interface OAuth2Form extends ProviderCode {
  readonly provider: Provider
  readonly createData: JsonObject
}

/** The parameters of a provider's redirect. */
interface OAuth2Redirect {
  /** The id of the client of realtime that waits for it. */
  readonly state: string
  readonly code: string
  readonly error: string
  /** The user as JSON, which Apple sends once. */
  readonly user: string
}

export class OAuth2Logins {
  readonly #host: OAuth2Host
  readonly #logins: Logins
  readonly #appleNames: AppleNames
  readonly #closing = new AbortController()

  constructor(host: OAuth2Host) {
    this.#host = host
    this.#logins = new Logins(host)
    this.#appleNames = new AppleNames(() => host.environment.wallClock())
  }

  /**
   * Logs in the account of the user that a provider knows. `input` is read if the collection admits such logins.
   *
   * @throws ServiceError FORBIDDEN, INVALID with data
   */
  async logIn(
    actor: Actor,
    definition: AuthDefinition,
    input: () => Promise<JsonObject>,
  ): Promise<LoggedIn | HalfLoggedIn> {
    if (!definition.oauth2.enabled) throw forbidden('The collection is not configured to allow OAuth2 authentication.')
    const values = await input()
    const { provider, createData, ...code } = readForm(definition, values)
    const within: Actor = { ...actor, request: { ...actor.request, context: 'oauth2' } }
    const [user, tokens] = await this.#ask(provider, code)
    const { definitions, environment, fetchPublic, hooks, logs } = this.#host
    const login: ExternalLogin = {
      actor: within,
      definition,
      provider: provider.name,
      providerId: user.id,
      email: user.email,
      signUpInput: () => signUpInput({ definition, definitions, environment, user, createData, fetchPublic, logs }),
    }
    const tags = [definition.id, definition.name]
    const isHooked = hooks.has(['onRecordAuthWithOAuth2Request'], tags)
    const found = isHooked ? await this.#host.find(login) : undefined
    const about = { collection: definition, providerName: provider.name, oAuth2User: { ...user }, createData }
    const record = found && HookRecord.of(definition, found, environment)
    const event = {
      ...requestEvent(this.#host, within, values),
      ...about,
      record,
      isNewRecord: found === undefined,
    }
    let outcome: LoggedIn | HalfLoggedIn | undefined
    await hooks.trigger('onRecordAuthWithOAuth2Request', event, tags, async () => {
      const { record: entered, isNew } = await this.#host.enter(login)
      const done = await this.#logins.finish(within, { definition, record: entered }, 'oauth2', values)
      outcome = 'mfaId' in done ? done : { ...done, meta: metaOf(user, tokens, isNew) }
    })
    if (outcome === undefined) throw forbidden('')
    return outcome
  }

  /** Sends the code to the client that waits for it, and calls `logIn` next. False: no client waits, or no code came. */
  async redirected({ state, code, error, user }: OAuth2Redirect, address: string | undefined): Promise<boolean> {
    const message = error === '' ? { state, code } : { state, code, error }
    if (state === '' || !(await this.#host.deliver(state, message, address))) return false
    if (error !== '' || code === '') return false
    this.#appleNames.keep(code, user)
    return true
  }

  /** Closes it: ends what providers are asked. */
  close(): void {
    this.#closing.abort()
  }

  /** @throws ServiceError INVALID */
  #ask(provider: Provider, code: ProviderCode): Promise<[ExternalUser, ProviderTokens]> {
    return withTimeLimit(this.#host.environment, PROVIDER_MS_MAX, (signal) =>
      this.#askWithin(provider, code, AbortSignal.any([signal, this.#closing.signal])),
    )
  }

  async #askWithin(
    provider: Provider,
    code: ProviderCode,
    signal: AbortSignal,
  ): Promise<[ExternalUser, ProviderTokens]> {
    const options = { signal, nowMs: this.#host.environment.wallClock() }
    const failed = (what: string) => (error: unknown) => {
      const message = `Failed to fetch OAuth2 ${what}.`
      this.#host.logs.write({
        level: LOG_LEVELS.warn,
        message,
        data: { provider: provider.name, error: reasonOf(error) },
      })
      throw new ServiceError('INVALID', message, { cause: error })
    }
    const tokens = await fetchTokens(provider, code, options).catch(failed('token'))
    const user = await externalUser(provider, tokens, options).catch(failed('user'))
    const isNamed = provider.name !== 'apple' || user.name !== ''
    return [isNamed ? user : { ...user, name: this.#appleNames.take(code.code) }, tokens]
  }
}

/** `fetch` says what has failed in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { readonly message: string; readonly cause?: unknown }
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

/** @throws ServiceError INVALID with data */
function readForm(definition: AuthDefinition, input: JsonObject): OAuth2Form {
  const { provider: name, redirectUrl, ...form } = readTexts(input, FORM)
  const createData = input['createData'] ?? {}
  if (!isObject(createData)) throw invalid(UNREADABLE)
  const provider = providerOf(definition, name)
  const isLong = Buffer.byteLength(name) > NAME_BYTES_MAX
  const wrong = isLong ? tooLong(NAME_BYTES_MAX) : fieldError('validation_invalid_provider', NO_PROVIDER, { name })
  checkForm(
    {
      provider: name === '' ? BLANK : provider === undefined ? wrong : undefined,
      code: form.code === '' ? BLANK : undefined,
    },
    UNREADABLE,
  )
  return { ...form, provider: provider!, createData, redirectURL: form.redirectURL || redirectUrl }
}

/** As PocketBase shows it. */
function metaOf(
  user: ExternalUser,
  { accessToken, refreshToken, expiresMs }: ProviderTokens,
  isNew: boolean,
): JsonObject {
  const { id, name, username, avatarURL, email, raw } = user
  const expiry = expiresMs === undefined ? '' : dateText(expiresMs)
  return {
    accessToken,
    avatarURL,
    // What older clients read.
    avatarUrl: avatarURL,
    email,
    expiry,
    id,
    isNew,
    name,
    rawUser: raw,
    refreshToken,
    username,
  }
}
