import { InvalidArgumentError, type Command } from 'commander'
import { open } from 'pannier'
import type { Database, Replication, ReplicationOptions, ReplicationResult } from 'pannier'
import type { ReplicationSide } from 'pannier/types'
import { memory } from 'pannier/memory'
import { existsSync } from 'node:fs'
import { appCollectionIn } from '../app-collections.ts'
import { databasePath, openFile } from '../database-path.ts'
import { parseSelector, readBy } from '../option-uses.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { counted, printLine, type Terminal } from '../terminal.ts'

interface ReplicateArguments {
  readonly live: boolean
  readonly create: boolean
  readonly filter?: string
  readonly param?: Record<string, string>
  readonly selector?: Record<string, unknown>
  readonly ids?: readonly string[]
}

const PLACE = 'the URL of a database, or FILE#COLLECTION (also with the folder of a server as FILE)'

export function addReplicate(program: Command, terminal: Terminal): void {
  const command = program
    .command('replicate')
    .summary('bring what a database has to another one')
    .description(
      'Brings all revisions that the source has and the target lacks to the target. It goes on where it was the last time. Credentials can ' +
        'stand in a URL; in PANNIER_SOURCE_AUTH and PANNIER_TARGET_AUTH, as name:password, nobody sees them in the list of processes.',
    )
    .argument('<source>', PLACE)
    .argument('<target>', PLACE)
    .option(
      '--live',
      'goes on with changes as they are made, until Ctrl-C; tries again when the other side is away',
      false,
    )
    .option('--no-create', 'a target that is not there is an error')
    .option('--filter <name>', 'only documents that pass a filter of the source: design/filter')
    .option('--param <name=value>', 'what the filter is told; may be given several times', addParameter)
    .option('--selector <json>', 'only documents that match, as {"age": {"$gte": 18}}', parseSelector)
    .option('--ids <ids>', 'only these documents: a,b,c', (text) => text.split(','))
    .action((source: string, target: string, options: ReplicateArguments) => run(source, target, options, terminal))
  readBy<ReplicateArguments>(command, { param: { is: ({ filter }) => filter !== undefined, words: 'with --filter' } })
}

async function run(source: string, target: string, options: ReplicateArguments, terminal: Terminal): Promise<void> {
  const opened = new Map<string, Database>()
  const made: Database[] = []
  const runner = await open('replicate', { storage: memory(), environment: terminal.environment })
  try {
    const from = await sideOf(source, process.env['PANNIER_SOURCE_AUTH'], false, opened, made, terminal)
    const to = await sideOf(target, process.env['PANNIER_TARGET_AUTH'], options.create, opened, made, terminal)
    const { live, create, filter, param: parameters, selector, ids } = options
    const wanted: ReplicationOptions = { live, create, filter, parameters, selector, ids }
    await follow(runner.replicate({ from, to, ...wanted }), terminal)
  } catch (error) {
    // A file that was made for what never came is of no use.
    for (const database of made) if (await isEmpty(database)) await database.destroy()
    throw error instanceof TypeError ? new UsageError(error.message) : error
  } finally {
    await Promise.all([runner, ...opened.values()].map((database) => database.close()))
  }
}

/** Follows the replication to its end; a live one ends with Ctrl-C. */
async function follow(replication: Replication, terminal: Terminal): Promise<void> {
  const progress = startProgress(terminal, 'Replicating', 'documents')
  const { signal, stderr } = terminal
  const cancel = (): void => replication.cancel()
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  const denied: string[] = []
  replication.subscribe((event) => {
    const { docsWritten, pending } = replication.progress
    progress.update(docsWritten, pending === undefined ? undefined : docsWritten + pending)
    if (event.type === 'denied' && denied.length < DENIED_TOLD_MAX) denied.push(`${event.id}: ${event.error.message}`)
    if (event.type === 'status' && event.status === 'backing-off')
      printLine(stderr, `${event.error?.message ?? 'The other side is away.'} Trying again.`)
  })
  let result: ReplicationResult
  try {
    result = await replication
  } finally {
    signal.removeEventListener('abort', cancel)
    progress.stop()
  }
  printLine(stderr, `${counted(result.docsWritten, 'revision')} written, ${result.docsRead} read.`)
  for (const line of denied) printLine(stderr, line)
  if (result.docsDenied > 0) throw new FailedError(`${counted(result.docsDenied, 'revision')} refused.`)
  // Finished work stays; the next run continues from there.
  if (signal.aborted) throw signal.reason
}

async function isEmpty(database: Database): Promise<boolean> {
  const names = await database.collections()
  const infos = await Promise.all(names.map((name) => database.collection(name).info()))
  return infos.every(({ documents, deleted }) => documents + deleted === 0)
}

const DENIED_TOLD_MAX = 20

async function sideOf(
  place: string,
  auth: string | undefined,
  mayMake: boolean,
  opened: Map<string, Database>,
  made: Database[],
  terminal: Terminal,
): Promise<ReplicationSide> {
  if (/^https?:\/\//i.test(place)) {
    if (!URL.canParse(place)) throw new UsageError('One of the URLs is malformed.')
    if (auth === undefined) return place
    const [username = '', ...password] = auth.split(':')
    return { url: place, auth: { username, password: password.join(':') } }
  }
  const at = place.lastIndexOf('#')
  if (at < 1 || at === place.length - 1)
    throw new UsageError(`'${place}' is neither the URL of a database nor FILE#COLLECTION.`)
  const file = databasePath(place.slice(0, at))
  const name = place.slice(at + 1)
  const isThere = existsSync(file)
  if (!mayMake && !isThere) throw new UsageError(`There is no database at ${file}.`)
  const database = opened.get(file) ?? (await openFile(file, terminal))
  if (!isThere && !opened.has(file)) made.push(database)
  opened.set(file, database)
  if ((await appCollectionIn(database, name)) !== undefined)
    throw new UsageError(
      `${name} is a collection of an application, whose fields and rules a file does not ask. Start the server, and name its URL.`,
    )
  if (!mayMake && !(await database.collections()).includes(name))
    throw new UsageError(`There is no collection ${name}.`)
  return database.collection(name)
}

function addParameter(text: string, known: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('it has the form name=value')
  return { ...known, [text.slice(0, at)]: text.slice(at + 1) }
}
