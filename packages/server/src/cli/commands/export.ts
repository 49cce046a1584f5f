import { Readable } from 'node:stream'
import { Option, type Command } from 'commander'
import type { ExportFormat, ExportOptions } from 'pannier/types'
import { appCollectionIn, storedName } from '../app-collections.ts'
import { exportRecords } from '../app-records.ts'
import { DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
import { writeOutput } from '../file-output.ts'
import { parseSelector } from '../option-uses.ts'
import { startProgress } from '../progress.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface ExportArguments {
  readonly format: ExportFormat
  readonly output?: string
  readonly selector?: Record<string, unknown>
  readonly attachments: boolean
}

export function addExport(program: Command, terminal: Terminal): void {
  program
    .command('export')
    .summary('write the documents of a collection')
    .description(
      'Writes the documents of a collection, as they are at one moment, to the standard output or to a file. A collection of an ' +
        'application has records, which are written without passwords.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .argument('<collection>', 'name of the collection')
    .addOption(
      new Option('--format <format>', 'a document a line; an array; as _all_docs; as a body for _bulk_docs')
        .choices(['ndjson', 'json', 'couchdb', 'couchdb-bulk'])
        .default('ndjson'),
    )
    .option('--output <file>', 'a file instead of the standard output')
    .option('--selector <json>', 'only documents that match, as {"age": {"$gte": 18}}', parseSelector)
    .option('--attachments', 'with the data of attachments, in base64', false)
    .action((database: string, name: string, { output, ...options }: ExportArguments) =>
      withDatabase(database, terminal, async (db) => {
        const definition = await appCollectionIn(db, name)
        const collection = db.collection(await storedName(db, name))
        const { documents: total } = await collection.info()
        const progress = startProgress(terminal, `Exporting ${name}`, 'documents')
        const { signal } = terminal
        const onProgress = (done: number): void => progress.update(done, total)
        const exported: ExportOptions<Record<string, unknown>> = { ...options, signal, onProgress }
        try {
          const content =
            definition === undefined
              ? collection.export(exported)
              : (Readable.toWeb(Readable.from(exportRecords(db, definition, options))) as ReadableStream<Uint8Array>)
          const bytes = await writeOutput(content, output, terminal)
          progress.stop()
          if (output !== undefined && output !== '-') printLine(terminal.stderr, `${bytes} bytes written to ${output}.`)
        } finally {
          progress.stop()
        }
      }),
    )
}
