/** Backups: all databases of a server in one file, made while it runs, kept in a folder or a bucket, and restored. */
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Environment } from 'pannier/types'
import type { FileTokens } from '../accounts/file-tokens.ts'
import { dateText } from '../fields/date-text.ts'
import { BLANK, fieldError, NO_MATCH, outsideLength } from '../fields/field-errors.ts'
import { snakeCase } from '../fields/new-file.ts'
import type { ByteRange, FileHead, FileInfo, FilePlace } from '../files/file-place.ts'
import { S3Place } from '../files/s3-place.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import type { Principal } from '../gateway/principal.ts'
import {
  checkAdmin,
  type FieldError,
  forbidden,
  invalid,
  invalidForm,
  missing,
  ServiceError,
} from '../gateway/service-error.ts'
import type { UploadedFile } from '../records/record-types.ts'
import type { Schedules } from '../schedules/schedules.ts'
import type { Settings } from '../settings/settings.ts'
import { archiveOf, type Databases } from './archive.ts'
import { BackupFolder, isBackupName, newestFirst, ZIP_TYPE } from './backup-folder.ts'
import { RestoreFolder, type RestoreOptions } from './restore.ts'

/** The host of backups: where a server has its databases. */
export interface BackupHost extends Pick<RestoreOptions, 'encryption' | 'settingsKey'> {
  /** The folder of the server's files. Backups are in a bucket only when it is left out. */
  readonly dir?: string
  /** Closes the server and starts it again in the same folder. Only a command restores when it is left out. */
  readonly restart?: () => void
}

/** A backup as it is listed. */
export interface BackupInfo {
  /** When it was modified: `2026-11-22 15:04:49.813Z` */
  readonly modified: string
  /** The name of its file. */
  readonly key: string
  /** The size in bytes. */
  readonly size: number
}

/** A backup that is read. */
interface BackupDownload extends FileHead {
  /** All bytes, or those of a range. @throws ServiceError NOT_FOUND if it was deleted meanwhile */
  stream(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

interface BackupsOptions {
  readonly fileTokens: FileTokens
  readonly databases: Databases
  readonly settings: Settings
  readonly schedules: Schedules
  readonly logs: LogWriter
  readonly environment: Environment
  readonly host: BackupHost | undefined
}

const FOLDER = 'backups'
const SCHEDULE = '__pbAutoBackup__'
const PREFIX = 'pb_backup_'
const AUTO_PREFIX = '@auto_pb_backup_'
const APP_NAME_CHARS_MAX = 50
const NAME = /^[a-z0-9_-]+\.zip$/
const NAME_CHARS_MAX = 150
/** A zip file begins so, an empty one too. */
const ZIP_BEGINNINGS: readonly string[] = ['504b0304', '504b0506']
const NOT_MADE = 'Failed to create backup.'
const NOT_UPLOADED = 'Failed to upload backup.'
const NOT_DELETED = 'Invalid or already deleted backup file.'
const NOT_REACHED = 'Failed to load backups filesystem.'
const NOT_RESTORED = 'Missing or invalid backup file.'
const BUSY = 'Try again later - another backup/restore process has already been started.'

/** The backups of a server. */
export class Backups {
  /** Is called when a scheduled backup could not be made. */
  onFailure: (error: string) => Promise<void> = async () => {}
  readonly #options: BackupsOptions
  readonly #folder: BackupFolder | undefined
  readonly #stopListening: () => void
  /** The backup that is made or restored; '' is one that has no name yet. */
  #active: string | undefined
  #running: Promise<unknown> = Promise.resolve()
  readonly #ending = new AbortController()
  #cron = ''
  /** @internal Runs hooks. */
  around: (event: 'onBackupCreate' | 'onBackupRestore', name: string, run: () => Promise<void>) => Promise<void> = (
    _event,
    _name,
    run,
  ) => run()

  /** Opens the place of the backups. */
  static async open(options: BackupsOptions): Promise<Backups> {
    const backups = new Backups(options)
    const { dir } = options.host ?? {}
    if (dir !== undefined) {
      await backups.#folder!.clean()
      await new RestoreFolder(dir).clean()
    }
    backups.#schedule()
    return backups
  }

  private constructor(options: BackupsOptions) {
    this.#options = options
    const { environment, host, settings } = options
    this.#folder = host?.dir === undefined ? undefined : new BackupFolder(join(host.dir, FOLDER), environment)
    this.#stopListening = settings.subscribe(() => this.#schedule())
  }

  /** Whether a backup can be made now. */
  get canBackUp(): boolean {
    return this.#options.host !== undefined && this.#active === undefined
  }

  /** @throws ServiceError FORBIDDEN, INVALID if the place can't be reached */
  async list(principal: Principal): Promise<BackupInfo[]> {
    checkAdmin(principal)
    const place = this.#place()
    return reaching('Failed to retrieve backup items.', async () => {
      const found: BackupInfo[] = []
      for await (const info of place.list('')) found.push(infoOf(info))
      return found
    })
  }

  /** A name is made when `name` is empty. @throws ServiceError FORBIDDEN, INVALID with data */
  async create(principal: Principal, name: string): Promise<void> {
    checkAdmin(principal)
    const place = this.#place()
    await this.#exclusively(name, async () => {
      const wrong = name === '' ? undefined : await reaching(NOT_MADE, () => nameError(place, name))
      if (wrong !== undefined) throw invalidForm('name', wrong)
      await this.#make(place, name === '' ? this.#newName(PREFIX) : name)
    })
  }

  /** Stores an uploaded file, whose content is only checked when it is restored. @throws ServiceError FORBIDDEN, INVALID with data */
  async upload(principal: Principal, file: UploadedFile | undefined): Promise<void> {
    checkAdmin(principal)
    const place = this.#place()
    if (file === undefined) throw invalidForm('file', BLANK)
    const name = basename(file.name)
    if (!(await isZip(file))) {
      const message = `"${name}" mime type must be one of: ${ZIP_TYPE}.`
      throw invalidForm('file', fieldError('validation_invalid_mime_type', message))
    }
    if (!isBackupName(name)) throw invalid(NOT_UPLOADED)
    if ((await reaching(NOT_UPLOADED, () => place.head(name))) !== undefined)
      throw invalidForm('file', existing('Backup file with the specified name already exists.'))
    await reaching(NOT_UPLOADED, () => place.put(name, file.stream(), ZIP_TYPE))
  }

  /** For whom a superuser's file token was made. @throws ServiceError FORBIDDEN, NOT_FOUND */
  async download(token: string, address: string | undefined, key: string): Promise<BackupDownload> {
    const principal = await this.#options.fileTokens.principalOf(token, address)
    if (principal?.isAdmin !== true) throw forbidden('Insufficient permissions to access the resource.')
    const place = this.#place()
    const head = await reaching(NOT_REACHED, () => place.head(key))
    if (head === undefined) throw missing('')
    return {
      ...head,
      stream: async (range) => {
        const content = await place.get(key, range)
        if (content === undefined) throw missing('')
        return content
      },
    }
  }

  /** @throws ServiceError FORBIDDEN, INVALID */
  async delete(principal: Principal, key: string): Promise<void> {
    checkAdmin(principal)
    const place = this.#place()
    if (key === this.#active) throw invalid('The backup is currently being used and cannot be deleted.')
    await reaching(NOT_DELETED, async () => {
      if ((await place.head(key)) === undefined) throw new Error(`There is no backup ${JSON.stringify(key)}.`)
      await place.delete(key)
    })
  }

  /**
   * Checks a backup, makes the files of it, and starts the server again with them. All that was written after the backup is gone
   * then.
   *
   * @throws ServiceError FORBIDDEN, INVALID; nothing has changed then
   */
  async restore(principal: Principal, key: string): Promise<void> {
    checkAdmin(principal)
    const place = this.#place()
    const { dir, restart, ...options } = this.#options.host!
    if (restart === undefined || dir === undefined)
      throw invalid(
        'This server can not start itself again. Stop it, and restore by the command `pannier backup restore`.',
      )
    await this.#exclusively(key, async () => {
      const folder = new RestoreFolder(dir)
      if (await folder.isReady()) throw invalid(BUSY)
      if ((await reaching(NOT_RESTORED, () => place.head(key))) === undefined) throw invalid(NOT_RESTORED)
      await this.#hooked('onBackupRestore', key, async () => {
        const isHere = place === this.#folder
        const path = isHere ? this.#folder!.pathOf(key) : await reaching(NOT_RESTORED, () => this.#fetched(place, key))
        try {
          await folder.prepare(path, { ...options, signal: this.#ending.signal })
        } finally {
          if (!isHere) await rm(path, { force: true })
        }
      })
    })
    this.#options.logs.write({
      level: LOG_LEVELS.warn,
      message: `The backup ${key} is restored. The server starts again.`,
    })
    restart()
  }

  /** Ends the backup that is made or restored, and begins no other one. The request for it gets an answer. */
  end(): void {
    this.#ending.abort()
  }

  /** Waits for the backup that has ended. */
  async close(): Promise<void> {
    this.end()
    this.#stopListening()
    await this.#running
  }

  /** @throws ServiceError INVALID if backups have no place */
  #place(): FilePlace {
    const { environment, settings, host } = this.#options
    const { s3 } = settings.values.backups
    if (host !== undefined && s3.enabled) return new S3Place(s3, environment, this.#ending.signal)
    if (this.#folder === undefined)
      throw invalid(`${NOT_REACHED} The server has no folder of its own: set a bucket for backups in the settings.`)
    return this.#folder
  }

  /** Runs `run` if no other backup or restore runs. */
  async #exclusively(name: string, run: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending
    if (signal.aborted) throw closing()
    if (this.#active !== undefined) throw invalid(BUSY)
    this.#active = name
    const running = run().catch((error: unknown) => {
      throw signal.aborted ? closing(error) : error
    })
    this.#running = running.catch(() => {})
    try {
      await running
    } finally {
      this.#active = undefined
    }
  }

  async #hooked(event: Parameters<Backups['around']>[0], name: string, run: () => Promise<void>): Promise<void> {
    let hasRun = false
    await this.around(event, name, async () => {
      await run()
      hasRun = true
    })
    if (!hasRun) throw invalid(`A hook has stopped ${event} of ${name}: it has not called next().`)
  }

  #make(place: FilePlace, name: string): Promise<void> {
    const { databases, environment } = this.#options
    return this.#hooked('onBackupCreate', name, () => {
      const archive = archiveOf(databases, new Date(environment.wallClock()))
      return reaching(NOT_MADE, () => place.put(name, this.#untilEnd(archive), ZIP_TYPE))
    })
  }

  /** A copy on this machine, as an archive is read at its end first. */
  async #fetched(place: FilePlace, key: string): Promise<string> {
    const content = await place.get(key)
    if (content === undefined) throw invalid(NOT_RESTORED)
    return this.#folder!.keepUnfinished(this.#untilEnd(content))
  }

  async *#untilEnd(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of content) {
      this.#ending.signal.throwIfAborted()
      yield piece
    }
  }

  #newName(prefix: string): string {
    const { settings, environment } = this.#options
    const time = new Date(environment.wallClock()).toISOString().replaceAll(/[-:T]|\..*/g, '')
    return `${prefix}${snakeCase(settings.values.meta.appName).slice(0, APP_NAME_CHARS_MAX)}_${time}.zip`
  }

  /** Follows the settings. */
  #schedule(): void {
    const { settings, schedules, host } = this.#options
    const { cron } = settings.values.backups
    if (cron === this.#cron || host === undefined) return
    this.#cron = cron
    if (cron === '') schedules.remove(SCHEDULE)
    else schedules.add(SCHEDULE, cron, () => this.#makeScheduled())
  }

  /** Old ones are removed even if a new one can't be made. */
  async #makeScheduled(): Promise<void> {
    const name = this.#newName(AUTO_PREFIX)
    const place = this.#place()
    try {
      await this.#exclusively(name, () => this.#make(place, name))
    } catch (error) {
      const reason = errorText(error)
      const data = { name, error: reason }
      this.#options.logs.write({ level: LOG_LEVELS.error, message: 'A scheduled backup could not be made.', data })
      await this.onFailure(reason)
    }
    const { cronMaxKeep } = this.#options.settings.values.backups
    if (cronMaxKeep === 0) return
    const known: FileInfo[] = []
    for await (const info of place.list(AUTO_PREFIX)) known.push(info)
    for (const { key } of newestFirst(known, name, this.#options.environment.wallClock()).slice(cronMaxKeep))
      await place.delete(key)
  }
}

function closing(cause?: unknown): ServiceError {
  const message = 'The server is closing, and has ended the backup or restore. Ask again when it has started.'
  return new ServiceError('UNAVAILABLE', message, { cause })
}

function infoOf({ key, size, modifiedMs }: FileInfo): BackupInfo {
  return { modified: dateText(modifiedMs), key, size }
}

async function nameError(place: FilePlace, name: string): Promise<FieldError | undefined> {
  const wrong = outsideLength(name, 1, NAME_CHARS_MAX) ?? (NAME.test(name) ? undefined : NO_MATCH)
  if (wrong !== undefined) return wrong
  const isThere = (await place.head(name)) !== undefined
  return isThere ? existing('The backup file name is invalid or already exists.') : undefined
}

function existing(message: string): FieldError {
  return fieldError('validation_backup_name_exists', message)
}

/** Whether a file is a ZIP, by its first bytes. */
async function isZip(file: UploadedFile): Promise<boolean> {
  for await (const piece of file.stream())
    return ZIP_BEGINNINGS.includes(Buffer.from(piece.slice(0, 4)).toString('hex'))
  return false
}

/** Runs `run`, and reports errors of a storage or the disk with this message. */
async function reaching<T>(message: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('INVALID', `${message} Raw error: \n${errorText(error)}`, { cause: error })
  }
}
