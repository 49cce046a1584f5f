/**
 * Moves the collections of a PocketBase. What is there already is brought up to date, so a move that was stopped continues when it is
 * run again. Records that PocketBase has deleted since stay.
 */
import type { ImportedRow } from '@pannier/backend'
import { holdsOf, type JsonObject } from '@pannier/backend/internal'
import { FailedError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { formatTable } from '../table.ts'
import { counted, printLine, type Terminal } from '../terminal.ts'
import {
  countOf,
  danglingOf,
  definitionsOf,
  migrationsOf,
  settingsOf,
  type PocketBaseSource,
  type SourceDefinition,
  type SourceFile,
} from './source.ts'
import type { ImportTarget, TargetCollection } from './target.ts'

interface MoveOptions {
  /** Names of collections that stay where they are. */
  readonly skip: readonly string[]
  /** Superusers come too. */
  readonly superusers: boolean
  /** Settings come too. */
  readonly settings: boolean
  /** Nothing is written, and no file is read. */
  readonly isDry: boolean
}

/** Counts of one collection: the records at the source, and the outcome. */
interface Tally {
  readonly name: string
  readonly records: number
  created: number
  changed: number
  same: number
  files: number
}

/** The definitions to move, and the reasons why the target would refuse them. */
interface Plan {
  readonly definitions: readonly SourceDefinition[]
  readonly obstacles: readonly Obstacle[]
}

interface Obstacle {
  /** The collection that is not taken. */
  readonly name: string
  readonly text: string
}

const SUPERUSERS = '_superusers'
/** Collections about accounts. Codes of logins that are half done stay. */
const ABOUT_ACCOUNTS = ['_externalAuths', '_authOrigins']
const OWN_COLLECTIONS = [SUPERUSERS, ...ABOUT_ACCOUNTS, '_mfas', '_otps']
/** The first collection of users, with which PocketBase and Pannier begin. */
const FIRST_USERS = '_pb_users_auth_'
const SHOWN = 20

export class Move {
  readonly #source: PocketBaseSource
  readonly #options: MoveOptions
  readonly #terminal: Terminal
  readonly #tallies: Tally[] = []
  #state: 'planning' | 'writing' | 'done' = 'planning'
  #refused = 0
  #shown = 0

  constructor(source: PocketBaseSource, options: MoveOptions, terminal: Terminal) {
    this.#source = source
    this.#options = options
    this.#terminal = terminal
  }

  /** Whether it is half done: something has been written, and something has not. */
  get isHalf(): boolean {
    return this.#state === 'writing'
  }

  /**
   * Brings everything into `target`. `scratch`: what a new target is like, to try definitions on.
   *
   * @throws FailedError if definitions are not taken, before anything changes; if records are not taken, after all others
   */
  async run(target: ImportTarget, scratch: ImportTarget): Promise<void> {
    const { definitions, obstacles } = await this.#planned(target, scratch)
    if (obstacles.length > 0) throw notTaken(obstacles)
    this.#state = 'writing'
    await this.#define(target, definitions)
    await this.#moveRecords(definitions, target)
    if (this.#options.settings) await this.#moveSettings(target)
    await target.noteMigrations(await migrationsOf(this.#source))
    this.#state = 'done'
    this.#report(['collection', 'records', 'new', 'changed', 'as before', 'files'])
    await this.#sayDangling(definitions)
    if (this.#refused > 0) throw new FailedError(`${counted(this.#refused, 'record')} could not be imported.`)
  }

  /** Says what `run` would bring. `scratch` looks at the records, and `target` stays as it is. */
  async rehearse(target: ImportTarget, scratch: ImportTarget): Promise<void> {
    const { definitions, obstacles } = await this.#planned(target, scratch)
    for (const { text } of obstacles) printLine(this.#terminal.stderr, text)
    const left = definitions.filter(({ name }) => !obstacles.some((obstacle) => obstacle.name === name))
    await this.#define(scratch, left)
    await this.#moveRecords(left, scratch)
    this.#report(['collection', 'records', 'come', '', '', 'files'])
    await this.#sayDangling(left)
    if (obstacles.length > 0 || this.#refused > 0) throw new FailedError('Not everything would be imported.')
    printLine(this.#terminal.stderr, 'Nothing was written: this was a dry run.')
  }

  async #planned(target: ImportTarget, scratch: ImportTarget): Promise<Plan> {
    const { skip, superusers } = this.#options
    const all = await definitionsOf(this.#source)
    const definitions = all.filter(
      ({ name }) => !skip.includes(name) && (!OWN_COLLECTIONS.includes(name) || (name === SUPERUSERS && superusers)),
    )
    const unknown = skip.filter((one) => !all.some(({ name }) => name === one))
    if (unknown.length > 0) throw new FailedError(`--skip: there is no collection ${unknown.join(', ')}.`)
    const there = await target.collections()
    const replaced = await replacedUsers(definitions, there, target)
    const others = there.filter((one) => one !== replaced)
    const conflicts = definitions.flatMap((definition) => conflictsOf(definition, others))
    if (conflicts.length > 0) return { definitions, obstacles: conflicts }
    if (replaced !== undefined) await scratch.remove(replaced.id)
    const judge = replaced === undefined ? target : scratch
    const problems = await judge.check(definitions.map((definition) => aligned(definition, others)))
    return { definitions, obstacles: problems.map(({ name, message }) => ({ name, text: `${name}: ${message}` })) }
  }

  async #define(target: ImportTarget, definitions: readonly SourceDefinition[]): Promise<void> {
    const there = await target.collections()
    const replaced = await replacedUsers(definitions, there, target)
    if (replaced !== undefined) await target.remove(replaced.id)
    const left = there.filter((one) => one !== replaced)
    if (definitions.length > 0) await target.define(definitions.map((definition) => aligned(definition, left)))
  }

  async #moveRecords(definitions: readonly SourceDefinition[], target: ImportTarget): Promise<void> {
    const accounts = new Set(definitions.flatMap(({ id, type }) => (type === 'auth' ? [id] : [])))
    for (const definition of definitions)
      if (definition.type !== 'view') await this.#moveCollection(definition.name, definition, target)
    for (const name of ABOUT_ACCOUNTS)
      await this.#moveCollection(name, undefined, target, ({ collectionRef }) => accounts.has(String(collectionRef)))
  }

  async #moveCollection(
    name: string,
    definition: SourceDefinition | undefined,
    target: ImportTarget,
    isWanted: (row: ImportedRow) => boolean = () => true,
  ): Promise<void> {
    const records = await countOf(this.#source, name)
    const tally: Tally = { name, records, created: 0, changed: 0, same: 0, files: 0 }
    this.#tallies.push(tally)
    const progress = startProgress(this.#terminal, name, 'records')
    const fields =
      definition?.fields.flatMap((field) => (holdsOf(field['type']) === 'files' ? [String(field['name'])] : [])) ?? []
    let done = 0
    try {
      for await (const page of this.#source.pages(name)) {
        this.#terminal.signal.throwIfAborted()
        await this.#movePage(page.filter(isWanted), { tally, fields, id: definition?.id ?? name }, target)
        done += page.length
        progress.update(done, Math.max(done, records))
      }
    } finally {
      progress.stop()
    }
  }

  /** In the order of the rows, which is the order of lists without a sort. */
  async #movePage(
    rows: readonly ImportedRow[],
    about: { readonly tally: Tally; readonly fields: readonly string[]; readonly id: string },
    target: ImportTarget,
  ): Promise<void> {
    const { tally, fields, id: collection } = about
    const withFiles = rows.filter((row) => fields.some((field) => row[field] !== '' && row[field] !== '[]'))
    const lacking = withFiles.length === 0 ? {} : await target.lacking(collection, withFiles)
    let waiting: ImportedRow[] = []
    const flush = async (): Promise<void> => {
      if (waiting.length > 0) await this.#write(tally, collection, waiting, [], target)
      waiting = []
    }
    for (const row of rows) {
      const names = lacking[String(row['id'])]
      if (names === undefined) {
        waiting.push(row)
        continue
      }
      await flush()
      await this.#moveWithFiles(row, names, about, target)
    }
    await flush()
  }

  async #moveWithFiles(
    row: ImportedRow,
    names: readonly string[],
    { tally, id: collection }: { readonly tally: Tally; readonly id: string },
    target: ImportTarget,
  ): Promise<void> {
    const files: SourceFile[] = []
    if (this.#options.isDry) tally.files += names.length
    try {
      for (const name of this.#options.isDry ? [] : names) {
        this.#terminal.signal.throwIfAborted()
        const file = await this.#source.file(collection, String(row['id']), name)
        if (file !== undefined) files.push(file)
        else this.#warn(`${tally.name}/${String(row['id'])}: the file ${name} is not there.`)
      }
      await this.#write(tally, collection, [row], files, target)
      tally.files += files.length
    } finally {
      for (const file of files) await file.dispose()
    }
  }

  async #write(
    tally: Tally,
    collection: string,
    rows: readonly ImportedRow[],
    files: readonly SourceFile[],
    target: ImportTarget,
  ): Promise<void> {
    this.#terminal.signal.throwIfAborted()
    const { created, changed, same, refused, unfit } = await target.write(collection, rows, files)
    tally.created += created
    tally.changed += changed
    tally.same += same
    this.#refused += refused.length
    for (const { id, message } of refused) this.#warn(`${tally.name}/${id}: ${message}`)
    for (const { id, fields } of unfit)
      this.#warn(`${tally.name}/${id}: its field ${fields.join(', ')} would not take the value of today; it is kept.`)
  }

  /** Files and backups stay in their places, which both would use otherwise. */
  async #moveSettings(target: ImportTarget): Promise<void> {
    const settings = await settingsOf(this.#source)
    if (settings === undefined) {
      this.#warn('The settings are encrypted, so they do not come. Set them again.')
      return
    }
    const { s3, backups, ...others } = settings
    const { s3: backupPlace, ...ownBackups } = (backups ?? {}) as JsonObject
    const isElsewhere = [s3, backupPlace].some((place) => (place as JsonObject | undefined)?.['enabled'] === true)
    if (isElsewhere) this.#warn('The settings of S3 do not come: both servers would write into one bucket.')
    await target.changeSettings({ ...others, backups: ownBackups })
  }

  async #sayDangling(definitions: readonly SourceDefinition[]): Promise<void> {
    const names = new Map(definitions.map(({ id, name }) => [id, name]))
    for (const { name, type, fields } of definitions)
      for (const field of type === 'view' ? [] : fields) {
        const related = holdsOf(field['type']) === 'records' ? names.get(String(field['collectionId'])) : undefined
        if (related === undefined) continue
        const count = await danglingOf(this.#source, name, String(field['name']), related)
        if (count > 0)
          this.#warn(`${name}.${String(field['name'])}: ${counted(count, 'record')} name a record that is not there.`)
      }
  }

  #report(head: readonly string[]): void {
    const rows = this.#tallies.map(({ name, records, created, changed, same, files }) =>
      [name, ...[records, created, changed, same, files].map((count) => count.toLocaleString('en'))].filter(
        (_, column) => head[column] !== '',
      ),
    )
    printLine(
      this.#terminal.stdout,
      formatTable(
        head.filter((title) => title !== ''),
        rows,
      ),
    )
    if (this.#shown > SHOWN) printLine(this.#terminal.stderr, `… and ${this.#shown - SHOWN} more`)
  }

  #warn(text: string): void {
    this.#shown++
    if (this.#shown <= SHOWN) printLine(this.#terminal.stderr, text)
  }
}

/** The collection `users` that a new target begins with, if the source has another one. */
async function replacedUsers(
  definitions: readonly SourceDefinition[],
  there: readonly TargetCollection[],
  target: ImportTarget,
): Promise<TargetCollection | undefined> {
  const users = there.find(({ id }) => id === FIRST_USERS)
  const isNew = there.every((one) => one === users || OWN_COLLECTIONS.includes(one.name))
  const isThere = definitions.some(({ id, name }) => id === users?.id || name === users?.name)
  return users !== undefined && isNew && isThere && (await target.isEmpty(users.id)) ? users : undefined
}

/** A field that the target has under another id is that one. */
function aligned(definition: SourceDefinition, there: readonly TargetCollection[]): SourceDefinition {
  const old = there.find(({ id }) => id === definition.id)?.fields ?? []
  const fields = definition.fields.map((field) => {
    if (old.some(({ id }) => id === field['id'])) return field
    const same = old.find(({ name, type }) => name === field['name'] && type === field['type'])
    return same === undefined ? field : { ...field, id: same.id }
  })
  return { ...definition, fields }
}

function conflictsOf({ id, name, type }: SourceDefinition, there: readonly TargetCollection[]): readonly Obstacle[] {
  const same = there.find((one) => one.name.toLowerCase() === name.toLowerCase())
  const old = there.find((one) => one.id === id)
  const reason =
    same !== undefined && same.id !== id
      ? `the target has another collection of this name, with the id ${same.id}.`
      : old !== undefined && old.type !== type
        ? `it is of type ${type}, and ${old.name}, which has its id in the target, is of type ${old.type}.`
        : undefined
  return reason === undefined ? [] : [{ name, text: `${name}: ${reason}` }]
}

function notTaken(obstacles: readonly Obstacle[]): FailedError {
  const lines = [
    'Nothing was imported: these collections are not taken as they are.',
    ...obstacles.map(({ text }) => text),
  ]
  return new FailedError([...lines, 'Change them, or leave them where they are: --skip NAME,NAME.'].join('\n'))
}
