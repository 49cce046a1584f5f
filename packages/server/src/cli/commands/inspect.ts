import { statSync } from 'node:fs'
import type { Command } from 'commander'
import type { CollectionInfo, Database, IndexInfo } from 'pannier'
import { appCollectionsIn } from '../app-collections.ts'
import { databasePath, DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
import { formatTable } from '../table.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface Inspection extends CollectionInfo {
  /** The name that its application has for it. */
  readonly application?: string
  readonly indexes: readonly IndexInfo[]
}

export function addInspect(program: Command, terminal: Terminal): void {
  program
    .command('inspect')
    .summary('tell what is in a database')
    .description('Tells the collections of a database, how many documents they hold, and their indexes.')
    .argument('<database>', DATABASE_ARGUMENT)
    .option('--json', 'for programs', false)
    .action((database: string, { json }: { readonly json: boolean }) =>
      withDatabase(database, terminal, async (db) => {
        const file = databasePath(database)
        const fileBytes = statSync(file).size
        const collections = await inspect(db)
        if (json) return printLine(terminal.stdout, JSON.stringify({ file, fileBytes, collections }, undefined, 2))
        printLine(terminal.stdout, `${file}: ${fileBytes.toLocaleString('en')} bytes\n`)
        printLine(terminal.stdout, describe(collections))
      }),
    )
}

async function inspect(db: Database): Promise<Inspection[]> {
  const found: Inspection[] = []
  const definitions = await appCollectionsIn(db)
  for (const name of await db.collections()) {
    const collection = db.collection(name)
    const application = definitions.get(name)?.name
    const more = { indexes: await collection.indexes(), ...(application !== undefined && { application }) }
    found.push({ ...(await collection.info()), ...more })
  }
  return found
}

function describe(collections: readonly Inspection[]): string {
  if (collections.length === 0) return 'It has no collections.'
  const count = (value: number | undefined): string => value?.toLocaleString('en') ?? ''
  return formatTable(
    ['collection', 'documents', 'deleted', 'last seq', 'indexes'],
    collections.map(({ name, application, documents, deleted, lastSeq, indexes }) => [
      application === undefined ? name : `${application} (of the application: ${name})`,
      count(documents),
      count(deleted),
      count(lastSeq),
      indexes.map((index) => (index.ready ? index.name : `${index.name} (unfinished)`)).join(', '),
    ]),
  )
}
