/** Files for actors: which one somebody gets who asks for one by its name, and with what token. */
import { extname } from 'node:path/posix'
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import type { Definition, Rule } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { FileTokens } from '../accounts/file-tokens.ts'
import { fileColumn } from '../definitions/views/view-fields.ts'
import { isMany } from '../fields/field-definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import { forbidden, missing } from '../gateway/service-error.ts'
import type { Settings } from '../settings/settings.ts'
import { testBucket } from './bucket.ts'
import { fileFieldOf, fileNames } from './record-content.ts'
import type { Content, RecordFiles } from './record-files.ts'

/** A file that somebody may have. */
export interface Download extends Content {
  /** Under which it is saved: a thumb has its size before the name. */
  readonly name: string
  /** False: it is for saving only, as a browser might run what is in it. */
  readonly isShown: boolean
  /** A rule has admitted the holder of the token: it is for nobody else. */
  readonly isProtected: boolean
}

/** The options of a request for a file. */
export interface DownloadOptions {
  /** The thumb's size: `70x50` */
  readonly thumb?: string
  /** The token of somebody who may see the record: protected files need one. */
  readonly token?: string
}

interface FilesHost {
  readonly environment: Environment
  readonly definitions: Definitions
  readonly settings: Settings
  readonly files: RecordFiles
  readonly tokens: FileTokens
  readonly reads: {
    /** A record, or a row of a view, whatever the rules say. */
    stored(definition: Definition, id: string): Promise<JsonObject | undefined>
    admits(actor: Actor, definition: Definition, action: 'view', record: JsonObject): Promise<boolean>
  }
}

/** The size of thumbs that every picture has, whatever its field allows. */
const THUMB_OF_ALL = '100x100'

/** Content types that browsers show without running anything. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['png', 'jpg', 'jpeg', 'gif', 'webp', 'x-icon', 'bmp'].map((type) => `image/${type}`),
  ...['webm', 'mp4', '3gpp', 'quicktime', 'x-ms-wmv'].map((type) => `video/${type}`),
  ...['basic', 'aiff', 'mpeg', 'midi', 'mp3', 'wave', 'wav', 'x-wav', 'x-mpeg', 'x-m4a', 'aac'].map(
    (type) => `audio/${type}`,
  ),
  'application/pdf',
  'application/x-pdf',
])

const OFFICE = 'application/vnd.openxmlformats-officedocument'
/** Types by extension, which the content alone does not always tell. */
const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '.svg': 'image/svg+xml',
    '.css': 'text/css',
    '.js': 'text/javascript',
    '.mjs': 'text/javascript',
    '.xlsx': `${OFFICE}.spreadsheetml.sheet`,
    '.docx': `${OFFICE}.wordprocessingml.document`,
    '.pptx': `${OFFICE}.presentationml.presentation`,
  }),
)

/** The files that file fields name, for actors. */
export class Files {
  readonly #host: FilesHost

  constructor(host: FilesHost) {
    this.#host = host
  }

  /** @throws ServiceError NOT_FOUND: also for a protected file of a record that the actor may not see */
  async open(
    actor: Actor,
    collection: string,
    id: string,
    name: string,
    { thumb = '', token = '' }: DownloadOptions = {},
  ): Promise<Download> {
    const { definitions, files, reads } = this.#host
    const definition = definitions.find(collection)
    const asked = definition && (await reads.stored(definition, id))
    const field = asked && fileFieldOf(definition!, asked, name)
    if (definition === undefined || asked === undefined || field === undefined) throw missing('')
    const rules = field.viewRule === undefined ? [] : [field.viewRule]
    if (field.protected) rules.push(definition.viewRule)
    const origin =
      definition.type === 'view' ? fileColumn(definition.viewQuery, field.name, definitions.all()) : undefined
    // Its rule is about records of its own collection, so a view shows the field to superusers.
    if (origin?.field.viewRule !== undefined) rules.push(null)
    if (rules.length > 0) await this.#checkProtected(actor, definition, rules, asked, token)
    const source =
      definition.type === 'view' ? await this.#sourceOf(origin, asked, name) : { definition, record: asked }
    const original = source && (await files.open(source.definition, source.record, name))
    if (source === undefined || original === undefined) throw missing('')
    const isThumb = thumb === THUMB_OF_ALL || (thumb !== '' && field.thumbs?.includes(thumb) === true)
    const made = isThumb ? await files.openThumb(source.definition, source.record, name, thumb, original) : undefined
    // The empty rule admits all.
    const isProtected = rules.some((rule) => rule !== '')
    return download(made ?? original, made === undefined ? name : `${thumb}_${name}`, isProtected)
  }

  /** The record that a file is asked of, as it is stored. No rule is asked. */
  recordOf(definition: Definition, id: string): Promise<JsonObject | undefined> {
    return this.#host.reads.stored(definition, id)
  }

  /** A token for protected files. @throws ServiceError UNAUTHENTICATED */
  newToken(actor: Actor): Promise<string> {
    return this.#host.tokens.create(actor)
  }

  /** The principal to whom a token for files belongs, at an address. Undefined: nobody's. */
  principalOf(token: string, address: string | undefined): Promise<Principal | undefined> {
    return this.#host.tokens.principalOf(token, address)
  }

  /** Tries the bucket of the files (`storage`) or that of the backups (`backups`). @throws ServiceError FORBIDDEN, INVALID */
  async test({ principal }: Actor, filesystem: unknown): Promise<void> {
    if (!principal.isAdmin) throw forbidden('')
    await testBucket(this.#host.settings, this.#host.environment, filesystem)
  }

  /** Resolves when everything is deleted that no record names any more. */
  settled(): Promise<void> {
    return this.#host.files.settled()
  }

  /** The token says who it is, and nothing else does. */
  async #checkProtected(
    actor: Actor,
    definition: Definition,
    rules: readonly Rule[],
    record: JsonObject,
    token: string,
  ): Promise<void> {
    const { address } = actor.principal
    const principal = (await this.#host.tokens.principalOf(token, address)) ?? {
      ...GUEST,
      ...(address !== undefined && { address }),
    }
    const request = { ...actor.request, context: 'protectedFile' }
    for (const viewRule of rules)
      if (!(await this.#host.reads.admits({ principal, request }, { ...definition, viewRule }, 'view', record)))
        throw missing('')
  }

  /** The record that has the content of a file in a row of a view. */
  async #sourceOf(
    origin: ReturnType<typeof fileColumn>,
    row: JsonObject,
    name: string,
  ): Promise<{ readonly definition: Definition; readonly record: JsonObject } | undefined> {
    if (origin === undefined) return undefined
    const { definitions } = this.#host
    const records = definitions.records(origin.definition)
    // Mostly a row has the id of its record.
    const own = await records.get(String(row['_id']))
    if (own !== undefined && fileNames(origin.definition, own).includes(name))
      return { definition: origin.definition, record: own }
    const value = isMany(origin.field) ? { $elemMatch: { $eq: name } } : name
    const found = await records.find({ [origin.field.name]: value }).first()
    return found && { definition: origin.definition, record: found }
  }
}

function download(content: Content, name: string, isProtected: boolean): Download {
  const type = BY_EXTENSION.get(extname(name)) ?? content.type
  return { ...content, name, type, isShown: SHOWN.has(content.type), isProtected }
}
