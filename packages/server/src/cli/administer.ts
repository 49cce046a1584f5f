/** Finds the server that a command administers: a running one by its URL, or one that does not run by its folder. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { ServiceError } from '@pannier/backend'
import { HttpAdministration } from './administration-by-http.ts'
import { FileAdministration } from './administration-of-file.ts'
import type { Administration } from './administration.ts'
import { withDatabase } from './database-path.ts'
import { FailedError, UsageError } from './outcome.ts'
import type { Terminal } from './terminal.ts'

export interface Where {
  readonly dir?: string
  readonly url?: URL
}

export function addWhere(command: Command): Command {
  return command
    .addOption(new Option('--dir <dir>', 'the folder of a server that is not running').conflicts('url'))
    .addOption(
      new Option('--url <url>', 'a server that is running, as http://admin:password@localhost:5984').argParser(readUrl),
    )
}

export async function administer<T>(
  { dir, url }: Where,
  terminal: Terminal,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  try {
    if (url !== undefined) return await work(new HttpAdministration(url, terminal.signal))
    if (dir === undefined) throw new UsageError('Where? Give --dir or --url.')
    return await withDatabase(dir, terminal, async (db) => {
      const administration = new FileAdministration(db, terminal.environment)
      try {
        return await work(administration)
      } finally {
        administration.close()
      }
    })
  } catch (error) {
    throw error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
  }
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It is no http: or https: URL.')
  if (url.username === '')
    throw new InvalidArgumentError(`It needs the name and password of an admin: http://NAME:PASSWORD@${url.host}.`)
  return url
}
