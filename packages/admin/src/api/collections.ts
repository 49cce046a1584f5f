/** Definitions of collections. */
import { request } from './request.ts'

/** A field, with the options of its type. */
export interface Field {
  readonly id: string
  readonly name: string
  /** As the server names it; `views/kinds.ts` has what it means. */
  readonly type: string
  readonly system: boolean
  readonly hidden: boolean
  readonly presentable: boolean
  readonly required?: boolean
  readonly help?: string
  readonly searchable?: boolean
  readonly primaryKey?: boolean
  readonly autogeneratePattern?: string
  readonly onCreate?: boolean
  readonly onUpdate?: boolean
  readonly min?: number | string | null
  readonly max?: number | string | null
  readonly onlyInt?: boolean
  readonly values?: readonly string[]
  readonly maxSelect?: number
  readonly minSelect?: number
  readonly collectionId?: string
  readonly cascadeDelete?: boolean
  readonly pattern?: string
  readonly convertURLs?: boolean
  readonly onlyDomains?: readonly string[] | null
  readonly exceptDomains?: readonly string[] | null
  readonly cost?: number
  /** Undefined: the rules of the collection decide alone. */
  readonly viewRule?: Rule
  readonly updateRule?: Rule
  readonly maxSize?: number
  readonly mimeTypes?: readonly string[] | null
  readonly thumbs?: readonly string[] | null
  readonly protected?: boolean
}

/** `null`: superusers only. `''`: everybody. */
export type Rule = string | null

export interface MailTemplate {
  readonly subject: string
  readonly body: string
}

/** A provider of OAuth2, without its secret: nobody can read that. */
export interface Provider {
  readonly name: string
  readonly clientId: string
  /** The new secret of the client; left out, the stored one stays. */
  readonly clientSecret?: string
  readonly authURL: string
  readonly tokenURL: string
  readonly userInfoURL: string
  readonly displayName: string
  readonly pkce: boolean | null
  readonly extra: Readonly<Record<string, unknown>> | null
}

interface TokenOptions {
  /** The duration in seconds. */
  readonly duration: number
}

/** The options of collections of accounts. */
export interface AuthOptions {
  readonly authRule: Rule
  readonly manageRule: Rule
  readonly authAlert: { readonly enabled: boolean; readonly emailTemplate: MailTemplate }
  readonly oauth2: {
    readonly enabled: boolean
    readonly mappedFields: Readonly<Record<'id' | 'name' | 'username' | 'avatarURL', string>>
    readonly providers: readonly Provider[]
  }
  readonly passwordAuth: { readonly enabled: boolean; readonly identityFields: readonly string[] }
  readonly mfa: { readonly enabled: boolean; readonly duration: number; readonly rule: string }
  readonly otp: {
    readonly enabled: boolean
    readonly duration: number
    readonly length: number
    readonly emailTemplate: MailTemplate
  }
  readonly passkey?: { readonly enabled: boolean }
  readonly authToken: TokenOptions
  readonly passwordResetToken: TokenOptions
  readonly emailChangeToken: TokenOptions
  readonly verificationToken: TokenOptions
  readonly fileToken: TokenOptions
  readonly verificationTemplate: MailTemplate
  readonly resetPasswordTemplate: MailTemplate
  readonly confirmEmailChangeTemplate: MailTemplate
}

export interface Collection extends Partial<AuthOptions> {
  readonly id: string
  readonly name: string
  readonly type: 'base' | 'auth' | 'view'
  readonly system: boolean
  readonly fields: readonly Field[]
  readonly indexes: readonly string[]
  readonly listRule: Rule
  readonly viewRule: Rule
  readonly createRule: Rule
  readonly updateRule: Rule
  readonly deleteRule: Rule
  /** Views alone have one. */
  readonly viewQuery?: string
  readonly created: string
  readonly updated: string
}

const PAGE = 500

export async function listCollections(signal?: AbortSignal): Promise<Collection[]> {
  const found: Collection[] = []
  for (let page = 1; ; page++) {
    const { items } = await request<{ items: Collection[] }>('GET', '/collections', {
      query: { page, perPage: PAGE, sort: 'name', skipTotal: true },
      ...(signal !== undefined && { signal }),
    })
    found.push(...items)
    if (items.length < PAGE) return found
  }
}

/** A field needs its name and type; the server fills in the rest. */
export type NewField = Pick<Field, 'name' | 'type'> & Partial<Field>

/** A definition to create. Parts that are left out are as the server has them: no rules, no indexes. */
export type NewCollection = Pick<Collection, 'name' | 'type'> &
  Partial<Omit<Collection, 'fields'>> & { readonly fields: readonly NewField[] }

export function createCollection(definition: NewCollection): Promise<Collection> {
  return request('POST', '/collections', { body: definition })
}
