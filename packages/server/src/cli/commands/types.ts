import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { openBackend, SYSTEM } from '@pannier/backend'
import { addWhere, type Where } from '../administer.ts'
import { givenSettingsKey, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { SuperuserApi } from '../superuser-api.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface TypesArguments extends Where {
  readonly out?: string
  readonly client?: boolean
}

export function addTypes(program: Command, terminal: Terminal): void {
  addWhere(program.command('types'))
    .summary('make TypeScript types of the collections')
    .description(
      "Makes TypeScript types of the collections, for PocketBase's JavaScript SDK. The URL of a server that runs has a superuser's " +
        'e-mail address and password: http://root%40example.com:password@localhost:5984.',
    )
    .option('--client', "for @pannier/client in place of PocketBase's SDK")
    .option('--out <file>', 'where to write them; the standard output when left out')
    .action(async ({ out, client, ...where }: TypesArguments) => {
      const text = await typesOf(where, client === true ? 'client' : 'pocketbase', terminal)
      if (out === undefined) {
        terminal.stdout.write(text)
        return
      }
      const write = async (): Promise<void> => {
        await mkdir(dirname(out), { recursive: true })
        await writeFile(out, text)
      }
      await write().catch((error: unknown) => {
        throw new FailedError(`Can't write ${out}: ${(error as Error).message}`, { cause: error })
      })
      printLine(terminal.stderr, `${out} was written.`)
    })
}

async function typesOf({ dir, url }: Where, app: 'pocketbase' | 'client', terminal: Terminal): Promise<string> {
  if (url !== undefined) return new SuperuserApi(url, terminal.signal).text(`/api/types.d.ts?for=${app}`)
  if (dir === undefined) throw new UsageError('Where? Give --dir or --url.')
  return withDatabase(dir, terminal, async (database) => {
    const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
    try {
      return backend.definitions.typeDeclarations(SYSTEM, app)
    } finally {
      await backend.close()
    }
  })
}
