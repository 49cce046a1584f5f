/**
 * `npm start`: loads the cities of the world into a server's database file, or uses those of an earlier run. Then it
 * asks a few questions and starts the server. One page keeps a copy of the cities in the visitor's browser. Another one is of
 * an application with users, rules and relations.
 */
import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { intro, log, outro } from '@clack/prompts'
import { isPannierError, open } from 'pannier'
import type { Database } from 'pannier'
import type { PannierServer } from '@pannier/server'
import { writeAdminPage } from '../tools/web/admin-page.ts'
import { bundlePage } from './node/bundle.ts'
import { readAllCities, sourceName } from './node/all-cities.ts'
import { loadCities, readLoadRecord, unload } from './node/load.ts'
import type { LoadProgress } from './node/load.ts'
import { parseOptions, USAGE } from './node/options.ts'
import type { Options } from './node/options.ts'
import { progressBar } from './node/progress.ts'
import { printAnswers } from './node/report.ts'
import { serve } from './node/server.ts'
import { printWhatNext } from './node/what-next.ts'
import { COLLECTION, INDEXES } from './shared/city.ts'
import type { City } from './shared/city.ts'
import { formatCount, formatDuration } from './shared/format.ts'
import { countTasks, loadTasks, TASKS } from './tasks/load.ts'

const INDEX_PROGRESS_STEPS = 100
const INTERRUPTED_EXIT_CODE = 130
/** Ctrl+C arrives more than once where a parent process passes it on; only one that comes later means impatience. */
const IMPATIENT_MS_MIN = 1_000
const stop = new AbortController()
let stoppedAt = Infinity
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (performance.now() - stoppedAt > IMPATIENT_MS_MIN) process.exit(INTERRUPTED_EXIT_CODE)
    if (stop.signal.aborted) return
    stoppedAt = performance.now()
    stop.abort(new Error('stopped'))
  })
}

await main()

async function main(): Promise<void> {
  let options: Options
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  if (options.help) return console.log(USAGE)
  intro('Pannier: the cities of the world, in a server and in your browser')
  try {
    await run(options)
  } catch (error) {
    if (stop.signal.aborted) outro('Stopped.')
    else log.error(explain(error, options))
    process.exitCode = stop.signal.aborted ? INTERRUPTED_EXIT_CODE : 1
  }
}

async function run(options: Options): Promise<void> {
  if (options.servers !== undefined) return runSeveral(options, options.servers)
  const db = await openCities(options)
  try {
    const cities = db.collection<City>(COLLECTION, { indexes: INDEXES })
    const documents = await cities.find().count()
    await printAnswers(cities, documents)
    if (!options.serve) return outro('Done.')
    const prepare = (made: PannierServer): Promise<void> => completeTasks(made, options)
    const [assets] = await Promise.all([bundlePage(), writeAdminPage()])
    const server = await serve({ database: db, assets, port: options.port, superuser: options.superuser, prepare })
    printWhatNext(server)
    outro('Ctrl+C stops the server.')
    await aborted(stop.signal)
    await server.close()
  } finally {
    await db.close()
  }
  if (options.serve) console.log('\nStopped; the database is closed.')
}

/** Ends at once when it is stopped: what the servers have is temporary. */
async function runSeveral(options: Options, count: number): Promise<void> {
  // Here, as it takes the signals of the process for itself.
  const { DATABASE, serveSeveral } = await import('./node/servers.ts')
  await writeAdminPage()
  const servers = await serveSeveral({
    count,
    port: options.port,
    superuser: options.superuser,
    prepare: async (server, storage) => {
      await using db = await open(DATABASE, { storage })
      await load(db, options.limit, 'PostgreSQL')
      await completeTasks(server, options)
    },
  })
  printWhatNext(servers)
  const kills = servers.processes.map((id) => `kill -9 ${id}`).join(', ')
  log.step(`There are ${count} servers. The pages stay in sync while one is killed: ${kills}`)
  outro('Ctrl+C stops them all, and deletes what they have stored.')
  await aborted(stop.signal)
}

/** The database with all its cities, whether they were there or have to be loaded. */
async function openCities(options: Options): Promise<Database> {
  await mkdir(options.folder, { recursive: true })
  const path = databasePath(options)
  const started = performance.now()
  const db = await open(path)
  try {
    await completeCities(db, options, started)
  } catch (error) {
    await db.close()
    throw error
  }
  return db
}

async function completeCities(db: Database, { folder, limit }: Options, started: number): Promise<void> {
  const record = await readLoadRecord(db)
  const openMs = performance.now() - started
  const file = relative(process.cwd(), databasePath({ folder }))
  if (record?.complete && record.source === sourceName(limit)) {
    const cities = formatCount(await db.collection<City>(COLLECTION).find().count())
    return log.success(
      `${file} opened in ${formatDuration(openMs)}: ${cities} cities are there from an earlier run.\n` +
        `(Loading them took ${formatDuration(record.insertMs)}, indexing ${formatDuration(record.indexMs)}.)`,
    )
  }
  if (record !== undefined && record.source !== sourceName(limit)) {
    log.warn(`${file} holds another selection (${record.source}); the cities are loaded again.`)
    await unload(db)
  } else if (record !== undefined) {
    log.info(`${file} was left half loaded; going on with it.`)
  }
  await load(db, limit, file)
}

async function load(db: Database, limit: number | undefined, file: string): Promise<void> {
  const source = readAllCities(limit)
  const interrupted = 'Interrupted. The next npm start goes on from here.'
  const describe = {
    insert: (done: number) => `Inserting ${formatCount(done)} of ${formatCount(source.documents)} cities`,
    index: () => `Building ${INDEXES.length} indexes`,
  }
  let phase: LoadProgress['phase'] = 'insert'
  let bar = progressBar(source.documents, describe.insert(0), interrupted)
  let started = performance.now()
  const finish = (line: string): void => bar.finish(`${line} in ${formatDuration(performance.now() - started)}`)
  try {
    await loadCities(db, source, {
      signal: stop.signal,
      onProgress(progress) {
        if (progress.phase !== phase) {
          finish(`${formatCount(source.documents)} cities in ${file}`)
          phase = progress.phase
          bar = progressBar(INDEX_PROGRESS_STEPS, describe.index(), interrupted)
          started = performance.now()
        }
        const done = phase === 'insert' ? progress.done : Math.floor(progress.done * INDEX_PROGRESS_STEPS)
        bar.update(done, describe[phase](progress.done))
      },
    })
    finish(`${INDEXES.length} indexes built on them`)
  } catch (error) {
    bar.fail(stop.signal.aborted ? interrupted : 'Loading failed.')
    throw error
  }
}

/** The tasks, whether they were there or have to be made. */
async function completeTasks(server: PannierServer, { limit = TASKS }: Options): Promise<void> {
  const count = Math.min(limit, TASKS)
  const before = (await countTasks(server)) ?? 0
  if (before >= count) return
  const describe = (done: number): string => `Making ${formatCount(done)} of ${formatCount(count)} tasks of 20 teams`
  const interrupted = 'Interrupted. The next npm start goes on from here.'
  const bar = progressBar(count, describe(before), interrupted)
  const started = performance.now()
  try {
    await loadTasks(server, { count, signal: stop.signal, onProgress: (done) => bar.update(done, describe(done)) })
    bar.finish(`${formatCount(count)} tasks of 20 teams in ${formatDuration(performance.now() - started)}`)
  } catch (error) {
    bar.fail(stop.signal.aborted ? interrupted : 'Making the tasks failed.')
    throw error
  }
}

/** The same place as that of `pannier serve`. */
function databasePath({ folder }: Pick<Options, 'folder'>): string {
  return join(folder, 'pannier.sqlite')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Says what went wrong and what to do about it. */
function explain(error: unknown, options: Options): string {
  const path = databasePath(options)
  if (isPannierError(error)) {
    switch (error.code) {
      case 'PANNIER_LOCKED':
        return `${path} is in use by another process, most likely another npm start, or pannier serve.\nStop that one, or use another folder: npm start -- --data DIR`
      case 'PANNIER_CORRUPT':
      case 'PANNIER_FORMAT_WRONG':
      case 'PANNIER_FORMAT_NEWER':
        return `${path} can't be read (${error.message}).\nDelete it to load the cities again.`
      case 'PANNIER_QUOTA_EXCEEDED':
        return `There is no room left for ${path}.`
    }
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
