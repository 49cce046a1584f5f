/** `pannier import --from-pocketbase`: finds the PocketBase, and the server that takes its place. */
import { existsSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { openBackend } from '@pannier/backend'
import { makePrivateFolder } from '../../http/private-files.ts'
import { addWhere, type Where } from '../administer.ts'
import { readPassword } from '../ask-password.ts'
import { givenSettingsKey, withDatabase, withNewDatabase } from '../database-path.ts'
import { UsageError } from '../outcome.ts'
import { SuperuserApi } from '../superuser-api.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { FolderSource } from './folder-source.ts'
import { HttpSource } from './http-source.ts'
import { Move } from './move.ts'
import type { PocketBaseSource } from './source.ts'
import { BackendTarget, HttpTarget, type ImportTarget } from './target.ts'

export interface PocketBaseArguments extends Where {
  /** True: the folder is enough. */
  readonly fromPocketbase: URL | true
  readonly data: string
  readonly dryRun: boolean
  readonly skip: readonly string[]
  readonly superusers: boolean
  readonly settings: boolean
}

export function addPocketBaseOptions(command: Command): Command {
  return addWhere(command)
    .addOption(
      new Option(
        '--from-pocketbase [url]',
        'a PocketBase that runs, as http://root%40example.org:PASSWORD@localhost:8090',
      ).argParser(readUrl),
    )
    .option('--data <folder>', 'the folder pb_data of a PocketBase: its records and files, without the network')
    .option('--dry-run', 'say what would come, and what does not fit; write nothing')
    .option('--skip <names>', 'collections of the PocketBase that stay there, with commas between them', split, [])
    .option('--superusers', 'take over superusers too')
    .option('--no-settings', 'leave the settings as they are')
}

export function isFromPocketBase(given: Partial<PocketBaseArguments>): boolean {
  return given.fromPocketbase !== undefined || given.data !== undefined
}

export async function importFromPocketBase(given: Partial<PocketBaseArguments>, terminal: Terminal): Promise<void> {
  const { dryRun: isDry = false, skip = [], superusers = false, settings = true } = given
  const source = await sourceOf(given, terminal)
  const move = new Move(source, { isDry, skip, superusers, settings }, terminal)
  try {
    await withTarget(given, terminal, (target) =>
      inMemory((scratch) => (isDry ? move.rehearse(target, scratch) : move.run(target, scratch))),
    )
  } catch (error) {
    if (move.isHalf) printLine(terminal.stderr, 'What has come stays. Run the command again to continue.')
    throw error
  } finally {
    await source.close()
  }
}

async function sourceOf(
  { fromPocketbase, data }: Partial<PocketBaseArguments>,
  terminal: Terminal,
): Promise<PocketBaseSource> {
  const { environment } = terminal
  if (!(fromPocketbase instanceof URL)) {
    if (data === undefined) throw new UsageError('From where? Give the URL of a PocketBase, or --data with its folder.')
    return FolderSource.open(environment, data)
  }
  const label = `Password of ${decodeURIComponent(fromPocketbase.username)} at ${fromPocketbase.origin}`
  const url = new URL(fromPocketbase)
  if (url.password === '') url.password = encodeURIComponent(await readPassword(terminal, label))
  const server = await HttpSource.open(environment, new SuperuserApi(url, terminal.signal))
  try {
    return data === undefined ? server : FolderSource.open(environment, data, server)
  } catch (error) {
    await server.close()
    throw error
  }
}

async function withTarget(
  { dir, url, dryRun }: Partial<PocketBaseArguments>,
  terminal: Terminal,
  work: (target: ImportTarget) => Promise<void>,
): Promise<void> {
  if (url !== undefined) return work(new HttpTarget(new SuperuserApi(url, terminal.signal)))
  if (dir === undefined) throw new UsageError('Where to? Give --dir or --url.')
  if (!existsSync(dir)) {
    if (dryRun === true) return inMemory(work)
    await makePrivateFolder(dir)
  }
  const withIt = dryRun === true ? withDatabase : withNewDatabase
  return withIt(dir, terminal, (database) =>
    withBackend(database, (backend) => work(new BackendTarget(backend, database))),
  )
}

/** A backend that takes no records, and is gone afterwards. */
async function inMemory(work: (target: ImportTarget) => Promise<void>): Promise<void> {
  const database = await open('import', { storage: memory() })
  try {
    await withBackend(database, (backend) => work(new BackendTarget(backend, database, { isDry: true })))
  } finally {
    await database.close()
  }
}

async function withBackend(
  database: Database,
  work: (backend: Awaited<ReturnType<typeof openBackend>>) => Promise<void>,
): Promise<void> {
  const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
  try {
    await work(backend)
  } finally {
    await backend.close()
  }
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It is no http: or https: URL.')
  if (url.username === '')
    throw new InvalidArgumentError('It needs the e-mail address of a superuser: http://NAME:PASSWORD@HOST.')
  return url
}

function split(names: string): readonly string[] {
  return names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}
