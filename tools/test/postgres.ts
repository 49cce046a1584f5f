/** A PostgreSQL of its own for a test: Debian's package, in a folder of its own, on a free port. */
import { spawnSync, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort, spawnTracked } from '../processes.ts'

export const POSTGRES_NEEDED: string = 'PostgreSQL (apt-get install postgresql)'

const DEBIAN = '/usr/lib/postgresql'
const START_MS_MAX = 120_000
const READ_TRIES = 500
/** PostgreSQL does not run as root. */
const USER = 'postgres'

/** The folder of initdb and postgres; undefined where they can't be had. */
export function findPostgres(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined
  const versions = readdirSync(DEBIAN).filter((version) => existsSync(join(DEBIAN, version, 'bin', 'initdb')))
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0]
  return newest === undefined ? undefined : join(DEBIAN, newest, 'bin')
}

/** One server. It is stopped and its folder deleted at the end. */
export class PostgresServer implements AsyncDisposable {
  readonly port: number
  readonly folder: string
  readonly #bin: string
  #server: ChildProcess | undefined

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin
    this.folder = folder
    this.port = port
  }

  /** `settings`: lines of postgresql.conf. `place`: the folder that its own is made in. */
  static async start(settings: readonly string[] = [], place: string = tmpdir()): Promise<PostgresServer> {
    const bin = findPostgres()
    if (bin === undefined) throw new Error(`${POSTGRES_NEEDED} is missing.`)
    const folder = mkdtempSync(join(place, 'pannier-postgres-'))
    own(folder)
    const server = new PostgresServer(bin, folder, await freePort())
    server.run('initdb', ['-D', server.data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8'])
    const lines = ['fsync = off', `unix_socket_directories = '${folder}'`, 'max_connections = 200', ...settings]
    appendFileSync(join(server.data, 'postgresql.conf'), `\n${lines.join('\n')}\n`)
    await server.begin()
    return server
  }

  get isRunning(): boolean {
    return this.#server !== undefined && this.#server.exitCode === null && this.#server.signalCode === null
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  /** A new, empty database of PostgreSQL; gives its URL. */
  make(name: string): string {
    this.run('psql', [...this.#login('postgres'), '-qc', `create database ${name}`])
    return this.url(name)
  }

  url(database: string, port: number = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`
  }

  /** The answer of psql, without a header: columns by `|`, rows by line. */
  sql(database: string, text: string): string {
    return this.run('psql', [...this.#login(database), '-qAtc', text]).trim()
  }

  /** Puts a line before those of pg_hba.conf. It holds for connections that begin after this call. */
  allow(hba: string, line: string): void {
    writeFileSync(hba, `${line}\n${readFileSync(hba, 'utf8')}`)
    const readAt = (): string => this.sql('postgres', 'select pg_conf_load_time()')
    const before = readAt()
    this.sql('postgres', 'select pg_reload_conf()')
    for (let tries = 0; readAt() === before; tries++)
      if (tries === READ_TRIES) throw new Error('PostgreSQL does not read its settings again.')
  }

  /** A standby that follows this server. */
  async startStandby(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'pannier-postgres-'))
    own(folder)
    const standby = new PostgresServer(this.#bin, folder, await freePort())
    const place = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres']
    standby.run('pg_basebackup', [...place, '-D', standby.data, '-R', '--checkpoint=fast', '--wal-method=stream'])
    await standby.begin()
    return standby
  }

  async begin(): Promise<void> {
    const options = ['-D', this.data, '-p', String(this.port), '-h', '127.0.0.1']
    const until = performance.now() + START_MS_MAX
    for (;;) {
      // One that was killed keeps its memory from the next one until all its processes are gone.
      if (!this.isRunning)
        this.#server = spawnTracked(join(this.#bin, 'postgres'), options, { ...asUser(), stdio: 'ignore' })
      const asked = ['-q', '-h', '127.0.0.1', '-p', String(this.port)]
      if (spawnSync(join(this.#bin, 'pg_isready'), asked).status === 0 && this.isRunning) return
      if (performance.now() > until) throw new Error('PostgreSQL does not start.')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** 'SIGINT' stops it in order, 'SIGTERM' when all connections have ended, 'SIGQUIT' as a crash does. */
  async stop(signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#server
    if (server === undefined || !this.isRunning) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }

  /** All its processes at once, in the middle of whatever they do. */
  async kill(): Promise<void> {
    const server = this.#server!
    const ended = new Promise((resolve) => server.once('exit', resolve))
    // The children first: they would stop in order when they miss the postmaster, which is stopped so that it makes no new ones.
    server.kill('SIGSTOP')
    spawnSync('pkill', ['-KILL', '-P', String(server.pid)])
    server.kill('SIGKILL')
    await ended
  }

  /** The processes of this server whose title has `text`. */
  processes(text: string): readonly number[] {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.#server!.pid), '-f', text], { encoding: 'utf8' })
    return stdout.split('\n').filter(Boolean).map(Number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGQUIT')
    rmSync(this.folder, { recursive: true, force: true })
  }

  run(program: string, options: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(join(this.#bin, program), options, {
      ...asUser(),
      cwd: this.folder,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
    return stdout
  }

  #login(database: string): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres', '-d', database, '-v', 'ON_ERROR_STOP=1']
  }
}

function isRoot(): boolean {
  return userInfo().uid === 0
}

function ids(): { uid: number; gid: number } {
  const id = (option: string): number => Number(spawnSync('id', [option, USER], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function asUser(): { uid?: number; gid?: number } {
  return isRoot() ? ids() : {}
}

function own(folder: string): void {
  if (!isRoot()) return
  const { uid, gid } = ids()
  chownSync(folder, uid, gid)
}
