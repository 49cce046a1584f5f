import { InvalidArgumentError, Option, type Command } from 'commander'
import { addUser as addUserTo } from '../../auth/add-user.ts'
import { HttpError } from '../../http/http-error.ts'
import { askNewPassword } from '../ask-password.ts'
import { withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface AddArguments {
  readonly dir?: string
  readonly url?: URL
  readonly roles: readonly string[]
  readonly admin: boolean
}

export function addUser(program: Command, terminal: Terminal): void {
  const user = program.command('user').summary('users of a server').description('Users of a server.')
  user
    .command('add')
    .summary('make a user')
    .description('Makes a user. The password is asked for, or is the first line of the standard input.')
    .argument('<name>', 'of the user')
    .addOption(new Option('--dir <dir>', 'the folder of a server that is not running').conflicts('url'))
    .addOption(
      new Option('--url <url>', 'a server that is running, as http://admin:password@localhost:5984').argParser(readUrl),
    )
    .option('--roles <roles...>', 'that `_security` of databases may name', [])
    .addOption(new Option('--admin', 'make a server admin; with --dir').default(false).conflicts(['url', 'roles']))
    .action(async (name: string, { dir, url, roles, admin: isAdmin }: AddArguments) => {
      if (dir === undefined && url === undefined) throw new UsageError('Where to? Give --dir or --url.')
      const password = await askNewPassword(terminal, `Password of ${name}`)
      if (url !== undefined) await putUser(url, { name, password, roles }, terminal)
      else await withDatabase(dir!, (db) => addUserTo(db, { name, password, roles, isAdmin })).catch(explain)
      printLine(terminal.stderr, `${isAdmin ? 'Admin' : 'User'} ${name} made.`)
    })
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It is no http: or https: URL.')
  if (url.username === '') throw new InvalidArgumentError("It needs an admin's name and password.")
  return url
}

function explain(error: unknown): never {
  throw error instanceof HttpError ? new FailedError(error.reason) : error
}

async function putUser(
  url: URL,
  { name, password, roles }: { readonly name: string; readonly password: string; readonly roles: readonly string[] },
  { signal }: Terminal,
): Promise<void> {
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const id = encodeURIComponent(`org.couchdb.user:${name}`)
  const response = await fetch(`${url.origin}${url.pathname.replace(/\/$/, '')}/_users/${id}`, {
    method: 'PUT',
    signal,
    redirect: 'error',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    },
    body: JSON.stringify({ name, password, roles, type: 'user' }),
  }).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw new FailedError(`${url.origin} does not answer.`, { cause: error })
  })
  if (response.ok) return
  const { reason = response.statusText } = (await response.json().catch(() => ({}))) as { reason?: string }
  throw new FailedError(response.status === 409 ? `There is a user ${name} already.` : reason)
}
