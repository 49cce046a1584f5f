import { existsSync, openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { Option, type Command } from 'commander'
import type { Collection, ImportResult } from 'pannier'
import type { ByteSource, ImportFormat, ImportMode } from 'pannier/types'
import { appCollectionIn } from '../app-collections.ts'
import { importRecords } from '../app-records.ts'
import { DATABASE_ARGUMENT, withNewDatabase } from '../database-path.ts'
import { readBy, type Use } from '../option-uses.ts'
import { FailedError, UsageError } from '../outcome.ts'
import {
  addPocketBaseOptions,
  importFromPocketBase,
  isFromPocketBase,
  type PocketBaseArguments,
} from '../from-pocketbase/command.ts'
import { startProgress } from '../progress.ts'
import { counted, printLine, type Terminal } from '../terminal.ts'

interface ImportArguments extends Partial<PocketBaseArguments> {
  readonly format?: ImportFormat
  readonly mode: ImportMode
  readonly stubs: 'fail' | 'drop'
}

export function addImport(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .summary('read documents into a collection, or all that a PocketBase has')
    .description(
      'Reads documents from a file into a collection, which is made if it is not there. A collection of an application takes records, ' +
        'with the checks of its fields: all of them, or none. With --from-pocketbase it moves ' +
        'all that a PocketBase has: collections, records, files, accounts with their passwords.',
    )
    .argument('[database]', DATABASE_ARGUMENT)
    .argument('[collection]', 'name of the collection')
    .argument('[file]', 'what to read; - is the standard input', '-')
    .addOption(
      new Option('--format <format>', 'found out when left out; couchdb: what _all_docs or _bulk_docs have').choices([
        'ndjson',
        'json',
        'couchdb',
      ]),
    )
    .addOption(
      new Option('--mode <mode>', 'what to do about ids that are taken; replicate: take up revisions as they are')
        .choices(['insert', 'upsert', 'replicate'])
        .default('insert'),
    )
    .addOption(
      new Option('--stubs <way>', 'attachments that are named without their data')
        .choices(['fail', 'drop'])
        .default('fail'),
    )
  addPocketBaseOptions(command).action(
    async (database: string | undefined, collection: string | undefined, file: string, given: ImportArguments) => {
      if (isFromPocketBase(given)) {
        if (database !== undefined) throw new UsageError('With --from-pocketbase, --dir or --url says where it goes.')
        return importFromPocketBase(given, terminal)
      }
      if (database === undefined || collection === undefined) throw new UsageError('Name a database and a collection.')
      const source = await sourceOf(file, terminal)
      await withNewDatabase(database, terminal, async (db) => {
        const definition = await appCollectionIn(db, collection)
        if (definition === undefined) return importDocuments(db.collection(collection), source, given, terminal)
        if (command.getOptionValueSource('stubs') === 'cli')
          throw new UsageError(`--stubs is about documents, and ${collection} has records.`)
        const count = await importRecords(db, definition, { source, mode: given.mode, format: given.format })
        printLine(terminal.stderr, `${counted(count, 'record')} imported.`)
      })
    },
  )
  readBy<ImportArguments>(command, USES)
}

const FROM_POCKETBASE: Use<ImportArguments> = { is: isFromPocketBase, words: 'with --from-pocketbase or --data' }
const FROM_FILE: Use<ImportArguments> = {
  is: (given) => !isFromPocketBase(given),
  words: 'without --from-pocketbase, for a file with documents',
}

/** Uses of arguments: each option has a line. */
const USES: { readonly [Name in keyof Required<ImportArguments>]: Use<ImportArguments> | undefined } = {
  format: FROM_FILE,
  mode: FROM_FILE,
  stubs: FROM_FILE,
  dir: FROM_POCKETBASE,
  url: FROM_POCKETBASE,
  fromPocketbase: undefined,
  data: undefined,
  dryRun: FROM_POCKETBASE,
  skip: FROM_POCKETBASE,
  superusers: FROM_POCKETBASE,
  settings: FROM_POCKETBASE,
}

async function importDocuments(
  collection: Collection<Record<string, unknown>>,
  source: ByteSource,
  { format, mode, stubs }: ImportArguments,
  terminal: Terminal,
): Promise<void> {
  const progress = startProgress(terminal, `Importing into ${collection.name}`, 'bytes')
  try {
    const result = await collection.import(source, {
      mode,
      stubs,
      ...(format !== undefined && { format }),
      signal: terminal.signal,
      onProgress: ({ bytes, bytesTotal }) => progress.update(bytes, bytesTotal),
    })
    progress.stop()
    report(result, terminal)
  } finally {
    progress.stop()
  }
}

async function sourceOf(file: string, { stdin }: Terminal): Promise<ByteSource> {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no file ${file}.`)
  if (file === '-') return Readable.toWeb(stdin) as ReadableStream<Uint8Array>
  try {
    return await openAsBlob(file)
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as Error).message}`)
  }
}

function report({ imported, skipped, failedCount, failed }: ImportResult, { stderr }: Terminal): void {
  const deleted = skipped > 0 ? ` (${skipped} deleted ones were left out; --mode replicate takes them)` : ''
  printLine(stderr, `${counted(imported, 'document')} imported${deleted}.`)
  if (failedCount === 0) return
  for (const { line, id, error } of failed)
    printLine(stderr, `line ${line}${id === undefined ? '' : `, ${id}`}: ${error.message}`)
  if (failedCount > failed.length) printLine(stderr, `… and ${failedCount - failed.length} more`)
  throw new FailedError(`${counted(failedCount, 'document')} could not be imported.`)
}
